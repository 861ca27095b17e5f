//! A flat cluster: hosts around a switch, which may be a backbone that all of them share.
//!
//! Each host has the same links one after the other: its loopback, its limiter, its cable. The
//! points behind the hosts are routers, which are at the switch.

#[derive(Debug)]
pub(crate) struct Flat {
    pub hosts: u32,
    /// First link of the first host.
    pub first: u32,
    pub loopback: bool,
    pub limiter: bool,
    /// True if a cable is two links.
    pub split: bool,
    pub backbone: Option<u32>,
}

impl Flat {
    pub fn local(&self, from: u32, to: u32, links: &mut Vec<u32>) {
        let [loopback, limiter, split] = [self.loopback, self.limiter, self.split].map(u32::from);
        let own = |host: u32| self.first + host * (loopback + limiter + 1 + split);
        if from == to && from < self.hosts && self.loopback {
            return links.push(own(from));
        }
        if from < self.hosts {
            let first = own(from) + loopback;
            links.extend(first..=first + limiter);
        }
        if from != to || from < self.hosts {
            links.extend(self.backbone);
        }
        if to < self.hosts {
            let first = own(to) + loopback;
            // Nothing is there twice: to itself without a loopback a host has its limiter once, and
            // so a shared cable.
            if from != to || self.split {
                links.push(first + limiter + split);
            }
            if from != to && self.limiter {
                links.push(first);
            }
        }
    }
}

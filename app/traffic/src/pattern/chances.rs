//! The chances of the destinations of a host.

use super::{Destinations, Rule, beyond};

impl Destinations {
    /// The most entries of [`Destinations::chances`] of a host.
    pub fn most_chances(&self) -> u64 {
        match &self.rule {
            Rule::Uniform | Rule::All | Rule::HotSpot { .. } | Rule::Sphere { .. } => {
                self.hosts().into()
            }
            Rule::Fixed(_) => 1,
            Rule::Drawn(drawn) => drawn.draws().into(),
            Rule::Weighted(sums) => sums.len() as u64,
        }
    }

    /// The destinations of the messages of a host that sends, with their chances. One that is there
    /// several times has their sum.
    pub fn chances(&self, host: u32) -> Vec<(u32, f64)> {
        let hosts = self.hosts();
        let alike = |count: u32, share: f64| share / f64::from(count);
        let others = |share: f64| {
            let chance = alike(hosts - 1, share);
            (0..hosts).filter(|&to| to != host).map(move |to| (to, chance))
        };
        match &self.rule {
            Rule::HotSpot { host: hot, share } if *hot != host => {
                std::iter::once((*hot, *share)).chain(others(1.0 - share)).collect()
            }
            Rule::Uniform | Rule::HotSpot { .. } => others(1.0).collect(),
            Rule::All => (0..hosts).map(|to| (to, alike(hosts, 1.0))).collect(),
            Rule::Fixed(to) => vec![(to[host as usize], 1.0)],
            Rule::Drawn(drawn) => {
                let chance = alike(drawn.draws(), 1.0);
                // The two draws of taper64 are below 9 and 128.
                let draw =
                    |number: u32, bound| if bound == 9 { number / 128 } else { number % bound };
                let to = |number| drawn.to(host, hosts, |bound| draw(number, bound));
                (0..drawn.draws()).map(|number| (to(number), chance)).collect()
            }
            Rule::Weighted(sums) => {
                let all = sums.last().map_or(0, |last| last.1) as f64;
                let before = std::iter::once(0).chain(sums.iter().map(|entry| entry.1));
                let weights = sums.iter().zip(before);
                weights.map(|(&(to, sum), before)| (to, (sum - before) as f64 / all)).collect()
            }
            Rule::Sphere { near, share } => {
                let near = &near[host as usize];
                let far = hosts - 1 - near.len() as u32;
                let share = if far == 0 { 1.0 } else { *share };
                let inside = near.iter().map(|&to| (to, alike(near.len() as u32, share)));
                let beyond = (0..far).map(|at| (beyond(near, host, at), alike(far, 1.0 - share)));
                inside.chain(beyond).collect()
            }
        }
    }
}

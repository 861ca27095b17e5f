//! A fat tree (parallel-ports generalized fat tree, Zahavi, Fat-tree routing and node ordering
//! providing contention free traffic for MPI global collectives, 2012): d-mod-k up, and down by
//! label.
//!
//! A node of level l has a label with a digit per level: digits below l count parents, the others
//! children. Its position is its label read as a number, the first digit counting least. Cables are
//! numbered by level of the lower end, its position, the digit of the upper end, and then among
//! parallel ones.

use smallvec::SmallVec;

use super::{Cables, Leaves};

#[derive(Debug)]
pub(crate) struct FatTree {
    /// Children of a switch, by level from the hosts.
    pub children: Vec<u32>,
    /// Parents of a node of the level below.
    pub parents: Vec<u32>,
    /// Parallel cables between a node and each parent.
    pub parallel: Vec<u32>,
    /// First cable of each level.
    pub first_cable: Vec<u32>,
    /// First switch of each level, level 1 first, among all switches.
    pub first_switch: Vec<u32>,
    pub hosts: u32,
    pub cables: Cables,
    pub leaves: Leaves,
    /// The number of hosts of the platform's fat trees before this one: SimGrid goes on counting.
    pub offset: u32,
}

type Label = SmallVec<[u32; 8]>;

impl FatTree {
    pub fn local(&self, from: u32, to: u32, links: &mut Vec<u32>) {
        if from == to
            && let Some(first) = self.leaves.loopback
        {
            return links.push(first + from);
        }
        let (mut here, target) = (self.label(from), self.label(to));
        let differ = (0..target.len()).rev().find(|&digit| here[digit] != target[digit]);
        let top = differ.map_or(1, |digit| digit + 1);
        let [source, mut port] = [from, to].map(|host| self.offset + host);
        for level in 0..top {
            self.limit(level, &here, links);
            let (parents, parallel) = (self.parents[level], self.parallel[level]);
            let chosen = port % (parents * parallel);
            links.push(self.cables.up(self.cable(
                level,
                &here,
                chosen % parents,
                chosen / parents,
            )));
            here[level] = chosen % parents;
            port /= parents;
        }
        // A switch looks for its child among its ports from that of the source's cable on. Having
        // found it, SimGrid looks on with the ports of the child behind the number of this one, and
        // only from there if nothing is found.
        let mut after = None;
        for level in (0..top).rev() {
            let (children, digit) = (self.children[level], target[level]);
            let on = after.map(|port| port + (digit + children - port % children) % children);
            let port = on.filter(|&port| port < children * self.parallel[level]);
            let port = port.unwrap_or(source % self.parallel[level] * children + digit);
            after = Some(port + 1);
            let above = std::mem::replace(&mut here[level], digit);
            links.push(self.cables.down(self.cable(level, &here, above, port / children)));
            let below = std::mem::replace(&mut here[level], above);
            self.limit(level + 1, &here, links);
            here[level] = below;
        }
        self.limit(0, &here, links);
    }

    fn label(&self, host: u32) -> Label {
        let mut rest = host;
        let digit = |&size: &u32| {
            let digit = rest % size;
            rest /= size;
            digit
        };
        self.children.iter().map(digit).collect()
    }

    /// The position of a node in its level.
    fn position(&self, level: usize, label: &Label) -> u32 {
        let mut position = 0;
        for digit in (0..label.len()).rev() {
            let size = if digit < level { self.parents[digit] } else { self.children[digit] };
            position = position * size + label[digit];
        }
        position
    }

    /// The cable of a node to the parent with a digit.
    fn cable(&self, level: usize, label: &Label, above: u32, parallel: u32) -> u32 {
        let port = above * self.parallel[level] + parallel;
        let ports = self.parents[level] * self.parallel[level];
        self.first_cable[level] + self.position(level, label) * ports + port
    }

    fn limit(&self, level: usize, label: &Label, links: &mut Vec<u32>) {
        if self.leaves.limiter.is_some() {
            let before =
                level.checked_sub(1).map_or(0, |above| self.hosts + self.first_switch[above]);
            self.leaves.limit(before + self.position(level, label), links);
        }
    }
}

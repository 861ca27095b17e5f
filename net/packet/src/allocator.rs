//! Allocators: which requests of several inputs for several outputs are granted at once, each input
//! and each output at most once.
//!
//! Sources: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, chapter
//! 19, for separable allocators; `McKeown`, "The iSLIP scheduling algorithm for input-queued
//! switches", 1999.

use crate::arbiter::{Arbiters, Arbitration, Contender, Draw};

/// The rule of an allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Every input chooses one of its requests, then every output one of those that chose it.
    InputFirst,
    /// Every output chooses one of its requests, then every input one of those that chose it.
    OutputFirst,
    /// Like [`Allocation::OutputFirst`], but arbiters move on only with the grants of the first
    /// round.
    Islip,
}

/// A request of an input for an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub input: u32,
    pub output: u32,
    /// The time at which its packet came.
    pub since: u64,
    /// The virtual channel of the input that asks, for the switch.
    pub channel: u32,
}

/// One of the two sides of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

/// The request that the arbiter of an input or output prefers so far.
#[derive(Clone, Copy, Debug, Default)]
struct Choice {
    /// The choosing of which it is the result, among all that the allocator has had.
    stamp: u32,
    /// The index of the request.
    request: u32,
}

/// An allocator.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    rule: Allocation,
    rounds: u32,
    inputs: Arbiters,
    outputs: Arbiters,
    /// By input and by output, the choice of its arbiter.
    input_choices: Box<[Choice]>,
    output_choices: Box<[Choice]>,
    /// The number of choosings that there have been.
    stamp: u32,
    /// The ranks of the requests in the last choosing, by index.
    ranks: Vec<(u64, u32)>,
    /// The requests that are open, and those that the first side has chosen, by index.
    open: Vec<u32>,
    chosen: Vec<u32>,
    /// The requests that are granted, by index.
    granted: Vec<u32>,
}

impl Request {
    const fn side(&self, side: Side) -> u32 {
        match side {
            Side::Input => self.input,
            Side::Output => self.output,
        }
    }
}

impl Allocator {
    pub fn new(
        rule: Allocation,
        arbitration: Arbitration,
        rounds: u32,
        inputs: usize,
        outputs: usize,
    ) -> Self {
        let none = Choice::default();
        Self {
            rule,
            rounds,
            inputs: Arbiters::new(arbitration, inputs, outputs),
            outputs: Arbiters::new(arbitration, outputs, inputs),
            input_choices: vec![none; inputs].into(),
            output_choices: vec![none; outputs].into(),
            stamp: 0,
            ranks: Vec::new(),
            open: Vec::new(),
            chosen: Vec::new(),
            granted: Vec::new(),
        }
    }

    /// Keeps of the requests those that are granted. They come and stay in the order of their
    /// inputs, and no two are for the same input and output.
    #[inline]
    pub fn allocate(&mut self, requests: &mut Vec<Request>, draw: &Draw) {
        if let [request] = requests[..] {
            self.serve(&request);
            return;
        }
        self.match_all(requests, draw);
    }

    fn match_all(&mut self, requests: &mut Vec<Request>, draw: &Draw) {
        let (first, second) = match self.rule {
            Allocation::InputFirst => (Side::Input, Side::Output),
            Allocation::OutputFirst | Allocation::Islip => (Side::Output, Side::Input),
        };
        let mut open = std::mem::take(&mut self.open);
        let mut chosen = std::mem::take(&mut self.chosen);
        open.clear();
        open.extend(0..requests.len() as u32);
        self.granted.clear();
        for round in 0..self.rounds {
            chosen.clear();
            self.choose(requests, first, &open, &mut chosen, draw);
            let before = self.granted.len();
            let mut granted = std::mem::take(&mut self.granted);
            self.choose(requests, second, &chosen, &mut granted, draw);
            self.granted = granted;
            if self.granted.len() == before {
                break;
            }
            if round == 0 || self.rule != Allocation::Islip {
                for index in before..self.granted.len() {
                    self.serve(&requests[self.granted[index] as usize]);
                }
            }
            if round + 1 < self.rounds {
                let taken = |request: &Request| {
                    let mut granted = self.granted.iter().map(|&index| &requests[index as usize]);
                    let shares = |grant: &Request| {
                        grant.input == request.input || grant.output == request.output
                    };
                    granted.any(shares)
                };
                open.retain(|&index| !taken(&requests[index as usize]));
            }
        }
        (self.open, self.chosen) = (open, chosen);
        self.granted.sort_unstable();
        for (place, &index) in self.granted.iter().enumerate() {
            requests[place] = requests[index as usize];
        }
        requests.truncate(self.granted.len());
    }

    /// Returns a number that no choice carries.
    #[inline]
    fn next_stamp(&mut self) -> u32 {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.input_choices.fill(Choice::default());
            self.output_choices.fill(Choice::default());
            self.stamp = 1;
        }
        self.stamp
    }

    #[inline]
    fn serve(&mut self, request: &Request) {
        self.inputs.serve(request.input as usize, request.output);
        self.outputs.serve(request.output as usize, request.input);
    }

    /// Lets every arbiter of a side choose among the requests in `from`, and adds their choices to
    /// `to`.
    #[inline]
    fn choose(
        &mut self,
        requests: &[Request],
        side: Side,
        from: &[u32],
        to: &mut Vec<u32>,
        draw: &Draw,
    ) {
        let stamp = self.next_stamp();
        self.ranks.resize(requests.len(), (0, 0));
        let ranks = &mut self.ranks;
        let (arbiters, choices) = match side {
            Side::Input => (&self.inputs, &mut self.input_choices),
            Side::Output => (&self.outputs, &mut self.output_choices),
        };
        let other = if side == Side::Input { Side::Output } else { Side::Input };
        for &index in from {
            let request = &requests[index as usize];
            let arbiter = request.side(side);
            let contender = Contender { number: request.side(other), since: request.since };
            let rank = arbiters.rank(arbiter as usize, contender, draw);
            ranks[index as usize] = rank;
            let choice = &mut choices[arbiter as usize];
            if choice.stamp != stamp || rank < ranks[choice.request as usize] {
                *choice = Choice { stamp, request: index };
            }
        }
        let is_chosen = |&index: &u32| {
            let arbiter = requests[index as usize].side(side);
            choices[arbiter as usize].request == index
        };
        to.extend(from.iter().copied().filter(is_chosen));
    }
}

#[cfg(test)]
mod tests {
    use kernel::Random;
    use units::DeviceId;

    use super::*;

    fn request((input, output): (u32, u32)) -> Request {
        Request { input, output, since: 0, channel: 0 }
    }

    /// The grants of some cycles in turn with the same requests.
    fn grants(
        rule: Allocation,
        rounds: u32,
        wanted: &[(u32, u32)],
        cycles: usize,
    ) -> Vec<Vec<(u32, u32)>> {
        let mut allocator = Allocator::new(rule, Arbitration::RoundRobin, rounds, 3, 3);
        let draw = Draw { random: Random::new(0, 0), device: DeviceId(0), now: 0 };
        let cycle = |_| {
            let mut requests: Vec<Request> = wanted.iter().copied().map(request).collect();
            allocator.allocate(&mut requests, &draw);
            requests.iter().map(|request| (request.input, request.output)).collect()
        };
        (0..cycles).map(cycle).collect()
    }

    /// Inputs 0 and 1 want outputs 0 and 1. All arbiters begin at 0. Input first: both choose
    /// output 0, which takes input 0; output 1 stays empty until a second round. Then the arbiters
    /// of the two have parted, and both are served in every cycle.
    #[test]
    fn input_first_parts_after_one_conflict() {
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let expected = [vec![(0, 0)], vec![(0, 1), (1, 0)], vec![(0, 0), (1, 1)]];
        assert_eq!(grants(Allocation::InputFirst, 1, &all, 3), expected);
        let expected = [vec![(0, 0), (1, 1)], vec![(0, 1), (1, 0)]];
        assert_eq!(grants(Allocation::InputFirst, 2, &all, 2), expected);
    }

    /// Outputs 0 and 1 both choose input 0, which takes output 0. After that output 0 prefers input
    /// 1, and output 1 still input 0.
    #[test]
    fn output_first_parts_after_one_conflict() {
        let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let expected = [vec![(0, 0)], vec![(0, 1), (1, 0)], vec![(0, 0), (1, 1)]];
        assert_eq!(grants(Allocation::OutputFirst, 1, &all, 3), expected);
    }

    /// Input 0 wants outputs 0 and 1, inputs 1 and 2 want output 1. First both outputs choose input
    /// 0, which takes output 0; in the second round output 1 takes input 1. The arbiter of iSLIP's
    /// output 1 stays at input 0 then, and chooses it again, which prefers output 1 now. Otherwise
    /// output 1 has moved to input 2.
    #[test]
    fn only_first_grants_move_islip() {
        let all = [(0, 0), (0, 1), (1, 1), (2, 1)];
        let expected = [vec![(0, 0), (1, 1)], vec![(0, 1)]];
        assert_eq!(grants(Allocation::Islip, 2, &all, 2), expected);
        let expected = [vec![(0, 0), (1, 1)], vec![(0, 0), (2, 1)]];
        assert_eq!(grants(Allocation::OutputFirst, 2, &all, 2), expected);
    }

    /// Every input wants every output: a maximal matching serves all three.
    #[test]
    fn rounds_make_the_matching_maximal() {
        let all: Vec<_> =
            (0..3).flat_map(|input| (0..3).map(move |output| (input, output))).collect();
        for rule in [Allocation::InputFirst, Allocation::OutputFirst, Allocation::Islip] {
            for cycle in grants(rule, 3, &all, 5) {
                assert_eq!(cycle.len(), 3, "{rule:?}");
            }
        }
    }
}

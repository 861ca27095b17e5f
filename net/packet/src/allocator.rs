//! Allocators: which requests of several inputs for several outputs are granted at once, each input
//! and each output at most once.
//!
//! Sources: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, chapter
//! 19, for separable allocators; `McKeown`, "The iSLIP scheduling algorithm for input-queued
//! switches", 1999; Tamir and Chi, "Symmetric crossbar arbiters for VLSI communication switches",
//! 1993, for the wavefront.

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
    /// Requests are granted diagonal by diagonal of the matrix of inputs and outputs, from one on
    /// that moves on with each allocation: no other request can be granted besides then. It has no
    /// arbiters and needs one round.
    Wavefront,
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

/// The state of an input or output during an allocation. Its stamps name the choosing or
/// allocation, among all that the allocator has had, to which they belong.
#[derive(Clone, Copy, Debug, Default)]
struct Choice {
    /// The stamp of the choosing of which `request` is the result.
    stamp: u32,
    /// The index of the request that the arbiter prefers so far.
    request: u32,
    /// The stamp of the allocation in which it has a grant.
    granted: u32,
}

/// An allocator.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    rule: Allocation,
    rounds: u32,
    inputs: Arbiters,
    outputs: Arbiters,
    /// The diagonal at which the wavefront begins.
    diagonal: u32,
}

/// Working memory of an allocation, which allocators share.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// By input and by output.
    inputs: Vec<Choice>,
    outputs: Vec<Choice>,
    /// The stamp that was given last.
    stamp: u32,
    /// The ranks of the requests in the last choosing, by index.
    ranks: Vec<(u64, u32)>,
    /// The requests that are granted, by index.
    granted: Vec<bool>,
}

impl Request {
    const fn side(&self, side: Side) -> u32 {
        match side {
            Side::Input => self.input,
            Side::Output => self.output,
        }
    }
}

impl Workspace {
    /// Makes room for an allocator.
    #[inline]
    fn fit(&mut self, allocator: &Allocator) {
        let (inputs, outputs) = (allocator.outputs.contenders(), allocator.inputs.contenders());
        if self.inputs.len() < inputs || self.outputs.len() < outputs {
            self.inputs.resize(self.inputs.len().max(inputs), Choice::default());
            self.outputs.resize(self.outputs.len().max(outputs), Choice::default());
        }
    }

    /// Returns true if the input or the output of a request has a grant in an allocation.
    #[inline]
    fn is_granted(&self, request: &Request, allocation: u32) -> bool {
        self.inputs[request.input as usize].granted == allocation
            || self.outputs[request.output as usize].granted == allocation
    }

    #[inline]
    fn grant(&mut self, index: usize, request: &Request, allocation: u32) {
        self.granted[index] = true;
        self.inputs[request.input as usize].granted = allocation;
        self.outputs[request.output as usize].granted = allocation;
    }

    /// Returns true if a request is the choice of its arbiter on a side in the choosing of a stamp.
    #[inline]
    fn is_chosen(&self, side: Side, stamp: u32, index: u32, request: &Request) -> bool {
        let choice = match side {
            Side::Input => self.inputs[request.input as usize],
            Side::Output => self.outputs[request.output as usize],
        };
        choice.stamp == stamp && choice.request == index
    }

    /// Returns a number that no choice carries.
    #[inline]
    fn next_stamp(&mut self) -> u32 {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.inputs.fill(Choice::default());
            self.outputs.fill(Choice::default());
            self.stamp = 1;
        }
        self.stamp
    }

    /// Returns true if no two inputs ask for the same output. Then the second side has nothing to
    /// choose, and the first round grants every input a request.
    #[inline]
    fn are_apart(&mut self, requests: &[Request]) -> bool {
        if self.outputs.len() <= 64 {
            let mut asked = 0_u64;
            return requests.iter().all(|request| {
                let output = 1 << request.output;
                let is_first = asked & output == 0;
                asked |= output;
                is_first
            });
        }
        let stamp = self.next_stamp();
        requests.iter().all(|request| {
            let choice = &mut self.outputs[request.output as usize];
            std::mem::replace(&mut choice.stamp, stamp) != stamp
        })
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
        Self {
            rule,
            rounds,
            inputs: Arbiters::new(arbitration, inputs, outputs),
            outputs: Arbiters::new(arbitration, outputs, inputs),
            diagonal: 0,
        }
    }

    /// Prefetches what an allocation reads.
    #[inline]
    pub fn prefetch(&self) {
        self.inputs.prefetch();
        self.outputs.prefetch();
    }

    /// Keeps of the requests those that are granted. They come and stay in the order of their
    /// inputs, and no two are for the same input and output.
    #[inline]
    pub fn allocate(&mut self, requests: &mut Vec<Request>, work: &mut Workspace, draw: &Draw) {
        if let [request] = requests[..] {
            self.serve(&request);
            return;
        }
        work.fit(self);
        if self.rule != Allocation::Wavefront && work.are_apart(requests) {
            return self.grant_apart(requests, draw);
        }
        let allocation = work.next_stamp();
        work.granted.clear();
        work.granted.resize(requests.len(), false);
        match self.rule {
            Allocation::InputFirst => {
                self.separable(requests, (Side::Input, Side::Output), work, (allocation, draw));
            }
            Allocation::OutputFirst | Allocation::Islip => {
                self.separable(requests, (Side::Output, Side::Input), work, (allocation, draw));
            }
            Allocation::Wavefront => self.wavefront(requests, work, allocation),
        }
        let mut granted = work.granted.iter();
        requests.retain(|_| granted.next() == Some(&true));
    }

    /// Grants each input what its arbiter chooses, where no two ask for the same output.
    #[inline]
    fn grant_apart(&mut self, requests: &mut Vec<Request>, draw: &Draw) {
        let rank = |allocator: &Self, request: &Request| {
            let contender = Contender { number: request.output, since: request.since };
            allocator.inputs.rank(request.input as usize, contender, draw)
        };
        let (mut kept, mut next) = (0, 0);
        while let Some(&first) = requests.get(next) {
            let (mut best, mut least) = (first, None);
            next += 1;
            while let Some(&other) = requests.get(next).filter(|other| other.input == first.input) {
                let (this, other_rank) =
                    (least.unwrap_or_else(|| rank(self, &first)), rank(self, &other));
                (best, least) =
                    if other_rank < this { (other, Some(other_rank)) } else { (best, Some(this)) };
                next += 1;
            }
            self.serve(&best);
            requests[kept] = best;
            kept += 1;
        }
        requests.truncate(kept);
    }

    /// Lets the arbiters of one side choose, and those of the other among their choices, in each
    /// round.
    fn separable(
        &mut self,
        requests: &[Request],
        (first, second): (Side, Side),
        work: &mut Workspace,
        (allocation, draw): (u32, &Draw),
    ) {
        for round in 0..self.rounds {
            let chosen = self.choose(requests, first, work, draw, |work, _, request| {
                round == 0 || !work.is_granted(request, allocation)
            });
            let matched = self.choose(requests, second, work, draw, |work, index, request| {
                work.is_chosen(first, chosen, index, request)
            });
            let mut any = false;
            for (request, index) in requests.iter().zip(0..) {
                if work.is_chosen(second, matched, index, request) {
                    any = true;
                    work.grant(index as usize, request, allocation);
                    if round == 0 || self.rule != Allocation::Islip {
                        self.serve(request);
                    }
                }
            }
            if !any {
                break;
            }
        }
    }

    /// Grants requests diagonal by diagonal.
    fn wavefront(&mut self, requests: &[Request], work: &mut Workspace, allocation: u32) {
        let size = self.inputs.contenders().max(self.outputs.contenders()) as u32;
        let first = self.diagonal;
        self.diagonal = (first + 1) % size.max(1);
        work.ranks.clear();
        let diagonal = |request: &Request| (request.input + request.output + size - first) % size;
        let all = requests.iter().zip(0..);
        work.ranks.extend(all.map(|(request, index)| (diagonal(request).into(), index)));
        work.ranks.sort_unstable();
        for place in 0..work.ranks.len() {
            let index = work.ranks[place].1 as usize;
            if !work.is_granted(&requests[index], allocation) {
                work.grant(index, &requests[index], allocation);
            }
        }
    }

    #[inline]
    fn serve(&mut self, request: &Request) {
        self.inputs.serve(request.input as usize, request.output);
        self.outputs.serve(request.output as usize, request.input);
    }

    /// Lets every arbiter of a side choose among those requests of which `among` is true. Returns
    /// the stamp that their choices carry.
    #[inline]
    fn choose(
        &self,
        requests: &[Request],
        side: Side,
        work: &mut Workspace,
        draw: &Draw,
        among: impl Fn(&Workspace, u32, &Request) -> bool,
    ) -> u32 {
        let stamp = work.next_stamp();
        let other = if side == Side::Input { Side::Output } else { Side::Input };
        let arbiters = if side == Side::Input { &self.inputs } else { &self.outputs };
        work.ranks.resize(requests.len(), (0, 0));
        for (request, index) in requests.iter().zip(0..) {
            if !among(work, index, request) {
                continue;
            }
            let arbiter = request.side(side) as usize;
            let contender = Contender { number: request.side(other), since: request.since };
            let rank = arbiters.rank(arbiter, contender, draw);
            let choices = match side {
                Side::Input => &mut work.inputs,
                Side::Output => &mut work.outputs,
            };
            let choice = &mut choices[arbiter];
            work.ranks[index as usize] = rank;
            if choice.stamp != stamp || rank < work.ranks[choice.request as usize] {
                (choice.stamp, choice.request) = (stamp, index);
            }
        }
        stamp
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
            allocator.allocate(&mut requests, &mut Workspace::default(), &draw);
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

    /// All nine requests of three inputs and outputs: the wavefront grants the diagonal in which
    /// input and output sum to 0, 1 and 2 modulo 3 in turn. Without the requests of that diagonal
    /// the next one is served.
    #[test]
    fn wavefront_moves_on_by_a_diagonal() {
        let all: Vec<_> =
            (0..3).flat_map(|input| (0..3).map(move |output| (input, output))).collect();
        let expected = [
            vec![(0, 0), (1, 2), (2, 1)],
            vec![(0, 1), (1, 0), (2, 2)],
            vec![(0, 2), (1, 1), (2, 0)],
        ];
        assert_eq!(grants(Allocation::Wavefront, 1, &all, 3), expected);
        let some = [(0, 1), (1, 0), (1, 1), (2, 0)];
        assert_eq!(grants(Allocation::Wavefront, 1, &some, 1), [vec![(0, 1), (1, 0)]]);
    }

    /// Every input wants every output: a maximal matching serves all three.
    #[test]
    fn rounds_make_the_matching_maximal() {
        let all: Vec<_> =
            (0..3).flat_map(|input| (0..3).map(move |output| (input, output))).collect();
        let rules = [
            Allocation::InputFirst,
            Allocation::OutputFirst,
            Allocation::Islip,
            Allocation::Wavefront,
        ];
        for rule in rules {
            for cycle in grants(rule, 3, &all, 5) {
                assert_eq!(cycle.len(), 3, "{rule:?}");
            }
        }
    }
}

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

/// The state of a request during an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Chosen by the side that chooses first, in this round.
    Chosen,
    /// Chosen by both sides, in this round.
    Matched,
    Granted,
    /// Its input or its output has another grant.
    Lost,
}

/// One of the two sides of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

/// An allocator.
#[derive(Clone, Debug)]
pub(crate) struct Allocator {
    rule: Allocation,
    rounds: u32,
    inputs: Arbiters,
    outputs: Arbiters,
    /// The states of the requests.
    states: Vec<State>,
    /// The requests by output.
    by_output: Vec<u32>,
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
        Self {
            rule,
            rounds,
            inputs: Arbiters::new(arbitration, inputs, outputs),
            outputs: Arbiters::new(arbitration, outputs, inputs),
            states: Vec::new(),
            by_output: Vec::new(),
        }
    }

    /// Keeps of the requests those that are granted. They come and stay in the order of their
    /// inputs, and no two are for the same input and output.
    pub fn allocate(&mut self, requests: &mut Vec<Request>, draw: &Draw) {
        if let [request] = requests[..] {
            self.serve(&request);
            return;
        }
        self.states.clear();
        self.states.resize(requests.len(), State::Open);
        self.by_output.clear();
        self.by_output.extend(0..requests.len() as u32);
        self.by_output.sort_unstable_by_key(|&index| (requests[index as usize].output, index));
        let (first, second) = match self.rule {
            Allocation::InputFirst => (Side::Input, Side::Output),
            Allocation::OutputFirst | Allocation::Islip => (Side::Output, Side::Input),
        };
        for round in 0..self.rounds {
            self.choose(requests, first, (State::Open, State::Chosen), draw);
            self.choose(requests, second, (State::Chosen, State::Matched), draw);
            if !self.close(requests, round == 0 || self.rule != Allocation::Islip) {
                break;
            }
        }
        let mut states = self.states.iter();
        requests.retain(|_| states.next() == Some(&State::Granted));
    }

    fn serve(&mut self, request: &Request) {
        self.inputs.serve(request.input as usize, request.output);
        self.outputs.serve(request.output as usize, request.input);
    }

    /// Lets every arbiter of a side choose among its requests in state `from`, which then is in
    /// state `to`.
    fn choose(
        &mut self,
        requests: &[Request],
        side: Side,
        (from, to): (State, State),
        draw: &Draw,
    ) {
        let count = requests.len();
        let mut begin = 0;
        while begin < count {
            let at = |place: usize| match side {
                Side::Input => place,
                Side::Output => self.by_output[place] as usize,
            };
            let arbiter = requests[at(begin)].side(side);
            let mut end = begin + 1;
            while end < count && requests[at(end)].side(side) == arbiter {
                end += 1;
            }
            let other = if side == Side::Input { Side::Output } else { Side::Input };
            let open = (begin..end).map(at).filter(|&index| self.states[index] == from);
            let contender = |index: usize| {
                let request = &requests[index];
                Contender { number: request.side(other), since: request.since }
            };
            let arbiters = if side == Side::Input { &self.inputs } else { &self.outputs };
            let chosen = arbiters.choose(arbiter as usize, open.map(contender), draw);
            let found = chosen.and_then(|number| {
                (begin..end).map(at).find(|&index| requests[index].side(other) == number)
            });
            if let Some(index) = found {
                self.states[index] = to;
            }
            begin = end;
        }
    }

    /// Ends a round: grants become final, and what shares an input or an output with one is out.
    /// Returns false if nothing was granted.
    fn close(&mut self, requests: &[Request], moves: bool) -> bool {
        let mut granted = false;
        for index in 0..requests.len() {
            if self.states[index] != State::Matched {
                continue;
            }
            granted = true;
            let grant = requests[index];
            if moves {
                self.serve(&grant);
            }
            for (state, request) in self.states.iter_mut().zip(requests) {
                if request.input == grant.input || request.output == grant.output {
                    *state = State::Lost;
                }
            }
            self.states[index] = State::Granted;
        }
        for state in &mut self.states {
            if *state == State::Chosen {
                *state = State::Open;
            }
        }
        granted
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

//! A program read out into plain lists, with the checks that every program must pass.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use schedule::pattern::{NAMES, Options, Pattern};
use schedule::{Edge, Kind, Op, Program};

/// The operations of every rank, and for each the operations that it requires, ascending.
pub struct Graph {
    pub ops: Vec<Vec<Op>>,
    pub requires: Vec<Vec<Vec<u32>>>,
}

/// Decides which rank goes on if several can. The operations of one rank start as they become
/// ready.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    LowestRank,
    HighestRank,
    /// One operation each, in turns.
    Turns,
}

impl Graph {
    /// Reads a program, and checks that its answers about dependencies agree with each other.
    pub fn read(program: &impl Program) -> Self {
        let ranks = program.ranks();
        let ops =
            (0..ranks).map(|rank| (0..program.ops(rank)).map(|i| program.op(rank, i)).collect());
        let graph = Self {
            ops: ops.collect(),
            requires: (0..ranks).map(|rank| requirements(program, rank)).collect(),
        };
        for rank in 0..ranks {
            graph.check_ops(ranks, rank);
            graph.check_roots(program, rank);
        }
        graph
    }

    pub fn op(&self, rank: u32, index: u32) -> Op {
        self.ops[rank as usize][index as usize]
    }

    fn check_ops(&self, ranks: u32, rank: u32) {
        for op in &self.ops[rank as usize] {
            let expected = Op {
                kind: op.kind,
                peer: if op.kind == Kind::Calc { 0 } else { op.peer },
                tag: 0,
                size: op.size,
                cpu: 0,
                nic: 0,
            };
            assert_eq!(*op, expected);
            assert!(op.peer < ranks, "rank {rank}: {op:?}");
        }
    }

    /// Roots are the operations that require nothing; those of one kind are listed ascending.
    fn check_roots(&self, program: &impl Program, rank: u32) {
        let mut groups: BTreeMap<Kind, Vec<u32>> = BTreeMap::new();
        program.roots(rank, &mut |run| {
            assert!(run.count > 0 && run.stride > 0, "{run:?}");
            let kind = program.op(rank, run.first).kind;
            let group = groups.entry(kind).or_default();
            for index in (0..run.count).map(|i| run.first + i * run.stride) {
                assert_eq!(program.op(rank, index).kind, kind, "rank {rank}: {run:?}");
                assert!(group.last().is_none_or(|&last| last < index), "{run:?}");
                group.push(index);
            }
        });
        let mut roots: Vec<u32> = groups.into_values().flatten().collect();
        roots.sort_unstable();
        let requires = &self.requires[rank as usize];
        let expected = (0..).zip(requires).filter(|(_, list)| list.is_empty());
        let expected: Vec<u32> = expected.map(|(index, _)| index).collect();
        assert_eq!(roots, expected, "roots of rank {rank}");
    }

    /// The indices of the operations of one kind by the channel (source, destination) they use.
    pub fn channels(&self, kind: Kind) -> BTreeMap<(u32, u32), Vec<u32>> {
        let mut channels: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (rank, ops) in (0..).zip(&self.ops) {
            for (index, op) in (0..).zip(ops).filter(|(_, op)| op.kind == kind) {
                let channel = match kind {
                    Kind::Send => (rank, op.peer),
                    _ => (op.peer, rank),
                };
                channels.entry(channel).or_default().push(index);
            }
        }
        channels
    }

    /// The k-th send of a channel has a k-th receive of the same size.
    pub fn check_channels(&self) {
        let (sends, recvs) = (self.channels(Kind::Send), self.channels(Kind::Recv));
        let sizes = |rank: u32, indices: &[u32]| -> Vec<u64> {
            let size = |&i: &u32| self.ops[rank as usize][i as usize].size;
            indices.iter().map(size).collect()
        };
        let sent: Vec<_> =
            sends.iter().map(|(channel, indices)| (channel, sizes(channel.0, indices))).collect();
        let received: Vec<_> =
            recvs.iter().map(|(channel, indices)| (channel, sizes(channel.1, indices))).collect();
        assert_eq!(sent, received);
    }

    pub fn messages(&self) -> u64 {
        self.sends().count() as u64
    }

    pub fn bytes(&self) -> u64 {
        self.sends().map(|op| op.size).sum()
    }

    fn sends(&self) -> impl Iterator<Item = &Op> {
        self.ops.iter().flatten().filter(|op| op.kind == Kind::Send)
    }

    /// One line per rank, as `s1:8` (send 8 bytes to rank 1), `r2:8` (receive), `c5` (compute 5),
    /// with `<0,3` after an operation that requires operations 0 and 3.
    pub fn text(&self, rank: u32) -> String {
        let ops = self.ops[rank as usize].iter();
        let words = ops.zip(&self.requires[rank as usize]).map(|(op, requires)| {
            let requires: Vec<String> = requires.iter().map(ToString::to_string).collect();
            let comma = if requires.is_empty() { "" } else { "<" };
            let requires = format!("{comma}{}", requires.join(","));
            match op.kind {
                Kind::Send => format!("s{}:{}{requires}", op.peer, op.size),
                Kind::Recv => format!("r{}:{}{requires}", op.peer, op.size),
                Kind::Calc => format!("c{}{requires}", op.size),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The requirements of each operation of a rank, from what each says depends on it.
fn requirements(program: &impl Program, rank: u32) -> Vec<Vec<u32>> {
    let count = program.ops(rank);
    let mut requires = vec![Vec::new(); count as usize];
    for index in 0..count {
        program.dependents(rank, index, Edge::Started, &mut |i| panic!("{index} starts {i}"));
        program.dependents(rank, index, Edge::Done, &mut |i| {
            requires[i as usize].push(index);
        });
    }
    for (index, list) in (0..).zip(&requires) {
        assert_eq!(program.dependencies(rank, index), list.len() as u32, "{rank}: {index}");
        assert!(list.is_sorted_by(|a, b| a < b), "rank {rank}, {index} requires {list:?}");
    }
    requires
}

/// Runs a program without time and checks that every operation completes, that messages match
/// receives of their size, and that [`Program::claim`] finds the same receives.
pub struct Runner<'a, P> {
    program: &'a P,
    graph: &'a Graph,
    missing: Vec<Vec<usize>>,
    ready: BTreeMap<u32, VecDeque<u32>>,
    sent: BTreeMap<(u32, u32), VecDeque<u32>>,
    posted: BTreeMap<(u32, u32), VecDeque<u32>>,
    memory: Vec<u64>,
    done: BTreeSet<(u32, u32)>,
    /// A send completes only when it is matched.
    synchronous: bool,
    /// A message must have the size of the receive that it matches.
    sized: bool,
}

impl<'a, P: Program> Runner<'a, P> {
    pub fn new(program: &'a P, graph: &'a Graph, synchronous: bool, sized: bool) -> Self {
        let counts = |rank: &Vec<Vec<u32>>| rank.iter().map(Vec::len).collect();
        let mut runner = Self {
            program,
            graph,
            missing: graph.requires.iter().map(counts).collect(),
            ready: BTreeMap::new(),
            sent: BTreeMap::new(),
            posted: BTreeMap::new(),
            memory: vec![0; graph.ops.len()],
            done: BTreeSet::new(),
            synchronous,
            sized,
        };
        // Receives that wait for nothing are posted before the first message.
        for (rank, requires) in (0..).zip(&graph.requires) {
            for (index, _) in (0..).zip(requires).filter(|(_, list)| list.is_empty()) {
                if graph.op(rank, index).kind == Kind::Recv {
                    runner.start(rank, index);
                } else {
                    runner.ready.entry(rank).or_default().push_back(index);
                }
            }
        }
        runner
    }

    pub fn run(mut self, order: Order) {
        let mut last = 0;
        loop {
            self.ready.retain(|_, indices| !indices.is_empty());
            let rank = match order {
                Order::LowestRank => self.ready.keys().next(),
                Order::HighestRank => self.ready.keys().next_back(),
                Order::Turns => {
                    let mut after = self.ready.range(last + 1..).map(|(rank, _)| rank);
                    after.next().or(self.ready.keys().next())
                }
            };
            let Some(&rank) = rank else { break };
            last = rank;
            let index = self.ready.get_mut(&rank).and_then(VecDeque::pop_front);
            self.start(rank, index.unwrap());
        }
        let total: usize = self.graph.ops.iter().map(Vec::len).sum();
        assert_eq!(self.done.len(), total, "stuck, {order:?}");
    }

    fn start(&mut self, rank: u32, index: u32) {
        let op = self.graph.op(rank, index);
        match op.kind {
            Kind::Calc => self.complete(rank, index),
            Kind::Recv => {
                let channel = (op.peer, rank);
                self.posted.entry(channel).or_default().push_back(index);
                self.matching(channel);
            }
            Kind::Send => {
                let channel = (rank, op.peer);
                self.sent.entry(channel).or_default().push_back(index);
                if !self.synchronous {
                    self.complete(rank, index);
                }
                self.matching(channel);
            }
        }
    }

    fn matching(&mut self, channel: (u32, u32)) {
        let (source, destination) = channel;
        let (Some(sent), Some(posted)) =
            (self.sent.get_mut(&channel), self.posted.get_mut(&channel))
        else {
            return;
        };
        if sent.is_empty() || posted.is_empty() {
            return;
        }
        let (send, recv) = (sent.pop_front().unwrap(), posted.pop_front().unwrap());
        let size = |rank, index| self.graph.op(rank, index).size;
        let sizes = (size(source, send), size(destination, recv));
        assert!(!self.sized || sizes.0 == sizes.1, "{channel:?}: {sizes:?}");
        if self.program.claims() {
            let memory = &mut self.memory[destination as usize];
            let claimed = self.program.claim(self.program.role(destination), memory, source, 0);
            assert_eq!(claimed, Some(recv), "{channel:?}");
        }
        if self.synchronous {
            self.complete(source, send);
        }
        self.complete(destination, recv);
    }

    fn complete(&mut self, rank: u32, index: u32) {
        assert!(self.done.insert((rank, index)), "twice: {rank}, {index}");
        self.program.dependents(rank, index, Edge::Done, &mut |dependent| {
            let missing = &mut self.missing[rank as usize][dependent as usize];
            *missing -= 1;
            if *missing == 0 {
                self.ready.entry(rank).or_default().push_back(dependent);
            }
        });
    }
}

pub fn build(name: &str, options: &Options) -> Pattern {
    Pattern::build(name, options).unwrap_or_else(|error| panic!("{error}: {options:?}"))
}

/// Every pattern with this many ranks and bytes, each also with other options than the default.
pub fn variants(ranks: u32, size: u64) -> Vec<(&'static str, Options)> {
    let plain = Options::new(ranks, size);
    let mut all: Vec<_> = NAMES.iter().map(|&name| (name, plain.clone())).collect();
    let mut add = |names: &[&'static str], change: &dyn Fn(&mut Options)| {
        let mut options = plain.clone();
        change(&mut options);
        all.extend(names.iter().map(|&name| (name, options.clone())));
    };
    add(&NAMES, &|o| o.permute = Some(7));
    let rooted = schedule::pattern::users("root").unwrap();
    for root in [ranks / 2, ranks - 1] {
        add(rooted, &|o| o.root = root);
        add(rooted, &|o| (o.root, o.permute) = (root, Some(3)));
    }
    for ways in [2, 3, 5] {
        add(&["nway-dissemination"], &|o| o.ways = ways);
    }
    for segment in [7, 64, 1000] {
        add(&["pipelined-ring"], &|o| o.segment = segment);
    }
    add(&["alltoallv"], &|o| (o.skew, o.seed) = (4, 5));
    add(&["random-bisection"], &|o| o.seed = 5);
    add(&["random", "random-ring"], &|o| (o.steps, o.seed) = (5, 9));
    let halos = ["halo1d", "halo2d", "halo3d"];
    add(&halos, &|o| o.steps = 3);
    add(&halos, &|o| (o.steps, o.compute) = (3, 10));
    add(&halos, &|o| (o.steps, o.allreduce) = (3, Some(24)));
    add(&halos, &|o| {
        (o.compute, o.allreduce, o.permute) = (10, Some(24), Some(2));
    });
    all
}

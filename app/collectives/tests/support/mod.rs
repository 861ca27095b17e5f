//! Carries out the plans of all ranks on real buffers.
//!
//! An element is the list of the terms that were combined into it, in order, so that a lost,
//! doubled or displaced term shows. Every element of a send buffer is a term of its own.
#![allow(dead_code)]
// A cell is an option, also where it is written.
#![allow(clippy::unnecessary_wraps)]

use std::{collections::HashMap, rc::Rc};

use collectives::{
    Action, Blocks, Buffer, Call, Collective, NO_CHOICES, Nodes, Plan, Region, plan,
};

/// A list of terms; `None` in what was never written.
pub type Cell = Option<Rc<Vec<u64>>>;

/// The i-th element of a rank's send buffer.
pub fn term(rank: u32, element: u64) -> Cell {
    Some(Rc::new(vec![(u64::from(rank) << 32) | element]))
}

/// Buffers by [`Buffer`]; control messages have none.
pub type Buffers = [Vec<Cell>; 3];

/// The order in which steps are carried out.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// A rank starts each step in program order when what it requires is done; messages are eager.
    Program,
    /// At random, among all steps whose requirements are met; a sent region is read, and a received
    /// one written, at a random moment until the step is done. Matching by source and tag.
    Random(u64),
    /// In program order, and a send is done only when its receive has been posted.
    Rendezvous,
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// The contents of messages, by (source, destination, tag).
type Mail = HashMap<(u32, u32, u32), Vec<Cell>>;

fn read(buffers: &Buffers, region: Region) -> Vec<Cell> {
    if region.buffer == Buffer::Control {
        return vec![None; region.len as usize];
    }
    buffers[region.buffer as usize][region.start as usize..(region.start + region.len) as usize]
        .to_vec()
}

fn write(buffers: &mut Buffers, region: Region, cells: &[Cell]) {
    assert_eq!(region.len as usize, cells.len(), "a message and its receive differ in length");
    if region.buffer != Buffer::Control {
        assert_ne!(region.buffer, Buffer::Send, "a send buffer is written");
        let range = region.start as usize..(region.start + region.len) as usize;
        buffers[region.buffer as usize][range].clone_from_slice(cells);
    }
}

/// Runs all plans; returns false if some step can never be done.
pub fn run(plans: &[Plan], buffers: &mut [Buffers], order: Order) -> bool {
    let steps: Vec<Vec<(Action, Vec<u32>)>> = plans
        .iter()
        .map(|plan| plan.steps().map(|(action, after)| (action, after.to_vec())).collect())
        .collect();
    match order {
        Order::Random(seed) => random(&steps, buffers, Random(seed * 2 + 1)),
        _ => in_order(&steps, buffers, matches!(order, Order::Rendezvous)),
    }
}

fn local(buffers: &mut Buffers, action: Action) {
    match action {
        Action::Copy { from, into } => {
            let cells = read(buffers, from);
            write(buffers, into, &cells);
        }
        Action::Reduce { from, into, from_left } => {
            let (other, own) = (read(buffers, from), read(buffers, into));
            let join = |(other, own): (Cell, Cell)| {
                let (other, own) =
                    (other.expect("unwritten operand"), own.expect("unwritten operand"));
                let (left, right) = if from_left { (other, own) } else { (own, other) };
                Some(Rc::new(left.iter().chain(right.iter()).copied().collect::<Vec<_>>()))
            };
            assert_eq!(other.len(), own.len());
            let joined: Vec<Cell> = other.into_iter().zip(own).map(join).collect();
            write(buffers, into, &joined);
        }
        _ => unreachable!(),
    }
}

/// Starts steps in any order that the requirements allow, one at a time. A send is done at once or
/// later: its region is read when its receive completes or at a random moment before, whichever
/// comes first, so that a step that overwrites it without requiring it is caught. A receive is
/// written when it is done.
// Long because the state of a whole run is local to it.
fn random(steps: &[Vec<(Action, Vec<u32>)>], buffers: &mut [Buffers], mut random: Random) -> bool {
    let mut missing: Vec<Vec<usize>> =
        steps.iter().map(|rank| rank.iter().map(|(_, after)| after.len()).collect()).collect();
    let mut ready: Vec<(usize, usize)> = Vec::new();
    let mut sending: Vec<(usize, usize)> = Vec::new();
    let mut mail: Mail = HashMap::new();
    let mut waiting: HashMap<(u32, u32, u32), (usize, usize)> = HashMap::new();
    let mut left: usize = steps.iter().map(Vec::len).sum();
    let mut followers: Vec<Vec<Vec<usize>>> =
        steps.iter().map(|rank| vec![Vec::new(); rank.len()]).collect();
    for (rank, list) in steps.iter().enumerate() {
        for (index, (_, after)) in list.iter().enumerate() {
            for &before in after {
                followers[rank][before as usize].push(index);
            }
            if after.is_empty() {
                ready.push((rank, index));
            }
        }
    }
    loop {
        let choices = ready.len() + sending.len();
        if choices == 0 {
            return left == 0 && mail.is_empty();
        }
        let choice = random.below(choices);
        let mut done = Vec::new();
        if choice < ready.len() {
            let (rank, index) = ready.swap_remove(choice);
            match steps[rank][index].0 {
                Action::Send { .. } => sending.push((rank, index)),
                Action::Recv { from, tag, into } => {
                    let key = (from, rank as u32, tag);
                    if let Some(cells) = mail.remove(&key) {
                        write(&mut buffers[rank], into, &cells);
                        done.push((rank, index));
                    } else {
                        assert!(
                            waiting.insert(key, (rank, index)).is_none(),
                            "two receives with one tag"
                        );
                    }
                }
                action => {
                    local(&mut buffers[rank], action);
                    done.push((rank, index));
                }
            }
        } else {
            let (rank, index) = sending.swap_remove(choice - ready.len());
            if let Action::Send { to, tag, from } = steps[rank][index].0 {
                let key = (rank as u32, to, tag);
                let cells = read(&buffers[rank], from);
                done.push((rank, index));
                if let Some((to, receive)) = waiting.remove(&key) {
                    if let Action::Recv { into, .. } = steps[to][receive].0 {
                        write(&mut buffers[to], into, &cells);
                    }
                    done.push((to, receive));
                } else {
                    assert!(mail.insert(key, cells).is_none(), "two messages with one tag");
                }
            }
        }
        for (rank, index) in done {
            left -= 1;
            for &next in &followers[rank][index] {
                missing[rank][next] -= 1;
                if missing[rank][next] == 0 {
                    ready.push((rank, next));
                }
            }
        }
    }
}

/// A rank starts its steps in program order, each when what it requires is done, and never one
/// before an earlier one has started.
fn in_order(steps: &[Vec<(Action, Vec<u32>)>], buffers: &mut [Buffers], rendezvous: bool) -> bool {
    let mut done: Vec<Vec<bool>> = steps.iter().map(|rank| vec![false; rank.len()]).collect();
    let mut next = vec![0; steps.len()];
    let mut sends: HashMap<(u32, u32, u32), usize> = HashMap::new();
    let mut receives: HashMap<(u32, u32, u32), usize> = HashMap::new();
    let mut mail: Mail = HashMap::new();
    let mut active: Vec<usize> = (0..steps.len()).collect();
    while let Some(rank) = active.pop() {
        while let Some((action, after)) = steps[rank].get(next[rank]) {
            if !after.iter().all(|&before| done[rank][before as usize]) {
                break;
            }
            let index = next[rank];
            next[rank] += 1;
            match *action {
                Action::Send { to, tag, from } => {
                    let key = (rank as u32, to, tag);
                    if let Some(receive) = receives.remove(&key) {
                        let cells = read(&buffers[rank], from);
                        if let Action::Recv { into, .. } = steps[to as usize][receive].0 {
                            write(&mut buffers[to as usize], into, &cells);
                        }
                        done[to as usize][receive] = true;
                        done[rank][index] = true;
                        active.push(to as usize);
                    } else if rendezvous {
                        sends.insert(key, index);
                    } else {
                        mail.insert(key, read(&buffers[rank], from));
                        done[rank][index] = true;
                    }
                }
                Action::Recv { from, tag, into } => {
                    let key = (from, rank as u32, tag);
                    if let Some(cells) = mail.remove(&key) {
                        write(&mut buffers[rank], into, &cells);
                        done[rank][index] = true;
                    } else if let Some(send) = sends.remove(&key) {
                        if let Action::Send { from: region, .. } = steps[from as usize][send].0 {
                            let cells = read(&buffers[from as usize], region);
                            write(&mut buffers[rank], into, &cells);
                        }
                        done[from as usize][send] = true;
                        done[rank][index] = true;
                        active.push(from as usize);
                    } else {
                        receives.insert(key, index);
                    }
                }
                action => {
                    local(&mut buffers[rank], action);
                    done[rank][index] = true;
                }
            }
        }
    }
    done.iter().flatten().all(|&done| done) && mail.is_empty()
}

/// A collective among some ranks.
#[derive(Clone, Debug)]
pub struct Case {
    pub collective: Collective,
    pub ranks: u32,
    pub root: u32,
    pub commutative: bool,
    /// Elements: `counts[r]` of block r; `counts[0]` of a whole vector. `alltoall`: row r to column
    /// c has `counts[(r * 7 + c) % counts.len()]`.
    pub counts: Vec<u64>,
    pub nodes: Nodes,
    pub segment: Option<u64>,
}

impl Case {
    fn is_alltoall(&self) -> bool {
        matches!(self.collective, Collective::Alltoall | Collective::Alltoallv)
    }

    fn pair(&self, from: u32, to: u32) -> u64 {
        self.counts[(from * 7 + to) as usize % self.counts.len()]
    }

    /// The blocks of a rank, and what it receives in an alltoall.
    pub fn blocks(&self, rank: u32) -> (Blocks, Blocks) {
        let all = 0..self.ranks;
        if self.is_alltoall() {
            if self.counts.len() == 1 {
                return (Blocks::Same(self.counts[0]), Blocks::Same(self.counts[0]));
            }
            let row: Vec<u64> = all.clone().map(|to| self.pair(rank, to)).collect();
            let column: Vec<u64> = all.map(|from| self.pair(from, rank)).collect();
            (Blocks::of(&row), Blocks::of(&column))
        } else if self.collective.is_whole() || self.counts.len() == 1 {
            (Blocks::Same(self.counts[0]), Blocks::Same(0))
        } else {
            (Blocks::of(&self.counts), Blocks::Same(0))
        }
    }

    pub fn call<'a>(&'a self, rank: u32, blocks: &'a (Blocks, Blocks)) -> Call<'a> {
        Call {
            ranks: self.ranks,
            rank,
            root: self.root,
            element: 8,
            commutative: self.commutative,
            segment: self.segment,
            blocks: &blocks.0,
            received: &blocks.1,
            nodes: &self.nodes,
            inside: &NO_CHOICES,
        }
    }

    pub fn plans(&self, algorithm: &str) -> Vec<Plan> {
        let one = |rank| {
            let blocks = self.blocks(rank);
            plan(self.collective, algorithm, &self.call(rank, &blocks)).expect("a plan")
        };
        (0..self.ranks).map(one).collect()
    }

    /// Elements of send and receive buffers, by the definition of the collective.
    fn sizes(&self, rank: u32) -> (u64, u64) {
        use Collective as C;
        let (blocks, received) = self.blocks(rank);
        let (own, all, root) = (blocks.len(rank), blocks.start(self.ranks), rank == self.root);
        let count = self.counts[0];
        match self.collective {
            C::Barrier => (0, 0),
            C::Bcast => (0, count),
            C::Reduce => (count, if root { count } else { 0 }),
            C::Allreduce | C::Scan | C::Exscan => (count, count),
            C::Gather | C::Gatherv => (own, if root { all } else { 0 }),
            C::Scatter | C::Scatterv => (if root { all } else { 0 }, own),
            C::Allgather | C::Allgatherv => (own, all),
            C::Alltoall | C::Alltoallv => (all, received.start(self.ranks)),
            C::ReduceScatter | C::ReduceScatterBlock => (all, own),
            other => panic!("{other:?} has no algorithms"),
        }
    }

    pub fn buffers(&self, plans: &[Plan]) -> Vec<Buffers> {
        let one = |(rank, plan): (u32, &Plan)| {
            let (send, receive) = self.sizes(rank);
            let send = (0..send).map(|i| term(rank, i)).collect();
            let mut receive = vec![None; receive as usize];
            if self.collective == Collective::Bcast && rank == self.root {
                receive = (0..self.counts[0]).map(|i| term(rank, i)).collect();
            }
            [send, receive, vec![None; plan.scratch_len() as usize]]
        };
        (0..).zip(plans).map(one).collect()
    }

    /// The contents of a rank's receive buffer, as MPI defines them.
    fn expected(&self, rank: u32) -> Vec<Cell> {
        use Collective as C;
        let (blocks, _) = self.blocks(rank);
        let block = |owner: u32, index: u32| {
            let (start, len) = (blocks.start(index), blocks.len(index));
            (start..start + len).map(move |i| term(owner, i)).collect::<Vec<_>>()
        };
        let folded = |ranks: std::ops::Range<u32>, i: u64| {
            let terms: Vec<u64> =
                ranks.flat_map(|r| term(r, i).unwrap().as_ref().clone()).collect();
            (!terms.is_empty()).then(|| Rc::new(terms))
        };
        let (n, count) = (self.ranks, self.counts[0]);
        let root = rank == self.root;
        match self.collective {
            C::Barrier => Vec::new(),
            C::Bcast => (0..count).map(|i| term(self.root, i)).collect(),
            C::Reduce | C::Gather | C::Gatherv if !root => Vec::new(),
            C::Reduce | C::Allreduce => (0..count).map(|i| folded(0..n, i)).collect(),
            C::Scan => (0..count).map(|i| folded(0..rank + 1, i)).collect(),
            C::Exscan => (0..count).map(|i| folded(0..rank, i)).collect(),
            C::Gather | C::Gatherv | C::Allgather | C::Allgatherv => (0..n)
                .flat_map(|r| (0..blocks.len(r)).map(move |i| term(r, i)).collect::<Vec<_>>())
                .collect(),
            C::Scatter | C::Scatterv => block(self.root, rank),
            C::Alltoall | C::Alltoallv => (0..n)
                .flat_map(|from| {
                    let (theirs, _) = self.blocks(from);
                    let (start, len) = (theirs.start(rank), theirs.len(rank));
                    (start..start + len).map(|i| term(from, i)).collect::<Vec<_>>()
                })
                .collect(),
            C::ReduceScatter | C::ReduceScatterBlock => {
                let (start, len) = (blocks.start(rank), blocks.len(rank));
                (start..start + len).map(|i| folded(0..n, i)).collect()
            }
            other => panic!("{other:?} has no algorithms"),
        }
    }

    /// Runs an algorithm and compares every buffer with the definition.
    pub fn check(&self, algorithm: &str, order: Order) {
        let plans = self.plans(algorithm);
        let mut buffers = self.buffers(&plans);
        let case = || format!("{algorithm} {order:?} {self:?}");
        assert!(run(&plans, &mut buffers, order), "deadlock: {}", case());
        for (rank, [_, receive, _]) in (0..).zip(buffers) {
            let expected = self.expected(rank);
            assert_eq!(receive.len(), expected.len(), "{}", case());
            for (i, (is, should)) in receive.into_iter().zip(expected).enumerate() {
                let Some(should) = should else { continue };
                let mut is =
                    is.unwrap_or_else(|| panic!("rank {rank}, {i} unwritten: {}", case())).to_vec();
                if self.commutative {
                    is.sort_unstable();
                }
                assert_eq!(is, *should, "rank {rank}, element {i}: {}", case());
            }
        }
    }
}

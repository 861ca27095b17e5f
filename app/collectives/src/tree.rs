//! Trees over the members of a group, and what runs along them.

use crate::{
    call::Team,
    layout::Blocks,
    plan::{MOST_STEPS, Plan, Region},
};

/// The shape of a tree. Members are numbered from the root, which is 0, except in
/// [`Tree::InOrder`], whose root is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// The root is everyone's parent.
    Flat,
    /// This many chains that start at the root, of about the same length.
    Chains(u32),
    /// The children of v are k v + 1, …, k v + k.
    Heap(u32),
    /// The children of v, which stands in level l, are v + k^l, …, v + k k^l (Open MPI's trees).
    Levels(u32),
    /// Member v's children are v + j k^i for digits j and places i below v's lowest digit; for k =
    /// 2 the binomial tree. A subtree is a range that starts at its root.
    Knomial(u32),
    /// A binary tree in which a member comes right after its two subtrees (Open MPI's
    /// `in_order_binary`).
    InOrder,
}

/// A member's neighbours in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeNode {
    /// The parent.
    pub parent: Option<u32>,
    /// The children; a broadcast sends in this order.
    pub children: Vec<u32>,
}

impl Tree {
    /// The neighbours of member `v` of `n`.
    pub fn place(self, v: u32, n: u32) -> TreeNode {
        match self {
            Self::Flat if v == 0 => TreeNode { parent: None, children: (1..n).collect() },
            Self::Flat => TreeNode { parent: Some(0), children: Vec::new() },
            Self::Chains(count) => chains(v, n, count),
            Self::Heap(k) => TreeNode {
                parent: (v > 0).then(|| (v - 1) / k),
                children: (1..=k).map(|i| k * v + i).filter(|&child| child < n).collect(),
            },
            Self::Levels(k) => levels(v, n, k),
            Self::Knomial(k) => knomial(v, n, k),
            Self::InOrder => in_order(v, n),
        }
    }

    /// Returns whether a member comes before its children, and each child's subtree is a range, so
    /// that combining the children in ascending order keeps the order of members.
    const fn is_ordered(self) -> bool {
        matches!(self, Self::Flat | Self::Knomial(_) | Self::Chains(1))
    }
}

fn chains(v: u32, n: u32, count: u32) -> TreeNode {
    // The first `longer` chains have one member more.
    let count = count.min(n.saturating_sub(1)).max(1);
    let (length, longer) = ((n - 1) / count, (n - 1) % count);
    let head = |chain: u32| 1 + chain * length + chain.min(longer);
    if v == 0 {
        let children = (0..count).map(head).filter(|&child| child < n).collect();
        return TreeNode { parent: None, children };
    }
    let is_head = |v| (0..count).any(|chain| head(chain) == v);
    TreeNode {
        parent: Some(if is_head(v) { 0 } else { v - 1 }),
        children: if v + 1 < n && !is_head(v + 1) { vec![v + 1] } else { Vec::new() },
    }
}

fn levels(v: u32, n: u32, k: u32) -> TreeNode {
    // Level l holds k^l members, from `first` on.
    let (mut first, mut size, mut above) = (0, 1, 1);
    while v >= first + size {
        first += size;
        above = size;
        size *= k;
    }
    let parent = (v > 0).then(|| first - above + (v - first) % above);
    let children = (1..=k).map(|i| v + i * size).filter(|&child| child < n).collect();
    TreeNode { parent, children }
}

fn knomial(v: u32, n: u32, k: u32) -> TreeNode {
    let mut place = TreeNode::default();
    let (v, n, k) = (u64::from(v), u64::from(n), u64::from(k));
    let mut mask = 1;
    while mask < n {
        let digit = (v / mask) % k;
        if digit > 0 {
            place.parent = Some((v - digit * mask) as u32);
            break;
        }
        place.children.extend((1..k).map(|j| v + j * mask).filter(|c| *c < n).map(|c| c as u32));
        mask *= k;
    }
    place.children.reverse();
    place
}

fn in_order(v: u32, n: u32) -> TreeNode {
    // Walk down from the root through ranges [low, low + size), each rooted at its last member.
    let (mut low, mut size, mut parent) = (0, n, None);
    loop {
        let root = low + size - 1;
        let delta = size.div_ceil(2);
        let left = (size > 1).then(|| root - delta);
        if v == root {
            let right = (size > 2).then(|| root - 1);
            return TreeNode { parent, children: left.into_iter().chain(right).collect() };
        }
        parent = Some(root);
        match left {
            Some(left) if v > left => (low, size) = (left + 1, delta - 1),
            Some(left) => size = left + 1 - low,
            None => return TreeNode { parent, children: Vec::new() },
        }
    }
}

/// Broadcasts a region from member `root`, cut in segments of so many elements. A member sends each
/// segment on as soon as it has it.
pub fn bcast(plan: &mut Plan, team: &Team, root: u32, tree: Tree, data: Region, segment: u64) {
    if team.size < 2 {
        return;
    }
    let n = team.size;
    let place = tree.place((team.me + n - root) % n, n);
    let rank = |v: u32| team.rank((v + root) % n);
    let pieces = pieces(plan, data, segment);
    let mut next = place.parent.map(|parent| plan.irecv(rank(parent), pieces.at(0)));
    for index in 0..pieces.count {
        if plan.overflows() {
            return;
        }
        let arrived = next.take();
        if let Some(parent) = place.parent
            && index + 1 < pieces.count
        {
            next = Some(plan.irecv(rank(parent), pieces.at(index + 1)));
        }
        plan.wait(arrived.as_slice());
        for &child in &place.children {
            plan.send(rank(child), pieces.at(index));
        }
    }
}

/// Reduces to member `root`. `acc` holds the member's own contribution; the root's holds the result
/// at the end, all others are overwritten. An operation that does not commute is carried out in the
/// order of members if the tree allows that; the callers see to it.
pub fn reduce(plan: &mut Plan, team: &Team, reduction: Reduction, acc: Region) {
    let Reduction { root, tree, segment, commutative, ahead } = reduction;
    let n = team.size;
    if n < 2 {
        return;
    }
    let top = if tree == Tree::InOrder { n - 1 } else { 0 };
    // Without commutation the tree stands at member `top`, and the result moves to the root.
    let moved = tree == Tree::InOrder || !commutative;
    debug_assert!(commutative || tree == Tree::InOrder || tree.is_ordered());
    let shift = if moved { 0 } else { root };
    let mut place = tree.place((team.me + n - shift) % n, n);
    place.children.sort_unstable();
    if tree == Tree::InOrder {
        place.children.reverse();
    }
    let rank = |v: u32| team.rank((v + shift) % n);
    let pieces = pieces(plan, acc, segment);
    let spare = if place.children.is_empty() { 0 } else { pieces.size };
    let slots = [plan.scratch(spare), plan.scratch(spare)];
    let inputs = u64::from(pieces.count) * place.children.len() as u64;
    let source = |input: u64| {
        let children = place.children.len() as u64;
        let child = place.children.get((input % children) as usize).copied().unwrap_or(0);
        let piece = pieces.at((input / children) as u32);
        (rank(child), piece, slots[(input % 2) as usize].part(0, piece.len))
    };
    let post = |plan: &mut Plan, input: u64| {
        let (from, _, slot) = source(input);
        plan.irecv(from, slot)
    };
    let mut next = (inputs > 0 && ahead).then(|| post(plan, 0));
    let mut input = 0;
    for index in 0..pieces.count {
        if plan.overflows() {
            return;
        }
        for _ in &place.children {
            let arrived = next.take().or_else(|| Some(post(plan, input)));
            // The next message has the slot that was read by the reduction before.
            next = (input + 1 < inputs && ahead).then(|| post(plan, input + 1));
            plan.wait(arrived.as_slice());
            let (_, piece, slot) = source(input);
            if tree == Tree::InOrder {
                plan.reduce_left(slot, piece);
            } else {
                plan.reduce_right(piece, slot);
            }
            input += 1;
        }
        if let Some(parent) = place.parent {
            plan.send(rank(parent), pieces.at(index));
        }
    }
    if moved && root != top {
        hand_over(plan, team, (top, root), acc);
    }
}

/// Moves a result from one member to another.
fn hand_over(plan: &mut Plan, team: &Team, (from, to): (u32, u32), result: Region) {
    if team.me == from {
        plan.send(team.rank(to), result);
    } else if team.me == to {
        plan.recv(team.rank(from), result);
    }
}

/// The way in which [`reduce`] works.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// The member that gets the result.
    pub root: u32,
    /// Along which tree.
    pub tree: Tree,
    /// Elements of a segment.
    pub segment: u64,
    /// True if the operation commutes.
    pub commutative: bool,
    /// True if the next receive is posted before the last one is waited for.
    pub ahead: bool,
}

/// A region in segments, at least one.
pub struct Pieces {
    whole: Region,
    size: u64,
    /// Number of segments.
    pub count: u32,
}

impl Pieces {
    /// A segment.
    pub fn at(&self, index: u32) -> Region {
        let cut = Blocks::Cut { len: self.whole.len, size: self.size };
        cut.of_region(self.whole, index)
    }
}

/// Cuts a region in segments of so many elements; 0 means one segment.
pub fn pieces(plan: &mut Plan, whole: Region, segment: u64) -> Pieces {
    let size = if segment == 0 { whole.len } else { segment.min(whole.len) }.max(1);
    Pieces { whole, size, count: segments(plan, whole.len, size) }
}

/// Returns the number of segments of so many elements, at least 1, in a vector. If a plan cannot
/// have so many steps, it overflows, and the answer is 1.
pub fn segments(plan: &mut Plan, len: u64, size: u64) -> u32 {
    match len.div_ceil(size) {
        0 => 1,
        count if count <= u64::from(MOST_STEPS) => count as u32,
        _ => {
            plan.overflow();
            1
        }
    }
}

/// Gathers blocks to member `root` along a binomial tree: a member sends all of its subtree in one
/// message. `own` is the member's block, `out` is where the root wants all blocks in the order of
/// members.
pub fn gather(
    plan: &mut Plan,
    team: &Team,
    root: u32,
    k: u32,
    own: Region,
    out: Region,
    blocks: &Blocks,
) {
    let n = team.size;
    let (place, turned, held) = subtree(team, root, k, blocks);
    // A leaf sends from where its block is; the root needs no copy where the order is the same.
    let room = if root == 0 && team.me == 0 {
        out
    } else if place.children.is_empty() {
        own
    } else {
        plan.scratch(held.len)
    };
    let at = |first: u32, end: u32| {
        let start = turned.start(first) - held.start;
        room.part(start, turned.start(end) - turned.start(first))
    };
    let v = (team.me + n - root) % n;
    plan.copy(own, at(v, v + 1));
    for &child in place.children.iter().rev() {
        let end = subtree_end(child, n, k);
        plan.recv(team.rank((child + root) % n), at(child, end));
    }
    if let Some(parent) = place.parent {
        plan.send(team.rank((parent + root) % n), room);
    } else if root > 0 {
        plan.copy(at(0, n - root), blocks.span(out, root, n));
        plan.copy(at(n - root, n), blocks.span(out, 0, root));
    }
}

/// Scatters blocks from member `root` along a binomial tree; the reverse of [`gather`], to the
/// largest subtree first or to the smallest. `all` is where the root has the blocks in the order of
/// members.
pub fn scatter(
    plan: &mut Plan,
    team: &Team,
    root: u32,
    small_first: bool,
    all: Region,
    own: Region,
    blocks: &Blocks,
) {
    let n = team.size;
    let (mut place, turned, held) = subtree(team, root, 2, blocks);
    if small_first {
        place.children.reverse();
    }
    let room = if root == 0 && team.me == 0 {
        all
    } else if place.children.is_empty() {
        own
    } else {
        plan.scratch(held.len)
    };
    let at = |first: u32, end: u32| {
        let start = turned.start(first) - held.start;
        room.part(start, turned.start(end) - turned.start(first))
    };
    if let Some(parent) = place.parent {
        plan.recv(team.rank((parent + root) % n), room);
    } else if root > 0 {
        plan.copy(blocks.span(all, root, n), at(0, n - root));
        plan.copy(blocks.span(all, 0, root), at(n - root, n));
    }
    for &child in &place.children {
        let end = subtree_end(child, n, 2);
        plan.send(team.rank((child + root) % n), at(child, end));
    }
    let v = (team.me + n - root) % n;
    plan.copy(at(v, v + 1), own);
}

/// A member's place, the blocks in the order from the root on, and the part of them that the
/// member's subtree has.
fn subtree(team: &Team, root: u32, k: u32, blocks: &Blocks) -> (TreeNode, Blocks, Region) {
    let n = team.size;
    let turned = match blocks {
        Blocks::Same(len) => Blocks::Same(*len),
        _ if root == 0 => blocks.clone(),
        _ => {
            let counts: Vec<u64> = (0..n).map(|v| blocks.len((v + root) % n)).collect();
            Blocks::of(&counts)
        }
    };
    let v = (team.me + n - root) % n;
    let held = turned.span(Region::control(0), v, subtree_end(v, n, k));
    (Tree::Knomial(k).place(v, n), turned, held)
}

/// Returns where the range of a subtree of the k-nomial tree ends.
fn subtree_end(v: u32, n: u32, k: u32) -> u32 {
    let (v, n, k) = (u64::from(v), u64::from(n), u64::from(k));
    let mut mask = 1;
    while mask < n && (v / mask).is_multiple_of(k) {
        mask *= k;
    }
    // The lowest digit of v stands at `mask`: its subtree fills the places below.
    (v + mask).min(n) as u32
}

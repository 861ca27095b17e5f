//! Reductions of vectors in parts: recursive halving, and rings.
//!
//! Sources: Rabenseifner, "Optimization of Collective Reduction Operations", 2004; Thakur,
//! Rabenseifner, Gropp 2005; Patarasuk, Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters
//! of Workstations", 2009 (ring).

use crate::{
    call::Team,
    layout::Blocks,
    plan::{Plan, Region},
};

/// Members beyond the largest power of two give their vector to their neighbour above; returns the
/// team of those that remain. The order of members is kept.
pub fn fold(plan: &mut Plan, team: &Team, acc: Region) -> Option<Team> {
    let pairs = team.size - team.power();
    let folded = team.folded();
    if team.me < 2 * pairs {
        if folded.is_none() {
            plan.send(team.rank(team.me + 1), acc);
        } else {
            let other = plan.scratch(acc.len);
            plan.recv(team.rank(team.me - 1), other);
            plan.reduce_left(other, acc);
        }
    }
    folded
}

/// The reverse: those who gave their vector get the result.
pub fn unfold(plan: &mut Plan, team: &Team, acc: Region) {
    let pairs = team.size - team.power();
    if team.me < 2 * pairs {
        if team.me.is_multiple_of(2) {
            plan.recv(team.rank(team.me + 1), acc);
        } else {
            plan.send(team.rank(team.me - 1), acc);
        }
    }
}

/// Does the same as [`fold`], but the members beyond the power of two give their vector to their
/// neighbour below; returns the number of a remaining member, whose rank [`low_rank`] tells.
pub fn fold_down(plan: &mut Plan, team: &Team, acc: Region) -> Option<u32> {
    let pairs = team.size - team.power();
    if team.me >= 2 * pairs {
        return Some(team.me - pairs);
    }
    if !team.me.is_multiple_of(2) {
        plan.send(team.rank(team.me - 1), acc);
        return None;
    }
    let other = plan.scratch(acc.len);
    plan.recv(team.rank(team.me + 1), other);
    plan.reduce_right(acc, other);
    Some(team.me / 2)
}

/// The rank of a member that remains after [`fold_down`].
pub fn low_rank(team: &Team, member: u32) -> u32 {
    let pairs = team.size - team.power();
    team.rank(if member < pairs { 2 * member } else { member + pairs })
}

/// Exchange of whole vectors with partners 1, 2, 4, … away, in the order of members.
pub fn exchange_all(plan: &mut Plan, team: &Team, acc: Region) {
    let other = plan.scratch(acc.len);
    let mut mask = 1;
    while mask < team.size {
        let partner = team.me ^ mask;
        plan.exchange(team.rank(partner), acc, team.rank(partner), other);
        plan.reduce_by_rank(team.me, partner, other, acc);
        mask *= 2;
    }
}

/// The order in which partners are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// 1, 2, 4, … away: the order of members is kept, blocks end up at bit-reversed places.
    NearFirst,
    /// The farthest first: member m ends up with block m.
    FarFirst,
}

/// Returns the partners that a member of a power of two of them meets in recursive halving.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The partner.
    pub partner: u32,
    /// The distance.
    pub mask: u32,
    /// First and end of the blocks that the member keeps.
    pub kept: (u32, u32),
    /// First and end of the blocks that it gives to the partner.
    pub given: (u32, u32),
}

/// The meetings of a member, in order. Each halves the range of blocks.
pub fn meetings(team: &Team, order: Order) -> Vec<Meeting> {
    meetings_of(team.me, team.size, order)
}

/// Returns the same by the member's number.
pub fn meetings_of(me: u32, size: u32, order: Order) -> Vec<Meeting> {
    let rounds = size.ilog2();
    let (mut low, mut high) = (0, size);
    let meeting = |round| {
        let mask = match order {
            Order::NearFirst => 1_u32 << round,
            Order::FarFirst => size >> (round + 1),
        };
        let middle = u32::midpoint(low, high);
        let (below, above) = ((low, middle), (middle, high));
        let (kept, given) = if me & mask == 0 { (below, above) } else { (above, below) };
        (low, high) = kept;
        Meeting { partner: me ^ mask, mask, kept, given }
    };
    (0..rounds).map(meeting).collect()
}

/// Reduces by recursive halving: at the end the last meeting's kept range of `acc` is complete.
pub fn halve(plan: &mut Plan, team: &Team, meetings: &[Meeting], acc: Region, blocks: &Blocks) {
    let room = meetings.first().map_or(0, |m| blocks.span(acc, m.kept.0, m.kept.1).len);
    let other = plan.scratch(room);
    for meeting in meetings {
        let keep = blocks.span(acc, meeting.kept.0, meeting.kept.1);
        let give = blocks.span(acc, meeting.given.0, meeting.given.1);
        let partner = team.rank(meeting.partner);
        let other = other.part(0, keep.len);
        plan.exchange(partner, give, partner, other);
        plan.reduce_by_rank(team.me, meeting.partner, other, keep);
    }
}

/// The reverse of [`halve`]: the same meetings backwards put the whole vector together.
pub fn join(plan: &mut Plan, team: &Team, meetings: &[Meeting], acc: Region, blocks: &Blocks) {
    for meeting in meetings.iter().rev() {
        let keep = blocks.span(acc, meeting.kept.0, meeting.kept.1);
        let give = blocks.span(acc, meeting.given.0, meeting.given.1);
        let partner = team.rank(meeting.partner);
        plan.exchange(partner, keep, partner, give);
    }
}

/// Reduces blocks around a ring: at the end member m has block m + `offset` complete. For
/// operations that commute.
pub fn around(plan: &mut Plan, team: &Team, offset: u32, at: impl Fn(u32) -> Region) {
    let n = team.size;
    let room = (0..n).map(|block| at(block).len).max().unwrap_or(0);
    let other = plan.scratch(if n > 1 { room } else { 0 });
    let (right, left) = (team.rank(team.ahead(1)), team.rank(team.behind(1)));
    for step in 1..n {
        let send = (team.behind(step) + offset) % n;
        let keep = at((team.behind(step + 1) + offset) % n);
        let other = other.part(0, keep.len);
        plan.exchange(right, at(send), left, other);
        plan.reduce_left(other, keep);
    }
}

/// Does the same with the next receive posted before the last one is waited for, and with blocking
/// sends.
pub fn around_ahead(plan: &mut Plan, team: &Team, offset: u32, at: impl Fn(u32) -> Region) {
    let n = team.size;
    if n < 2 {
        return;
    }
    let room = (0..n).map(|block| at(block).len).max().unwrap_or(0);
    let slots = [plan.scratch(room), plan.scratch(room)];
    let (right, left) = (team.rank(team.ahead(1)), team.rank(team.behind(1)));
    let block = |step: u32| at((team.behind(step) + offset) % n);
    let slot = |step: u32| slots[step as usize % 2].part(0, block(step).len);
    let mut coming = plan.irecv(left, slot(2));
    plan.send(right, block(1));
    for step in 2..n {
        let next = plan.irecv(left, slot(step + 1));
        plan.wait(&[coming]);
        plan.reduce_left(slot(step), block(step));
        plan.send(right, block(step));
        coming = next;
    }
    plan.wait(&[coming]);
    plan.reduce_left(slot(n), block(n));
}

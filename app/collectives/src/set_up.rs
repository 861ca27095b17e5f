//! Communication of SMPI before the first use of an algorithm for nodes on a communicator: its
//! ranks tell each other their leaders, the leaders the sizes of their nodes, and all agree on the
//! result.
//!
//! Source: measured with SimGrid 3.32's replayer, by what the first of two calls takes longer than
//! the second; the steps are those of SMPI's manual for communicators of nodes.

use calls::Collective;

use crate::{
    allgather,
    call::{Call, NO_CHOICES, Team},
    layout::Blocks,
    names,
    plan::Plan,
};

/// Bytes of a number that ranks tell each other.
pub const NUMBER: u64 = 4;

/// Returns whether SMPI sets nodes up before it carries out a collective by the algorithm, or by
/// the library's choice, of this name.
pub fn needs_nodes(collective: Collective, name: &str) -> bool {
    use Collective::{Allgather, Allreduce, Barrier, Bcast, Gather, Reduce, Scatter};
    let two_levels = name.to_lowercase().starts_with("smp_") || name == "impi";
    two_levels
        || match collective {
            Bcast | Scatter => name.starts_with("mvapich2") || name == "smpi_mpich",
            Allgather => name.starts_with("mvapich2"),
            Reduce => name == "mvapich2" || name == "mvapich2_two_level",
            Allreduce | Gather => name == "mvapich2_two_level",
            Barrier => name == "mpich_smp",
            _ => false,
        }
}

/// Returns a rank's part of the set-up, in numbers of [`NUMBER`] bytes.
pub fn set_up(call: &Call) -> Plan {
    let mut plan = Plan::new();
    tell_all(&mut plan, &call.all());
    if let Some(leaders) = call.leaders() {
        tell_all(&mut plan, &leaders);
    }
    let flag = plan.scratch(1);
    allgather::scatter_allgather(&mut plan, &call.local(), flag, true);
    let one = Call { element: NUMBER, blocks: &Blocks::Same(1), inside: &NO_CHOICES, ..*call };
    if let Ok(agreement) = names::plan(Collective::Allreduce, "default", &one) {
        plan.append(&agreement, one.input(), one.output());
    }
    plan
}

/// Every member of a team tells a number to each other one, in the order of distance.
fn tell_all(plan: &mut Plan, team: &Team) {
    let (own, others) = (plan.scratch(1), plan.scratch(1));
    for step in 1..team.size {
        plan.exchange(team.rank(team.ahead(step)), own, team.rank(team.behind(step)), others);
    }
}

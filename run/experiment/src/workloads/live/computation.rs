//! The rules by which the computation of live ranks takes simulated time.

use std::path::Path;

use live::{Computation, Regions};
use results::{ComputationRow, Reader};

use crate::{
    job::{Failure, unreadable},
    settings::{
        configuration::Configuration,
        diagnostic::Diagnostic,
        keys::{self, Id},
    },
};

/// Ways to count that need a further key.
const NEEDS: [(&str, Id); 2] =
    [("constant", keys::live::CONSTANT.id()), ("replayed", keys::live::TIMES.id())];

/// Checks that what `live.compute` needs is there, and nothing else.
pub(crate) fn check(configuration: &Configuration) -> Vec<Diagnostic> {
    let how = configuration.word(keys::live::COMPUTE);
    let needs = |(word, id): (&str, Id)| match (how == word, configuration.is_said(id)) {
        (true, false) => {
            let mistake =
                configuration.mistake(keys::live::COMPUTE, "nothing says how much that is");
            Some(mistake.help(format!("set {}", id.key().name)))
        }
        (false, true) => {
            let mistake = configuration.mistake(id, "it is not used");
            Some(mistake.help(format!("set live.compute = \"{word}\"")))
        }
        _ => None,
    };
    NEEDS.into_iter().filter_map(needs).collect()
}

/// The rules that `[live]` sets for so many ranks; `keep` keeps what is measured.
pub(crate) fn resolve(
    configuration: &Configuration,
    ranks: u32,
    keep: bool,
) -> Result<Computation, Failure> {
    let regions =
        match (configuration.word(keys::live::COMPUTE), configuration.value(keys::live::TIMES)) {
            ("constant", _) => Regions::Constant(
                configuration.value(keys::live::CONSTANT).unwrap_or_default().ps(),
            ),
            ("replayed", Some(path)) => Regions::Listed(listed(&path, ranks)?),
            _ => Regions::Measured,
        };
    let scale = configuration.value(keys::live::SCALE).unwrap_or(1.0);
    Ok(Computation::new(regions, scale, ranks, keep))
}

/// The regions of a `computation.csv`, by rank.
fn listed(path: &Path, ranks: u32) -> Result<Vec<Vec<u64>>, Failure> {
    let mut lists = vec![Vec::new(); ranks as usize];
    for (line, row) in (2_u64..).zip(Reader::<ComputationRow>::open(path).map_err(unreadable)?) {
        let ComputationRow { rank, cpu } = row.map_err(unreadable)?;
        let list = lists.get_mut(rank as usize).ok_or_else(|| {
            let message = format!("rank {rank} of a program of {ranks} ranks");
            Failure::Input(format!("error: {}:{line}: {message}", path.display()))
        })?;
        list.push(cpu);
    }
    Ok(lists)
}

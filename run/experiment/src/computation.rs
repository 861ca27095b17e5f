//! How the computation of live ranks counts.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader},
    path::Path,
};

use live::{Computation, Regions};
use results::COMPUTATION_HEADER;

use crate::{
    configuration::Configuration,
    diagnostic::{Diagnostic, reason},
    run::Failure,
};

/// Ways to count that need a further key.
const NEEDS: [(&str, &str); 2] = [("constant", "live.constant"), ("replayed", "live.times")];

/// Checks that what `live.compute` needs is there, and nothing else.
pub(crate) fn check(configuration: &Configuration) -> Vec<Diagnostic> {
    let how = configuration.word("live.compute");
    let needs = |(word, key): (&str, &str)| match (how == word, configuration.is_said(key)) {
        (true, false) => {
            let mistake = configuration.mistake("live.compute", "nothing says how much that is");
            Some(mistake.help(format!("set {key}")))
        }
        (false, true) => {
            let mistake = configuration.mistake(key, "it is not used");
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
    let regions = match (configuration.word("live.compute"), configuration.path("live.times")) {
        ("constant", _) => {
            Regions::Constant(configuration.time("live.constant").unwrap_or_default().ps())
        }
        ("replayed", Some(path)) => Regions::Listed(listed(&path, ranks)?),
        _ => Regions::Measured,
    };
    let scale = configuration.factor("live.scale").unwrap_or(1.0);
    Ok(Computation::new(regions, scale, ranks, keep))
}

/// The regions of a `computation.csv`, by rank.
fn listed(path: &Path, ranks: u32) -> Result<Vec<Vec<u64>>, Failure> {
    let shown = path.display();
    let unreadable =
        |error: io::Error| Failure::Input(format!("error: {shown}: {}", reason(&error)));
    let mut lists = vec![Vec::new(); ranks as usize];
    let file = File::open(path).map_err(unreadable)?;
    for (number, line) in (1_u64..).zip(BufReader::new(file).lines()) {
        let line = line.map_err(unreadable)?;
        if number == 1 && line == COMPUTATION_HEADER {
            continue;
        }
        let numbers = line
            .split_once(',')
            .and_then(|(rank, time)| Some((rank.parse::<usize>().ok()?, time.parse().ok()?)));
        let (rank, time) = numbers.ok_or_else(|| {
            let expected = if number == 1 { COMPUTATION_HEADER } else { "RANK,NANOSECONDS" };
            Failure::Input(format!(
                "error: {shown}:{number}: expected `{expected}`, found `{line}`"
            ))
        })?;
        let list = lists.get_mut(rank).ok_or_else(|| {
            let message = format!("rank {rank} of a program of {ranks} ranks");
            Failure::Input(format!("error: {shown}:{number}: {message}"))
        })?;
        list.push(time);
    }
    Ok(lists)
}

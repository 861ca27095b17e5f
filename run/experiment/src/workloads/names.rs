//! Names of workloads that are made from settings: patterns, collectives and traffic. They stand
//! behind the word for their kind, which is easily left out or mistaken.

use std::path::Path;

use collectives::Collective;
use schedule::pattern;
use traffic::PATTERNS;

/// The kinds with their names.
fn kinds() -> [(&'static str, Vec<&'static str>); 3] {
    [
        ("pattern", [&pattern::NAMES[..], &pattern::REACTIVE].concat()),
        ("collective", collectives::WITH_ALGORITHMS.map(Collective::name).to_vec()),
        ("traffic", PATTERNS.map(|(name, _)| name).to_vec()),
    ]
}

/// Returns advice on a file that does not exist and whose name may be meant as that of a workload.
pub(crate) fn meant(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str().filter(|name| !name.contains('.'))?;
    let found = near(name);
    (!found.is_empty()).then(|| format!("did you mean {}?", found.join(" or ")))
}

/// Returns the workloads nearest to a name without a kind, one of each kind.
fn near(name: &str) -> Vec<String> {
    let near = |known: &[&'static str]| {
        let contained = known.iter().copied().filter(|known| known.contains(name));
        units::nearest(name, known).or(contained.min_by_key(|known| known.len()))
    };
    let found = kinds().map(|(kind, known)| Some(format!("{kind}:{}", near(&known)?)));
    found.into_iter().flatten().collect()
}

/// Returns advice on a name that `kind` does not have, if another kind has it.
pub(super) fn elsewhere(kind: &str, name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let others = kinds().into_iter().filter(|(other, _)| *other != kind);
    let mut found = others.filter(|(_, known)| known.contains(&name.as_str()));
    found.next().map(|(other, _)| format!("{other}:{name} is another kind of workload"))
}

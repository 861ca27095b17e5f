//! The search for the file that a mistyped path most likely stands for.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use units::nearest;

/// Most entries of a folder that are looked at.
const ENTRIES: usize = 10_000;

/// Returns the path of the file nearest to that of a file that does not exist: each part of it that
/// is missing is replaced by the nearest name in its folder, or by the only one that has another
/// ending. A file that is in the current folder, instead of in the one that the path names, is also
/// found.
pub(crate) fn near_file(path: &Path) -> Option<PathBuf> {
    if path.as_os_str().is_empty() || path.exists() {
        return None;
    }
    let here = || path.file_name().map(PathBuf::from).filter(|name| name != path && name.exists());
    corrected(path).or_else(here)
}

/// Returns a path with every missing part replaced.
fn corrected(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let next = found.join(part);
        let known = !matches!(part, Component::Normal(_)) || next.exists();
        if known {
            found = next;
            continue;
        }
        let name = part.as_os_str().to_str()?;
        let folder = if found.as_os_str().is_empty() { Path::new(".") } else { &found };
        let names = names(folder, parts.peek().is_some(), name.starts_with('.'));
        found.push(near_name(name, &names)?);
    }
    Some(found)
}

/// Returns the names in a folder in order: of folders only, or of files before folders.
fn names(folder: &Path, only_folders: bool, hidden: bool) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(ENTRIES);
    let mut names: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.path().is_dir();
            let fits = (is_folder || !only_folders) && (hidden || !name.starts_with('.'));
            fits.then_some((is_folder, name))
        })
        .collect();
    names.sort();
    names.into_iter().map(|(_, name)| name).collect()
}

/// Returns the name nearest to another one. Endings make names alike, so that what stands before
/// them must be near by itself.
fn near_name(name: &str, known: &[String]) -> Option<String> {
    let only = |fits: &dyn Fn(&str) -> bool| {
        let mut found = known.iter().filter(|word| fits(word));
        found.next().filter(|_| found.next().is_none()).cloned()
    };
    let continued = |word: &str| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    if let Some(found) = only(&continued) {
        return Some(found);
    }
    let near: Vec<&str> = known.iter().map(String::as_str).collect();
    let near: Vec<&str> =
        near.into_iter().filter(|word| nearest(stem(name), &[stem(word)]).is_some()).collect();
    let found = nearest(name, &near).map(str::to_owned);
    found.or_else(|| only(&|word| stem(word).eq_ignore_ascii_case(stem(name))))
}

/// A name without its ending.
fn stem(name: &str) -> &str {
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_missing_part_is_replaced() {
        let root =
            std::env::temp_dir().join(format!("heddle-experiment-near-{}", std::process::id()));
        fs::create_dir_all(root.join("examples/machines")).expect("folders");
        for name in ["examples/stencil.goal", "examples/.hidden.goal", "examples/ring.goal"] {
            fs::write(root.join(name), "").expect("a file");
        }
        fs::write(root.join("examples/machines/edr.toml"), "").expect("a file");
        let near = |name: &str| {
            let found = near_file(&root.join(name))?;
            Some(found.strip_prefix(&root).expect("in the folder").display().to_string())
        };
        for (wrong, right) in [
            ("example/stencil.goal", Some("examples/stencil.goal")),
            ("examples/stencl.goal", Some("examples/stencil.goal")),
            ("Examples/Stencil.GOAL", Some("examples/stencil.goal")),
            ("examples/stencil", Some("examples/stencil.goal")),
            ("example/machine/erd.toml", Some("examples/machines/edr.toml")),
            ("examples/machines/../rnig.goal", Some("examples/machines/../ring.goal")),
            ("examples/ring.goal", None),
            ("examples/ring.csv", Some("examples/ring.goal")),
            ("examples/other.goal", None),
            ("examples/something-else.csv", None),
            ("elsewhere/ring.goal", None),
            // A file is no folder.
            ("examples/ring.goal/x", None),
        ] {
            assert_eq!(near(wrong).as_deref(), right, "{wrong}");
        }
        assert_eq!(near_file(Path::new("")), None);
        fs::remove_dir_all(&root).expect("removed");
    }
}

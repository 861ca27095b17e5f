//! The line of programs behind `program:`, which is the command line of `mpirun`, quoted as for a
//! shell: for each program `-n RANKS`, `-wdir FOLDER`, `-x NAME=VALUE`, the program and its
//! arguments; a `:` by itself comes between two programs.

use std::path::PathBuf;

use live::Launch;

/// The programs that a workload names, behind `program:`.
pub(crate) fn programs(text: &str) -> Result<Vec<Launch>, String> {
    let words = shell_words::split(text).map_err(|error| format!("{error} in `{text}`"))?;
    let parts: Vec<&[String]> = words.split(|word| word == ":").collect();
    let each = parts.iter().enumerate().map(|(place, words)| {
        program(words)?.ok_or_else(|| {
            let part =
                if parts.len() > 1 { format!(" in part {}", place + 1) } else { String::new() };
            format!("there is no program{part}")
        })
    });
    each.collect()
}

/// The number of ranks that programs begin with.
pub(crate) fn first(programs: &[Launch]) -> u32 {
    programs.iter().map(|program| program.ranks).sum()
}

/// A line of programs, each in the folder that `place` makes of the one that is said for it. What
/// is no such line stays as it is.
pub(crate) fn placed(line: &str, place: impl Fn(Option<PathBuf>) -> Option<PathBuf>) -> String {
    let Ok(launches) = programs(line) else { return line.to_owned() };
    let words = |launch: Launch| {
        let mut words = vec!["-n".to_owned(), launch.ranks.to_string()];
        if let Some(folder) = place(launch.directory) {
            words.extend(["-wdir".to_owned(), folder.display().to_string()]);
        }
        for (name, value) in launch.environment {
            words.extend(["-x".to_owned(), format!("{}={}", name.display(), value.display())]);
        }
        let command = [launch.program].into_iter().chain(launch.arguments);
        words.extend(command.map(|word| word.display().to_string()));
        shell_words::join(words)
    };
    launches.into_iter().map(words).collect::<Vec<_>>().join(" : ")
}

/// Reads one part of the line; nothing if it names no program.
fn program(words: &[String]) -> Result<Option<Launch>, String> {
    let mut launch = Launch { ranks: 1, ..Launch::default() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` wants a value"));
        match word.as_str() {
            "-n" | "-np" => {
                let count = value()?;
                let ranks = count.parse().ok().filter(|ranks| (1..1 << 24).contains(ranks));
                launch.ranks =
                    ranks.ok_or_else(|| format!("expected a number of ranks, found `{count}`"))?;
            }
            "-wdir" => launch.directory = Some(PathBuf::from(value()?)),
            "-x" => {
                let said = value()?;
                let (name, text) = said.split_once('=').unwrap_or((said, ""));
                launch.environment.push((name.into(), text.into()));
            }
            option if option.starts_with('-') => {
                return Err(format!("`{option}` is no option of a program: -n, -wdir and -x are"));
            }
            _ => {
                launch.program = word.into();
                launch.arguments = words.by_ref().map(Into::into).collect();
            }
        }
    }
    Ok(Some(launch).filter(|launch| !launch.program.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_a_program_is_named() {
        for (line, message) in [
            ("-n 2", "there is no program"),
            ("-n 1 a : -n 2", "there is no program in part 2"),
            ("-n 1 : -n 2 b", "there is no program in part 1"),
            ("a : : b", "there is no program in part 2"),
        ] {
            assert_eq!(programs(line).map(|_| ()), Err(message.to_owned()), "{line}");
        }
        assert_eq!(programs("-n 1 a x : -n 2 b").map(|all| first(&all)), Ok(3));
    }
}

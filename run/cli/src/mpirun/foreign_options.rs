//! Options of other `mpirun`s: those of Open MPI 4 (`mpirun(1)`) and of MPICH's Hydra
//! (`mpiexec -help`).

use std::ffi::OsString;

use units::nearest;

use crate::{arguments::Arguments, exit::complain};

/// The meaning of an option of another `mpirun` here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// An option of ours, which takes the same values.
    Ours(&'static str),
    /// A variable of the environment: its name and its value are two words.
    Variable,
    /// Nothing: it says how processes run on real machines. So many words belong to it.
    Nothing(usize),
}

use Means::{Nothing, Ours, Variable};

/// The names, which come behind one dash or two.
const FOREIGN: &[(&str, Means)] = &[
    ("np", Ours("--np")),
    ("c", Ours("--np")),
    ("wdir", Ours("--wdir")),
    ("wd", Ours("--wdir")),
    ("cwd", Ours("--wdir")),
    ("H", Ours("--host")),
    ("host", Ours("--host")),
    ("hosts", Ours("--host")),
    ("hostfile", Ours("--hostfile")),
    ("machinefile", Ours("--hostfile")),
    ("f", Ours("--hostfile")),
    ("rankfile", Ours("--rankfile")),
    ("rf", Ours("--rankfile")),
    ("map-by", Ours("--map-by")),
    ("bynode", Ours("--map-by=node")),
    ("byslot", Ours("--map-by=slot")),
    ("ppn", Ours("--per-host")),
    ("npernode", Ours("--per-host")),
    ("N", Ours("--per-host")),
    ("timeout", Ours("--timeout")),
    ("tag-output", Ours("--tag-output")),
    ("prepend-rank", Ours("--tag-output")),
    ("l", Ours("--tag-output")),
    ("env", Variable),
    ("genv", Variable),
    ("genvall", Nothing(0)),
    ("envall", Nothing(0)),
    ("genvlist", Nothing(1)),
    ("envlist", Nothing(1)),
    ("oversubscribe", Nothing(0)),
    ("nooversubscribe", Nothing(0)),
    ("allow-run-as-root", Nothing(0)),
    ("bind-to", Nothing(1)),
    ("bind-to-core", Nothing(0)),
    ("bind-to-none", Nothing(0)),
    ("bind-to-socket", Nothing(0)),
    ("report-bindings", Nothing(0)),
    ("use-hwthread-cpus", Nothing(0)),
    ("cpus-per-proc", Nothing(1)),
    ("cpus-per-rank", Nothing(1)),
    ("mca", Nothing(2)),
    ("gmca", Nothing(2)),
    ("display-map", Nothing(0)),
    ("display-allocation", Nothing(0)),
    ("print-rank-map", Nothing(0)),
    ("prefix", Nothing(1)),
    ("noprefix", Nothing(0)),
    ("iface", Nothing(1)),
    ("launcher", Nothing(1)),
    ("bootstrap", Nothing(1)),
    ("rmk", Nothing(1)),
    ("verbose", Nothing(0)),
    ("v", Nothing(0)),
];

/// A command line in our own options.
#[derive(Debug, Default)]
pub struct Adapted {
    /// The words.
    pub line: Vec<OsString>,
    /// Warnings about options that have no effect.
    pub warnings: Vec<String>,
}

/// The meaning of a word; and the value that stands in it behind `=`.
fn meaning(word: &str) -> Option<(Means, Option<&str>)> {
    let plain = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let (name, value) = match plain.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (plain, None),
    };
    // `-f` and the like have one dash, `--map-by` and the like may have two.
    let fits = |known: &str| known == name && (known.len() > 1 || !word.starts_with("--"));
    let (_, means) = FOREIGN.iter().find(|(known, _)| fits(known))?;
    Some((*means, value))
}

impl Adapted {
    /// Says what has no effect.
    pub fn complain(&self) {
        self.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    }

    /// Takes in an option, if it is another `mpirun`'s; `rest` is what comes behind it, of which
    /// its values are taken.
    fn foreign(&mut self, word: &str, rest: &mut impl Iterator<Item = OsString>) -> bool {
        let Some((means, value)) = meaning(word) else { return false };
        let given = value.map(OsString::from);
        match means {
            Ours(ours) => {
                let mut ours = OsString::from(ours);
                if let Some(value) = given {
                    ours.push("=");
                    ours.push(value);
                }
                self.line.push(ours);
            }
            Variable => {
                let mut said = given.or_else(|| rest.next()).unwrap_or_default();
                said.push("=");
                said.push(rest.next().unwrap_or_default());
                self.line.extend(["-x".into(), said]);
            }
            Nothing(values) => {
                rest.by_ref()
                    .take(values - usize::from(given.is_some() && values > 0))
                    .for_each(drop);
                self.warnings.push(format!("{word} has no effect on a simulated machine"));
            }
        }
        true
    }

    /// A variable that is to have the value that it has here needs one; without, it is left out.
    fn warn_of_unset(&mut self, said: &str) {
        if super::variable(said).is_none() {
            self.warnings
                .push(format!("-x {said}: it is not set here, and so not for the program"));
        }
    }

    /// The command line with other `mpirun`s' options as ours, and `--` before the program, whose
    /// own arguments stay as they are.
    ///
    /// # Errors
    /// If there is an option that is nobody's: a message with the nearest one.
    pub fn new(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut adapted = Self::default();
        adapted.line.extend(arguments.by_ref().take(2));
        if adapted.line.get(1).is_none_or(|command| command != "mpirun") {
            adapted.line.extend(arguments);
            return Ok(adapted);
        }
        let whole = <Arguments as clap::CommandFactory>::command();
        let Some(mut known) = whole.find_subcommand("mpirun").cloned() else { return Ok(adapted) };
        known.build();
        while let Some(argument) = arguments.next() {
            let word = argument.to_string_lossy().into_owned();
            let is_option = word.starts_with('-') && word != "-";
            if !is_option || word == "--" {
                adapted.line.push("--".into());
                adapted.line.extend(is_option.then(|| arguments.next()).flatten());
                adapted.line.extend((!is_option).then_some(argument));
                adapted.line.extend(arguments);
                return Ok(adapted);
            }
            let ours = find(&known, &word);
            if ours.is_none() && adapted.foreign(&word, &mut arguments) {
                // What our option of that name takes stands where it stood.
                let named = adapted.line.last().map(|last| last.to_string_lossy().into_owned());
                let takes = named.filter(|_| matches!(meaning(&word), Some((Ours(_), None))));
                let takes = takes.is_some_and(|named| takes_next(&known, &named));
                adapted.line.extend(takes.then(|| arguments.next()).flatten());
                continue;
            }
            if ours.is_none() {
                return Err(unknown(&known, &word));
            }
            adapted.line.push(argument);
            let takes = takes_next(&known, &word);
            let value = takes.then(|| arguments.next()).flatten();
            if let Some(attached) = word.strip_prefix("-x") {
                let apart = value.as_ref().and_then(|value| value.to_str()).unwrap_or_default();
                adapted.warn_of_unset(if attached.is_empty() { apart } else { attached });
            }
            adapted.line.extend(value);
        }
        Ok(adapted)
    }

    /// The words of a further program, behind a colon: its options are `-n`, `-wdir` and `-x`.
    ///
    /// # Errors
    /// If there is another option.
    pub fn later(part: &[OsString]) -> Result<Self, String> {
        let mut adapted = Self::default();
        let mut words = part.iter().cloned();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            let known = ["-n", "-x"].contains(&text.as_str());
            if known || !text.starts_with('-') {
                if !known {
                    adapted.line.push(word);
                    adapted.line.extend(words);
                    return Ok(adapted);
                }
                let mut value = words.next();
                let said = value.as_ref().and_then(|value| value.to_str());
                if let Some(said) = said.filter(|_| text == "-x") {
                    let Some(set) = super::variable(said) else {
                        adapted.warn_of_unset(said);
                        continue;
                    };
                    value = Some(set.into());
                }
                adapted.line.push(word);
                adapted.line.extend(value);
                continue;
            }
            let ours = match meaning(&text) {
                Some((Ours("--np"), value)) => Some(("-n", value)),
                Some((Ours("--wdir"), value)) => Some(("-wdir", value)),
                Some((Variable | Nothing(_), _)) => {
                    adapted.foreign(&text, &mut words);
                    continue;
                }
                _ => None,
            };
            let Some((ours, value)) = ours else {
                return Err(format!(
                    "{text} is not an option of a further program, which has -n, -wdir and -x\n  \
                     help: other options come before the first program"
                ));
            };
            let value = value.map(OsString::from).or_else(|| words.next());
            adapted.line.extend([Some(ours.into()), value].into_iter().flatten());
        }
        Ok(adapted)
    }
}

/// The option of ours that a word is.
fn find<'a>(command: &'a clap::Command, word: &str) -> Option<&'a clap::Arg> {
    let mut all = command.get_arguments();
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or(long);
        return all.find(|argument| longs(argument).any(|known| known == name));
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let first = letters.next()?;
    let rest = letters.as_str();
    let found = all.find(|argument| argument.get_short() == Some(first))?;
    // `-n4` is an option with its value; `-hots` is a slip of the pen.
    let value = rest.bytes().all(|byte| byte.is_ascii_digit());
    let slip = !value && (meaning(word).is_some() || suggestion(command, word).is_some());
    (!slip).then_some(found)
}

/// The names of an option behind two dashes.
fn longs(argument: &clap::Arg) -> impl Iterator<Item = &str> {
    argument.get_long().into_iter().chain(argument.get_visible_aliases().into_iter().flatten())
}

/// True if the value of an option of ours is the next word.
fn takes_next(command: &clap::Command, word: &str) -> bool {
    let apart =
        if word.starts_with("--") { !word.contains('=') } else { word.chars().count() == 2 };
    apart && find(command, word).is_some_and(|argument| argument.get_action().takes_values())
}

/// The option nearest to a word.
fn suggestion(command: &clap::Command, word: &str) -> Option<String> {
    let dashes = if word.starts_with("--") { "--" } else { "-" };
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let mut known: Vec<&str> = FOREIGN.iter().map(|(known, _)| *known).collect();
    if dashes == "--" {
        known.extend(command.get_arguments().flat_map(longs));
    }
    nearest(name, &known).map(|near| format!("{dashes}{near}"))
}

fn unknown(command: &clap::Command, word: &str) -> String {
    let help = match suggestion(command, word) {
        Some(near) => format!("did you mean {near}?"),
        None => "`heddle mpirun --help` lists the options".to_owned(),
    };
    format!("unknown option {word}\n  help: {help}")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::Adapted;

    fn adapted(line: &str) -> Result<String, String> {
        let words = ["heddle", "mpirun"].into_iter().chain(line.split_whitespace());
        let adapted = Adapted::new(words.map(OsString::from))?;
        let words: Vec<_> =
            adapted.line.iter().skip(2).map(|word| word.to_string_lossy()).collect();
        Ok(format!("{} | {}", words.join(" "), adapted.warnings.join("; ")))
    }

    #[test]
    fn options_of_others_become_ours() {
        for (theirs, ours) in [
            ("-np 4 ./a -np 5", "--np 4 -- ./a -np 5 | "),
            ("-n 4 -wdir /tmp ./a", "-n 4 --wdir /tmp -- ./a | "),
            ("-n4 -H a,b:2 ./a", "-n4 --host a,b:2 -- ./a | "),
            ("--map-by ppr:2:node -x A=1 ./a", "--map-by ppr:2:node -x A=1 -- ./a | "),
            ("-ppn 2 --bynode ./a", "--per-host 2 --map-by=node -- ./a | "),
            ("-genv A 1 -l ./a -l", "-x A=1 --tag-output -- ./a -l | "),
            ("-n 2 -- -odd", "-n 2 -- -odd | "),
            ("-c 4 ./a -c 5", "--np 4 -- ./a -c 5 | "),
            ("--n 4 ./a", "--n 4 -- ./a | "),
            ("-timeout 5 ./a", "--timeout 5 -- ./a | "),
            (
                "-x HEDDLE_TEST_UNSET -x PATH ./a",
                "-x HEDDLE_TEST_UNSET -x PATH -- ./a | -x HEDDLE_TEST_UNSET: it is not set here, \
                 and so not for the program",
            ),
            (
                "--bind-to core --mca btl self ./a",
                "-- ./a | --bind-to has no effect on a simulated machine; --mca has no effect on a \
                 simulated machine",
            ),
            (
                "--bind-to=core ./a b",
                "-- ./a b | --bind-to=core has no effect on a simulated machine",
            ),
        ] {
            assert_eq!(adapted(theirs).as_deref(), Ok(ours), "{theirs}");
        }
    }

    #[test]
    fn what_is_nobodys_option_is_an_error() {
        for (line, near) in [
            ("-hots a ./a", "-host?"),
            ("--oversubcribe ./a", "--oversubscribe?"),
            ("--compute-tme off ./a", "--compute-time?"),
            ("--xyzzy ./a", "--help"),
        ] {
            let message = adapted(line).expect_err("an unknown option");
            assert!(message.contains(near), "{line}: {message}");
        }
    }

    #[test]
    fn further_programs() {
        let later = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let adapted = Adapted::later(&words)?;
            Ok::<_, String>(
                adapted
                    .line
                    .iter()
                    .map(|word| word.to_string_lossy().into_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let expected: Vec<&str> = "-n 3 -wdir /tmp -x A=1 ./b -np 2".split(' ').collect();
        assert_eq!(
            later("-np 3 --bind-to core --wd /tmp -env A 1 ./b -np 2").expect("options"),
            expected
        );
        // Without a value, that which the variable has here; without one here, it is left out.
        let path = format!("PATH={}", std::env::var("PATH").expect("a path"));
        assert_eq!(later("-x PATH ./b").expect("options"), ["-x", &path, "./b"]);
        assert_eq!(later("-x HEDDLE_TEST_UNSET ./b").expect("options"), ["./b"]);
        assert!(later("--host a ./b").expect_err("placement").contains("--host"));
    }
}

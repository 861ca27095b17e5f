//! The flags that set keys of an experiment, made from the table of keys.

use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use experiment::{
    Kind,
    keys::{KEYS, Key},
    scope::{Part, Workload},
};

/// Keys that were set by flags, with the texts of their values, in the order of the table. There
/// are flags for those keys `OF` which this is.
#[derive(Debug, Default)]
pub struct Flags<const OF: char>(pub Vec<(&'static str, String)>);

/// Flags for every key that has one.
pub type AllFlags = Flags<EVERYTHING>;

/// Flags for the keys that say what a pattern is.
pub type PatternFlags = Flags<PATTERNS>;

/// Flags for every key, for a ladder; those that it refuses are not in its help.
pub type LadderFlags = Flags<LADDER>;

/// Flags for the keys that live programs have.
pub type LiveFlags = Flags<PROGRAMS>;

const EVERYTHING: char = '*';
const PATTERNS: char = 'p';
const PROGRAMS: char = 'l';
const LADDER: char = 'a';

/// True if a key belongs to those that there are flags for.
fn belongs(key: &Key, of: char) -> bool {
    match of {
        PATTERNS => key.scope.part == Part::Program,
        PROGRAMS => key.scope.has_workload(Workload::Live),
        _ => true,
    }
}

/// True if a ladder uses a key: it runs a program over every model, and writes no folder.
fn is_for_ladder(key: &Key) -> bool {
    let is_for_program = key.scope.workloads().any(|workload| workload != Workload::Traffic);
    is_for_program && key.table() != "output" && key.name != "network.model"
}

/// The keys that there are flags for, one for each flag.
fn keys(of: char) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| {
        let first = sharing(key).find(|other| belongs(other, of));
        key.flag.is_some() && first.is_some_and(|first| first.name == key.name)
    })
}

/// The keys that the flag of a key sets: which one depends on the kind of the workload.
fn sharing(key: &'static Key) -> impl Iterator<Item = &'static Key> {
    let long = |key: &Key| key.flag.map(|flag| flag.long);
    KEYS.iter().filter(move |other| long(other) == long(key))
}

impl<const OF: char> FromArgMatches for Flags<OF> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let text = |key: &Key| {
            let given =
                matches.value_source(key.name) == Some(clap::parser::ValueSource::CommandLine);
            if !given {
                return None;
            }
            match key.flag?.value {
                "" => Some("true".to_owned()),
                _ if key.kind == Kind::Names => {
                    let all = matches.get_many::<String>(key.name).into_iter().flatten();
                    Some(all.map(String::as_str).collect::<Vec<_>>().join(" "))
                }
                _ => matches.get_one::<String>(key.name).cloned(),
            }
        };
        Ok(Self(keys(OF).filter_map(|key| Some((key.name, text(key)?))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<const OF: char> Args for Flags<OF> {
    /// Most runs use one command: the flags of the others are never made. They are where
    /// [`Command::build`] has been called.
    fn augment_args(command: Command) -> Command {
        command
            .defer(|command| keys(OF).fold(command, |command, key| command.args(argument(key, OF))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument(key: &'static Key, of: char) -> Option<Arg> {
    let flag = key.flag?;
    let heading = match key.table() {
        "workload" | "traces" | "traces.algorithms" if of == PROGRAMS => "Collectives",
        "workload" => "Pattern",
        "traces" | "traces.algorithms" => "Traces",
        "output" => "Output",
        _ => "Simulation",
    };
    let mut doc = key.doc.trim_end_matches('.').replace('`', "");
    if let Kind::Word(words) | Kind::Words(words) = key.kind {
        let names: Vec<_> = words.iter().map(|&(name, _)| name).collect();
        doc.extend([" [possible: ", &names.join(", "), "]"]);
    }
    if let Some(value) = key.default_value().filter(|_| !flag.value.is_empty()) {
        doc.extend([" [default: ", &value.to_string().replace(['"', '[', ']'], ""), "]"]);
    }
    for other in sharing(key).filter(|other| other.name != key.name && belongs(other, of)) {
        doc.extend([
            ". Of ",
            other.table(),
            ": ",
            &other.doc.trim_end_matches('.').replace('`', ""),
        ]);
    }
    let argument = Arg::new(key.name).long(flag.long).help(doc).help_heading(heading);
    let argument = argument.hide(of == LADDER && !is_for_ladder(key));
    let argument = match flag.short {
        Some(short) => argument.short(short),
        None => argument,
    };
    // Launchers say how many ranks compute at a time.
    let argument = match key.name {
        "run.threads" if of == PROGRAMS => argument.visible_alias("jobs"),
        _ => argument,
    };
    Some(match flag.value {
        "" => argument.action(ArgAction::SetTrue),
        value if key.kind == Kind::Names => {
            argument.action(ArgAction::Append).value_name(value).value_parser(value_parser!(String))
        }
        value => argument.value_name(value).value_parser(value_parser!(String)),
    })
}

/// The command line with negative values joined to their flags: `--size -1B` becomes `--size=-1B`.
/// Otherwise the value would be taken for a flag; so its key refuses it, and says what it expects.
pub fn joined(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            // What follows belongs to another program.
            joined.push(argument);
            joined.extend(arguments);
            break;
        }
        let digit = argument.as_encoded_bytes().strip_prefix(b"-").and_then(<[u8]>::first);
        let negative = digit.is_some_and(|digit| digit.is_ascii_digit() || *digit == b'.');
        match joined.last_mut().filter(|last| negative && is_long_flag(last)) {
            Some(flag) => {
                flag.push("=");
                flag.push(argument);
            }
            None => joined.push(argument),
        }
    }
    joined
}

/// True if this is a flag such as `--size`, without a value.
fn is_long_flag(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    bytes.starts_with(b"--") && bytes.len() > 2 && !bytes.contains(&b'=')
}

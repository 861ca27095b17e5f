//! Suggestions for words of the command line that nobody knows.

use std::{ffi::OsString, path::Path};

use clap::{
    Command, CommandFactory, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};
use experiment::keys::KEYS;
use units::nearest;

use crate::{arguments::Arguments, kind};

/// Names that other tools have for what a command does.
const SYNONYMS: &[(&[&str], &str)] = &[
    (&["sim", "simulate", "replay"], "run"),
    (&["mpiexec", "mpirun.mpich", "mpirun.openmpi", "prun", "smpirun", "srun", "exec"], "mpirun"),
    (&["validate", "lint", "verify"], "check"),
    (&["generate", "pattern"], "gen"),
    (&["schedgen", "txt2bin", "compile"], "convert"),
    (&["trace", "liballprof"], "record"),
    (&["mpicc", "smpicc"], "cc"),
    (&["mpicxx", "mpic++", "mpiCC", "smpicxx", "cxx"], "c++"),
    (&["mpifort", "mpif77", "mpif90", "smpif90", "smpiff", "fortran"], "fort"),
    (&["diff"], "compare"),
    (&["sweep"], "study"),
    (&["calibrate", "estimate"], "fit"),
    (&["netgauge"], "measure"),
    (&["topo"], "topology"),
];

/// Adds the nearest known word to what is wrong with a command line, where the parser has none or
/// another tool has the word for something else.
pub fn suggested(mut error: Error, line: &[OsString]) -> Error {
    let found = match error.kind() {
        ErrorKind::InvalidSubcommand => text(&error, ContextKind::InvalidSubcommand)
            .and_then(|word| tip(&word).or_else(|| near_command(&word))),
        ErrorKind::UnknownArgument => text(&error, ContextKind::InvalidArg).and_then(|word| {
            near_flag(line, &word, error.get(ContextKind::SuggestedArg).is_some())
        }),
        ErrorKind::InvalidValue if error.get(ContextKind::SuggestedValue).is_none() => {
            near_value(&error)
        }
        _ => None,
    };
    if let Some((kind, near)) = found {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        // The parser shows a line with the flag that it would have taken.
        error.remove(ContextKind::Usage);
        error.insert(kind, near);
    }
    error
}

/// A part of the parser's message, with its contents.
type Advice = (ContextKind, ContextValue);

/// A word of a message.
fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// Advice in words.
fn said(tip: String) -> Advice {
    (ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]))
}

/// Advice for those who leave out the command.
fn tip(word: &str) -> Option<Advice> {
    let kinds = ["pattern:", "collective:", "traffic:", "booksim:"];
    let is_source = kinds.iter().any(|kind| word.starts_with(kind));
    let taker = if is_source { format!("run {word}") } else { kind::of(Path::new(word))?.taker };
    Some(said(format!("write heddle {taker}")))
}

/// The command nearest to a word.
fn near_command(word: &str) -> Option<Advice> {
    let synonym = SYNONYMS.iter().find(|(words, _)| words.contains(&word));
    let command = Arguments::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let known: Vec<&str> = shown.map(Command::get_name).collect();
    let found = synonym.map(|(_, meant)| *meant).or_else(|| nearest(word, &known))?;
    Some((ContextKind::SuggestedSubcommand, ContextValue::String(found.to_owned())))
}

/// The flag that a word means, or else the key that it means, or else, if the parser has none, the
/// nearest flag.
fn near_flag(line: &[OsString], word: &str, has_one: bool) -> Option<Advice> {
    let mut whole = Arguments::command();
    whole.build();
    let command = whole.find_subcommand(line.get(1)?)?;
    let has_last = command.get_arguments().any(clap::Arg::is_last_set);
    if has_last && !word.starts_with('-') {
        return Some(said(format!("`--` comes before a command: -- {word}")));
    }
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let known: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    let flag = |long: &str| (ContextKind::SuggestedArg, ContextValue::String(format!("--{long}")));
    let named = || KEYS.iter().find(|key| key.short() == name);
    if let Some(key) = experiment::key_of_synonym("", name).or_else(named) {
        if let Some(found) = key.flag.filter(|flag| known.contains(&flag.long)) {
            return Some(flag(found.long));
        }
        if known.contains(&"set") {
            return Some(said(format!("`--set {}=VALUE` sets it", key.name)));
        }
    }
    let near = word.strip_prefix("--").filter(|_| !has_one).and_then(|_| nearest(name, &known));
    near.map(flag)
}

/// The nearest of the values that an argument has.
fn near_value(error: &Error) -> Option<Advice> {
    let word = text(error, ContextKind::InvalidValue)?;
    let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue) else {
        return None;
    };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let near = nearest(&word, &known)?;
    Some((ContextKind::SuggestedValue, ContextValue::String(near.to_owned())))
}

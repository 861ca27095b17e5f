//! The functions of MPI in C, as a table: name, interfaces that have it, type of its result, the
//! function of ours that does it, arguments by kind (MPI: A Message-Passing Interface Standard,
//! 5.0, annex A; headers of MPICH 4.0 and Open MPI 4.1).
//!
//! A kind says what an argument is, as far as interfaces differ in it, and how it goes: `rank` in,
//! `rank>` out, `comm<>` both ways (it is read, and may be changed), `type[count]` an array of as
//! many as the argument `count` says. An array whose contents are the same in all interfaces has no
//! length: `int[]`.
//!
//! Not in the table, because each interface has them in its own way: conversions between C and
//! Fortran (folder `c`).

use crate::interface::Interface;

/// The table, as text.
pub const CSV: &str = include_str!("../functions.csv");

/// The direction of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the library.
    In,
    /// Back.
    Out,
    /// Both.
    InOut,
}

/// An argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// The kind of its values, without direction and length.
    pub kind: String,
    /// Its direction.
    pub flow: Flow,
    /// Of an array: how long it is, if that matters, or an empty text.
    pub length: Option<String>,
}

impl Argument {
    fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.rsplit_once(':')?;
        let (kind, length) = match kind.split_once('[') {
            Some((kind, length)) => (kind, Some(length.trim_end_matches(']').to_owned())),
            None => (kind, None),
        };
        let (kind, flow) = match (kind.strip_suffix("<>"), kind.strip_suffix('>')) {
            (Some(kind), _) => (kind, Flow::InOut),
            (None, Some(kind)) => (kind, Flow::Out),
            (None, None) => (kind, Flow::In),
        };
        Some(Self { name: name.to_owned(), kind: kind.to_owned(), flow, length })
    }

    /// True if it is an array.
    pub fn array(&self) -> bool {
        self.length.is_some()
    }
}

/// A function of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name in C.
    pub name: String,
    /// The interfaces that have it, by letter.
    pub interfaces: String,
    /// The type of its result: `int` (an error code), `double`, `aint`.
    pub result: String,
    /// The function of ours that does it, without its prefix.
    pub core: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

impl Function {
    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.split(',');
        let name = cells.next()?.to_owned();
        let interfaces = cells.next()?.to_owned();
        let result = cells.next()?.to_owned();
        let core = match cells.next()? {
            "" => name.split_once('_')?.1.to_owned(),
            other => other.to_owned(),
        };
        let arguments = cells.next()?.split_whitespace().map(Argument::parse);
        Some(Self { name, interfaces, result, core, arguments: arguments.collect::<Option<_>>()? })
    }

    /// True if an interface has it.
    pub fn is_in(&self, interface: Interface) -> bool {
        self.interfaces.contains(interface.letter())
    }

    /// The argument of a name.
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}

/// All functions.
pub fn all() -> Vec<Function> {
    CSV.lines().skip(1).filter_map(Function::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::{CSV, Flow, all};

    #[test]
    fn every_line_of_the_table_is_a_function() {
        assert_eq!(all().len(), CSV.lines().count() - 1);
    }

    /// MPI-5.0, section 3.7.5.
    #[test]
    fn waitsome_changes_requests_and_gives_statuses() {
        let all = all();
        let found = all.iter().find(|function| function.name == "MPI_Waitsome");
        let requests = found.and_then(|function| function.argument("array_of_requests"));
        assert!(requests.is_some_and(|requests| requests.flow == Flow::InOut
            && requests.kind == "req"
            && requests.length.as_deref() == Some("incount")));
    }
}

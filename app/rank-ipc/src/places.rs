//! Places in the program from which a rank calls MPI.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::Command;

/// A place in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The name of a file, without its folders, and the number of a line: `ring.c:42`.
    Line(String),
    /// The name of a function, of which no line is known.
    Function(String),
}

impl Place {
    /// Returns its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Line(name) | Self::Function(name) => name,
        }
    }
}

/// Behind the name of a function that is called there: `at ring.c:42`, `in solve`.
impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Line(_) => "at",
            Self::Function(_) => "in",
        };
        write!(formatter, "{word} {}", self.name())
    }
}

/// Finds the place in the program from which the library was called.
pub trait Locate: fmt::Debug {
    /// Returns the address at which the program goes on after the call that is under way; 0 if that
    /// cannot be found. It is asked for in each call, if calls are told.
    fn caller(&self) -> usize;

    /// Returns the place of such an address while the call is under way. This may take
    /// milliseconds.
    fn place(&self, caller: usize) -> Option<Place>;
}

/// The places that a rank has told the simulator.
#[derive(Debug, Default)]
pub struct Places {
    /// Their numbers, from 1 on, by address.
    numbers: FxHashMap<usize, u32>,
    /// The last one that was told.
    last: u32,
}

impl Places {
    /// Returns the command that tells the place from which the library was called, unless the last
    /// one that was told is that.
    pub fn tell(&mut self, locate: &dyn Locate) -> Option<Command> {
        let caller = locate.caller();
        let next = self.numbers.len() as u32 + 1;
        let number = *self.numbers.entry(caller).or_insert(next);
        if number == self.last {
            return None;
        }
        self.last = number;
        Some(if number == next {
            let place = locate.place(caller);
            Command::Place(place.map_or_else(String::new, |place| place.name().to_owned()))
        } else {
            Command::At(number)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[derive(Debug, Default)]
    struct Program(Cell<usize>);

    impl Locate for Program {
        fn caller(&self) -> usize {
            self.0.get()
        }

        fn place(&self, caller: usize) -> Option<Place> {
            (caller > 0).then(|| Place::Line(format!("a.c:{caller}")))
        }
    }

    /// A place is named once, and told only where it is another one than before.
    #[test]
    fn places_are_named_once() {
        let (program, mut places) = (Program::default(), Places::default());
        let mut tell = |caller| {
            program.0.set(caller);
            places.tell(&program)
        };
        assert_eq!(tell(7), Some(Command::Place("a.c:7".to_owned())));
        assert_eq!(tell(7), None);
        assert_eq!(tell(0), Some(Command::Place(String::new())));
        assert_eq!(tell(7), Some(Command::At(1)));
        assert_eq!(tell(7), None);
        assert_eq!(tell(0), Some(Command::At(2)));
        assert_eq!(tell(9), Some(Command::Place("a.c:9".to_owned())));
    }

    #[test]
    fn places_behind_functions() {
        assert_eq!(Place::Line("a.c:7".to_owned()).to_string(), "at a.c:7");
        assert_eq!(Place::Function("solve".to_owned()).to_string(), "in solve");
    }
}

//! The constants of the interfaces, as a table: kind, name without prefix, value in each interface.
//!
//! Of handles, Open MPI's column has the name of the object whose address the handle is. A constant
//! that stands twice is given out as its first line says. `0xfff` stands for what the standard
//! interface does not have.

use crate::interface::Interface;

/// The table, as text.
pub const CSV: &str = include_str!("../constants.csv");

/// Kinds of handles, with the names of their types in C.
pub const HANDLES: &[(&str, &str)] = &[
    ("comm", "MPI_Comm"),
    ("type", "MPI_Datatype"),
    ("op", "MPI_Op"),
    ("group", "MPI_Group"),
    ("win", "MPI_Win"),
    ("file", "MPI_File"),
    ("info", "MPI_Info"),
    ("req", "MPI_Request"),
    ("msg", "MPI_Message"),
    ("errh", "MPI_Errhandler"),
    ("session", "MPI_Session"),
];

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The kind of argument that it is a value of.
    pub kind: &'static str,
    /// Its name, without `MPI_`.
    pub name: &'static str,
    /// Its value in the standard interface, if that has it.
    pub standard: Option<i64>,
    mpich: &'static str,
    openmpi: &'static str,
    /// Of a handle: its number in Open MPI's Fortran.
    pub fortran: Option<i64>,
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Constant {
    fn parse(line: &'static str) -> Option<Self> {
        let mut cells = line.split(',');
        let (kind, name, standard) = (cells.next()?, cells.next()?, number(cells.next()?));
        let (mpich, openmpi) = (cells.next()?, cells.next()?);
        Some(Self { kind, name, standard, mpich, openmpi, fortran: number(cells.next()?) })
    }

    /// Its value in an interface, if that has it and it is a number.
    pub fn value(&self, interface: Interface) -> Option<i64> {
        match interface {
            Interface::Standard => self.standard,
            Interface::Mpich => number(self.mpich),
            Interface::OpenMpi => number(self.openmpi),
        }
    }

    /// The object of Open MPI whose address it is.
    pub fn object(&self) -> Option<&'static str> {
        (self.openmpi.starts_with("ompi_")).then_some(self.openmpi)
    }
}

/// All constants.
pub fn all() -> Vec<Constant> {
    CSV.lines().skip(1).filter_map(Constant::parse).collect()
}

/// A limit, such as `MAX_OBJECT_NAME`.
pub fn limit(name: &str, interface: Interface) -> Option<i64> {
    all().iter().find(|constant| constant.name == name)?.value(interface)
}

#[cfg(test)]
mod tests {
    use super::{CSV, all};

    #[test]
    fn every_line_of_the_table_is_a_constant() {
        assert_eq!(all().len(), CSV.lines().count() - 1);
    }
}

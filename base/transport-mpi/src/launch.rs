//! Tells whether a launcher has started several processes, and which of them this one is.

use std::env;

/// An MPI library that the small library is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Open MPI.
    OpenMpi,
    /// MPICH, and those that share its binary interface.
    Mpich,
}

impl Library {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::OpenMpi, Self::Mpich];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }

    /// The name of the small library's file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::OpenMpi => "libheddle-processes-openmpi.so",
            Self::Mpich => "libheddle-processes-mpich.so",
        }
    }
}

/// The place of a process in a job of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The MPI library of the launcher.
    pub library: Library,
    /// The number of this process.
    pub me: usize,
    /// The number of processes, 2 or more.
    pub count: usize,
}

/// The variables that launchers set: the number of a process, and how many there are. Those of
/// Slurm count for steps that it starts with PMIx alone, as a script in an allocation has others.
const VARIABLES: [(Library, &str, &str); 3] = [
    (Library::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    (Library::Mpich, "PMI_RANK", "PMI_SIZE"),
    (Library::OpenMpi, "PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
];

impl Launch {
    /// Returns the place of this process, if a launcher has started several.
    pub fn found() -> Option<Self> {
        Self::among(|name| env::var(name).ok())
    }

    fn among(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name| variable(name)?.parse::<usize>().ok();
        let each =
            |(library, me, count)| Some(Self { library, me: number(me)?, count: number(count)? });
        VARIABLES.into_iter().find_map(each).filter(|launch| launch.count > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(variables: &[(&str, &str)]) -> Option<Launch> {
        Launch::among(|name| {
            let found = variables.iter().find(|variable| variable.0 == name);
            found.map(|variable| variable.1.to_owned())
        })
    }

    #[test]
    fn launchers() {
        let open = [("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_SIZE", "4")];
        let found = Launch { library: Library::OpenMpi, me: 2, count: 4 };
        assert_eq!(among(&open), Some(found));
        // Open MPI's launcher sets these as well.
        assert_eq!(among(&[open[0], open[1], ("PMIX_RANK", "2")]), Some(found));
        let mpich = [("PMI_RANK", "0"), ("PMI_SIZE", "2")];
        assert_eq!(among(&mpich), Some(Launch { library: Library::Mpich, me: 0, count: 2 }));
        let slurm = [("PMIX_RANK", "1"), ("SLURM_STEP_NUM_TASKS", "2")];
        assert_eq!(among(&slurm), Some(Launch { library: Library::OpenMpi, me: 1, count: 2 }));
        // One process, none, and an allocation of Slurm without a step.
        assert_eq!(among(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
        assert_eq!(among(&[]), None);
        assert_eq!(among(&[("SLURM_STEP_NUM_TASKS", "4")]), None);
    }
}

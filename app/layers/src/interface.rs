//! The binary interfaces there are.

/// A binary interface: what a program was compiled and linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interface {
    /// The standard one of MPI 5.0.
    Standard,
    /// The interface of MPICH 4 and its relatives.
    Mpich,
    /// The interface of Open MPI 4.
    OpenMpi,
}

impl Interface {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Mpich, Self::OpenMpi];

    /// The letter that stands for it in `functions.csv`.
    pub fn letter(self) -> char {
        match self {
            Self::Standard => 'a',
            Self::Mpich => 'm',
            Self::OpenMpi => 'o',
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard (MPI 5.0)",
            Self::Mpich => "MPICH",
            Self::OpenMpi => "Open MPI",
        }
    }

    /// The stem of the names of its hand-written C files.
    pub fn stem(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Mpich => "mpich",
            Self::OpenMpi => "openmpi",
        }
    }

    /// The names under which programs ask for its library in C.
    pub fn libraries(self) -> &'static [&'static str] {
        match self {
            Self::Standard => &["libmpi_abi.so.1"],
            Self::Mpich => &["libmpich.so.12", "libmpi.so.12"],
            Self::OpenMpi => &["libmpi.so.40"],
        }
    }

    /// The names under which programs ask for its library in Fortran.
    pub fn fortran_libraries(self) -> &'static [&'static str] {
        match self {
            Self::Standard => &["libmpi_abi_fort.so.1"],
            Self::Mpich => &["libmpichfort.so.12", "libmpifort.so.12"],
            Self::OpenMpi => {
                &["libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"]
            }
        }
    }

    /// The names under which programs ask for its library in C++.
    pub fn cxx_libraries(self) -> &'static [&'static str] {
        match self {
            Self::Standard => &[],
            Self::Mpich => &["libmpichcxx.so.12", "libmpicxx.so.12"],
            Self::OpenMpi => &["libmpi_cxx.so.40"],
        }
    }

    /// All its libraries.
    pub fn all_libraries(self) -> impl Iterator<Item = &'static str> {
        let lists = [self.libraries(), self.fortran_libraries(), self.cxx_libraries()];
        lists.into_iter().flatten().copied()
    }
}

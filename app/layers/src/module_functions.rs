//! The functions in C that only modules of Fortran name: `fortran_modules.c`.
//!
//! MPICH and Open MPI have functions in their modules that are none of MPI's own, under names that
//! the compiler of Fortran makes; programs that are compiled with these modules ask for them.
//! Sources: the libraries of MPICH 4.0 and Open MPI 4.1.

use std::fmt::Write;

use crate::constants::HANDLES;
use crate::interface::Interface;
use crate::modules::SIZES;

/// The names of these functions in MPICH's module `mpi`, for values and for arrays.
const MPICH_SIZES: &[(&str, &str)] = &[
    ("character", "ch"),
    ("logical", "l"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i"),
    ("int64", "i8"),
    ("real32", "r"),
    ("real64", "d"),
    ("complex32", "cx"),
];

/// The names of the functions that tell the size of a type in `SIZES`. In Open MPI there is one for
/// each rank of arrays.
fn size_names(name: &str, interface: Interface) -> Vec<String> {
    let of_text = matches!(name, "character" | "logical");
    match interface {
        Interface::Standard => vec![format!("mpi_sizeof_{name}_")],
        Interface::Mpich => {
            let x = if of_text { "" } else { "x" };
            let of_mpi = MPICH_SIZES.iter().filter(|(of, _)| *of == name);
            of_mpi
                .flat_map(|(_, short)| ["", "v"].map(|array| format!("{short}{array}")))
                .map(|short| format!("__mpi_sizeofs_MOD_mpi_sizeof_{short}"))
                .chain([format!("__mpi_f08_types_MOD_mpi_sizeof_{x}{name}")])
                .collect()
        }
        Interface::OpenMpi => {
            let arrays = (1..=15).map(|rank| format!("mpi_sizeof_{name}_r{rank}_"));
            arrays.chain([format!("mpi_sizeof_{name}_scalar_")]).collect()
        }
    }
}

/// The functions in C behind `MPI_Sizeof`, and for the modules of the standard interface the
/// comparisons of handles of `mpi_f08`: `fortran_modules.c`.
pub fn source(interface: Interface) -> String {
    let mut out = String::from("/* Generated. */\n#include \"fortran.h\"\n");
    for (of, _, bytes) in SIZES {
        for name in size_names(of, interface) {
            let _ = write!(
                out,
                "\nPUBLIC void {name}(void *x, MPI_Fint *size, MPI_Fint *ierror)\n{{\n    \
                 (void)x;\n    *size = {bytes};\n    if (ierror)\n        *ierror = 0;\n}}\n"
            );
        }
    }
    if interface != Interface::OpenMpi {
        out += ENVIRONMENT;
    }
    match interface {
        Interface::Standard => out += &comparisons(),
        Interface::Mpich => out += &mpich_handles(),
        Interface::OpenMpi => {}
    }
    out
}

/// In Fortran it has no arguments of the program.
const ENVIRONMENT: &str = r"
PUBLIC void pmpi_info_create_env_(MPI_Fint *info, MPI_Fint *ierror)
{
    MPI_Info made;
    int error = PMPI_Info_create_env(0, NULL, &made);
    if (!error)
        *info = info_to_fortran(made);
    if (ierror)
        *ierror = error;
}
NAME(pmpi_info_create_env_, void, mpi_info_create_env_, (MPI_Fint *info, MPI_Fint *ierror))
NAME(pmpi_info_create_env_, void, mpi_info_create_env_f08_, (MPI_Fint *info, MPI_Fint *ierror))
NAME(pmpi_info_create_env_, void, pmpi_info_create_env_f08_, (MPI_Fint *info, MPI_Fint *ierror))
";

fn comparisons() -> String {
    let mut out = String::new();
    for (name, sign) in [("eq", "=="), ("ne", "!=")] {
        for (kind, _) in HANDLES {
            let _ = write!(
                out,
                "\nPUBLIC MPI_Fint mpi_{kind}_{name}_(MPI_Fint *a, MPI_Fint *b)\n{{\n\
                 \x20   return *a {sign} *b;\n}}\n"
            );
        }
    }
    out
}

/// The functions for handles in MPICH's modules, besides the comparisons in `c/fortran.c`:
/// comparisons in `mpi`, those with the integers of `mpi` in `mpi_f08`, and changes to what C has,
/// which are integers as well.
fn mpich_handles() -> String {
    let mut out = String::new();
    for (_, of) in HANDLES {
        let kind = of.trim_start_matches("MPI_").to_lowercase();
        for (name, sign) in [("eq", "=="), ("neq", "!=")] {
            let first = match kind.as_str() {
                "session" => format!("__mpi_f08_types_MOD_mpi_session_{name}"),
                _ => format!("__mpi_constants_MOD_{kind}{name}"),
            };
            let mixed = [format!("f08_{name}_f"), format!("f_{name}_f08")]
                .map(|form| format!("__mpi_f08_types_MOD_mpi_{kind}_{form}"));
            for function in [first].into_iter().chain(mixed) {
                let _ = write!(
                    out,
                    "\nPUBLIC MPI_Fint {function}(MPI_Fint *a, MPI_Fint *b)\n{{\n\
                     \x20   return *a {sign} *b;\n}}\n"
                );
            }
        }
        for direction in ["c2f", "f2c"].iter().filter(|_| kind != "file") {
            let _ = write!(
                out,
                "\nPUBLIC MPI_Fint __mpi_f08_types_MOD_mpi_{kind}_{direction}(MPI_Fint handle)\n\
                 {{\n    return handle;\n}}\n"
            );
        }
    }
    for direction in ["c_assign_f08", "f08_assign_c"] {
        let _ = write!(
            out,
            "\n\
             PUBLIC void __mpi_f08_types_MOD_mpi_status_{direction}(MPI_Status *into, const \
             MPI_Status *from)\n{{\n    *into = *from;\n}}\n"
        );
    }
    out
}

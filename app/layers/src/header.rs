//! The header `mpi.h` of the standard interface, for programs compiled with our own wrappers.

use std::fmt::Write;

use crate::constants::{self, Constant, HANDLES};
use crate::interface::Interface;
use crate::table::{self, Function};
use crate::wrappers;

/// Types, functions of the program and what else no table has.
const BEGIN: &str = include_str!("../c/mpi_begin.h");

const END: &str = "
/* Fortran's numbers for handles, which are those of the standard interface. */
extern MPI_Fint *MPI_F_STATUS_IGNORE;
extern MPI_Fint *MPI_F_STATUSES_IGNORE;
extern MPI_F08_status *MPI_F08_STATUS_IGNORE;
extern MPI_F08_status *MPI_F08_STATUSES_IGNORE;

int MPI_Pcontrol(const int level, ...);
int PMPI_Pcontrol(const int level, ...);

#ifdef __cplusplus
}
#endif

#endif
";

/// Kinds of constants that stand in the first part.
const ELSEWHERE: &[&str] = &["safety", "ordering"];

/// The types in C of constants that are addresses.
fn address_type(name: &str) -> &'static str {
    match name {
        "STATUS_IGNORE" | "STATUSES_IGNORE" => "MPI_Status *",
        "ERRCODES_IGNORE" | "UNWEIGHTED" | "WEIGHTS_EMPTY" => "int *",
        "ARGV_NULL" => "char **",
        "ARGVS_NULL" => "char ***",
        _ => "void *",
    }
}

fn definition(constant: &Constant) -> Option<String> {
    let value = constant.standard?;
    let (kind, name) = (constant.kind, constant.name);
    if let Some((_, of)) = HANDLES.iter().find(|(handle, _)| *handle == kind) {
        return Some(format!("#define MPI_{name} (({of}){value:#x})"));
    }
    Some(match kind {
        "address" => format!("#define MPI_{name} (({}){value})", address_type(name)),
        _ if value < 0 => format!("#define MPI_{name} ({value})"),
        _ => format!("#define MPI_{name} {value}"),
    })
}

/// The functions that give numbers for handles, and handles for numbers.
fn numbers(out: &mut String) {
    for (_, of) in HANDLES {
        let name = match *of {
            "MPI_Datatype" => "MPI_Type",
            other => other,
        };
        for prefix in ["", "P"] {
            let _ = write!(
                out,
                "int {prefix}{name}_toint({of} handle);\n{of} {prefix}{name}_fromint(int number);\n\
                 MPI_Fint {prefix}{name}_c2f({of} handle);\n\
                 {of} {prefix}{name}_f2c(MPI_Fint number);\n"
            );
        }
    }
}

/// Functions that convert a status to that of another language, with what they take and give.
const STATUSES: &[(&str, &str, &str)] = &[
    ("c2f", "MPI_Status *c_status", "MPI_Fint *f_status"),
    ("f2c", "MPI_Fint *f_status", "MPI_Status *c_status"),
    ("c2f08", "MPI_Status *c_status", "MPI_F08_status *f08_status"),
    ("f082c", "MPI_F08_status *f08_status", "MPI_Status *c_status"),
    ("f082f", "MPI_F08_status *f08_status", "MPI_Fint *f_status"),
    ("f2f08", "MPI_Fint *f_status", "MPI_F08_status *f08_status"),
];

fn statuses(out: &mut String) {
    for (name, from, to) in STATUSES {
        for prefix in ["", "P"] {
            let _ = writeln!(out, "int {prefix}MPI_Status_{name}(const {from}, {to});");
        }
    }
}

fn prototype(out: &mut String, function: &Function) {
    let gives = wrappers::result(function);
    let parameters = wrappers::parameters(function, Interface::Standard);
    for prefix in ["", "P"] {
        let _ = writeln!(out, "{gives} {prefix}{}({parameters});", function.name);
    }
}

/// The text of `mpi.h`.
pub fn text() -> String {
    let mut out = BEGIN.to_owned();
    let mut kind = "";
    // The standard interface has no datatypes for bounds.
    let known = |constant: &&Constant| {
        constant.standard.is_some_and(|value| value < 0xf00 || constant.kind != "type")
            && !constant.name.is_empty()
            && !ELSEWHERE.contains(&constant.kind)
    };
    let mut seen = Vec::new();
    for constant in constants::all().iter().filter(known) {
        if constant.kind != kind {
            kind = constant.kind;
            out.push('\n');
        }
        if let Some(definition) = definition(constant).filter(|_| !seen.contains(&constant.name)) {
            // This one is an alias of another.
            if constant.name != "C_COMPLEX" {
                let _ = writeln!(out, "{definition}");
            }
            seen.push(constant.name);
        }
    }
    out.push('\n');
    for function in
        table::all().iter().filter(|function| wrappers::has(function, Interface::Standard))
    {
        prototype(&mut out, function);
    }
    numbers(&mut out);
    statuses(&mut out);
    out + END
}

//! Fortran's view of the standard interface: `mpif.h`, and the modules `mpi` and `mpi_f08`.
//!
//! A module has no code of its own: what it names lies in the library for Fortran, so that a
//! program needs nothing else ([`crate::module_functions`]). `mpif.h` has no interfaces for
//! procedures; those of the modules pass buffers by address.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::constants::{self, Constant, HANDLES};
use crate::fortran;
use crate::interface::Interface;
use crate::table::{self, Argument, Flow, Function};

/// Sentinels: declared name with shape, type, common block.
const SENTINELS: &[(&str, &str, &str)] = &[
    ("MPI_BOTTOM", "integer", "mpi_fortran_bottom"),
    ("MPI_IN_PLACE", "integer", "mpi_fortran_in_place"),
    ("MPI_BUFFER_AUTOMATIC", "integer", "mpi_fortran_buffer_automatic"),
    ("MPI_UNWEIGHTED(1)", "integer", "mpi_fortran_unweighted"),
    ("MPI_WEIGHTS_EMPTY(1)", "integer", "mpi_fortran_weights_empty"),
    ("MPI_ERRCODES_IGNORE(1)", "integer", "mpi_fortran_errcodes_ignore"),
    ("MPI_ARGV_NULL(1)", "character", "mpi_fortran_argv_null"),
    ("MPI_ARGVS_NULL(1,1)", "character", "mpi_fortran_argvs_null"),
];
/// The constants that are statuses.
const STATUSES: &[(&str, &str)] = &[
    ("MPI_STATUS_IGNORE", "mpi_fortran_status_ignore"),
    ("MPI_STATUSES_IGNORE", "mpi_fortran_statuses_ignore"),
];

/// Numbers that no table has.
const NUMBERS: &[(&str, i64)] = &[
    ("MPI_VERSION", 4),
    ("MPI_SUBVERSION", 1),
    ("MPI_ABI_VERSION", 1),
    ("MPI_ABI_SUBVERSION", 0),
    ("MPI_STATUS_SIZE", 8),
    ("MPI_SOURCE", 1),
    ("MPI_TAG", 2),
    ("MPI_ERROR", 3),
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_INTEGER_KIND", 4),
];

/// Predefined functions.
const FUNCTIONS: &[&str] = &[
    "MPI_NULL_COPY_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_DUP_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_COMM_DUP_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_NULL_DELETE_FN",
    "MPI_WIN_DUP_FN",
    "MPI_CONVERSION_FN_NULL",
];

/// Types whose size `MPI_Sizeof` tells: name, declaration, bytes.
pub(crate) const SIZES: &[(&str, &str, u32)] = &[
    ("character", "character(len=*)", 1),
    ("logical", "logical", 4),
    ("int8", "integer(1)", 1),
    ("int16", "integer(2)", 2),
    ("int32", "integer(4)", 4),
    ("int64", "integer(8)", 8),
    ("real32", "real(4)", 4),
    ("real64", "real(8)", 8),
    ("real128", "real(16)", 16),
    ("complex32", "complex(4)", 8),
    ("complex64", "complex(8)", 16),
    ("complex128", "complex(16)", 32),
];

/// Functions that MPI-3.0 removed or `mpi_f08` never had.
const OLD: &[&str] = &[
    "MPI_Errhandler_create",
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPI_Attr_delete",
    "MPI_Keyval_free",
    "MPI_Type_extent",
    "MPI_Type_lb",
    "MPI_Type_ub",
];

/// The handle of types that the standard interface does not have.
const UNAVAILABLE: i64 = 0xfff;

/// A constant's value in Fortran. Texts are one shorter, since they need no terminator.
fn value(constant: &Constant) -> Option<i64> {
    let known =
        constant.standard.filter(|value| *value != UNAVAILABLE || constant.kind != "type")?;
    Some(if constant.name.starts_with("MAX_") { known - 1 } else { known })
}

/// The constants that Fortran has, each once.
fn known() -> Vec<(Constant, i64)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for constant in constants::all() {
        let elsewhere = ["address", "safety", "ordering"].contains(&constant.kind);
        let tool = constant.name.starts_with("T_");
        let wanted = !elsewhere && !tool && !constant.name.is_empty() && seen.insert(constant.name);
        if let Some(value) = value(&constant).filter(|_| wanted) {
            found.push((constant, value));
        }
    }
    found
}

/// The declarations of `mpif.h` and `mpi`, in lines that are right in fixed and in free form.
fn declarations() -> String {
    let mut out = String::new();
    let mut parameter = |name: &str, value: i64| {
        let _ = write!(out, "      integer {name}\n      parameter ({name}={value})\n");
    };
    for (name, value) in NUMBERS {
        parameter(name, *value);
    }
    for (constant, value) in known() {
        parameter(&format!("MPI_{}", constant.name), value);
    }
    parameter("MPI_LONG_LONG_INT", 0x20b);
    out += "      integer(8) MPI_DISPLACEMENT_CURRENT\n\
            \x20     parameter (MPI_DISPLACEMENT_CURRENT=-1)\n";
    for name in ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"] {
        let _ = write!(out, "      logical {name}\n      parameter ({name}=.false.)\n");
    }
    for (name, of, block) in SENTINELS {
        let plain = name.split('(').next().unwrap_or(name);
        let _ = write!(out, "      {of} {name}\n      common /{block}/ {plain}\n");
    }
    for ((name, block), shape) in STATUSES.iter().zip(["MPI_STATUS_SIZE", "MPI_STATUS_SIZE,1"]) {
        let _ = write!(out, "      integer {name}({shape})\n      common /{block}/ {name}\n");
    }
    out
}

/// The functions that are named where they are not called.
fn externals() -> String {
    let mut out = String::new();
    for name in FUNCTIONS {
        let _ = writeln!(out, "      external {name}");
    }
    for name in ["MPI_WTIME", "MPI_WTICK", "PMPI_WTIME", "PMPI_WTICK"] {
        let _ = write!(out, "      external {name}\n      double precision {name}\n");
    }
    for name in ["MPI_AINT_ADD", "MPI_AINT_DIFF"] {
        let _ = write!(out, "      external {name}\n      integer(8) {name}\n");
    }
    out
}

/// The text of `mpif.h`.
pub fn mpif() -> String {
    format!(
        "! The standard interface of MPI 5.0, as heddle serves it.\n{}{}",
        declarations(),
        externals()
    )
}

/// `MPI_Sizeof`, for values of any rank.
fn sizes() -> String {
    let mut out = String::from("      interface MPI_Sizeof\n");
    for (name, of, _) in SIZES {
        let _ = write!(
            out,
            "      subroutine mpi_sizeof_{name}(x, size, ierror)\n      {of} :: x(..)\n      \
             integer :: size\n      integer, optional :: ierror\n      end subroutine\n"
        );
    }
    out + "      end interface\n"
}

/// The module `mpi`.
pub fn mpi() -> String {
    format!(
        "! The standard interface of MPI 5.0, as heddle serves it.\n      module mpi\n\
         \x20     implicit none\n{}{}{}{}{}{}{}      end module\n",
        types(),
        declarations(),
        externals(),
        procedures(),
        equalities(),
        statuses(Module::Mpi),
        sizes()
    )
}

/// The interfaces of procedures in the module `mpi`. Those of MPI-1 that MPI-3.0 removed have names
/// alone.
fn procedures() -> String {
    let mut out = String::new();
    let all = table::all();
    let there = |function: &&Function| {
        let name = function.name.as_str();
        fortran::generated(function, Interface::Standard) && !OLD.contains(&name)
    };
    let small = |function: &&Function| {
        let of = function.name.strip_suffix("_c");
        function.result == "int" && !of.is_some_and(|of| all.iter().any(|other| other.name == of))
    };
    for function in all.iter().filter(there).filter(small) {
        let _ = writeln!(out, "interface");
        interface(&mut out, function, Module::Mpi, "");
        out += "end interface\n";
    }
    let in_both = |name: &&&str| !fortran::BY_HAND.contains(name);
    for name in OLD.iter().filter(in_both).chain(fortran::BY_HAND) {
        let _ = writeln!(out, "external :: {name}");
    }
    out
}

/// The types of handles and statuses, which both modules have.
fn types() -> String {
    let mut out = String::new();
    for (_, of) in HANDLES {
        let _ = writeln!(out, "type, bind(C) :: {of}\n  integer :: MPI_VAL\nend type");
    }
    out + "type, bind(C) :: MPI_Status\n\
           \x20 integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal(5)\nend type\n"
}

/// Comparisons of handles.
fn equalities() -> String {
    let mut out = String::new();
    for (name, sign) in [("eq", "=="), ("ne", "/=")] {
        let _ = writeln!(out, "interface operator({sign})");
        for (kind, of) in HANDLES {
            let _ = writeln!(
                out,
                "function mpi_{kind}_{name}(a, b) result(r)\nimport :: {of}\n\
                 type({of}), intent(in) :: a, b\nlogical :: r\nend function"
            );
        }
        out += "end interface\n";
    }
    out
}

/// The functions that convert statuses of one module to those of the other.
fn statuses(module: Module) -> String {
    let mut out = String::new();
    let (old, new) = ("integer :: f_status(MPI_STATUS_SIZE)", "type(MPI_Status) :: f08_status");
    for (name, arguments) in [("f2f08", "f_status, f08_status"), ("f082f", "f08_status, f_status")]
    {
        let (behind, optional) = module.ends();
        for prefix in module.prefixes() {
            let name = format!("{prefix}MPI_Status_{name}");
            let _ = writeln!(
                out,
                "interface {name}\nsubroutine {name}{behind}({arguments}, ierror)\nimport\n\
                 {old}\n{new}\ninteger{optional} :: ierror\nend subroutine\nend interface"
            );
        }
    }
    out
}

/// The constants of `mpi_f08`.
fn constants_of_f08() -> String {
    let mut out = String::new();
    for (name, value) in NUMBERS {
        let _ = writeln!(out, "integer, parameter :: {name} = {value}");
    }
    for (constant, value) in known() {
        let of = HANDLES.iter().find(|(kind, _)| *kind == constant.kind);
        let name = constant.name;
        let _ = match of {
            Some((_, of)) => writeln!(out, "type({of}), parameter :: MPI_{name} = {of}({value})"),
            None => writeln!(out, "integer, parameter :: MPI_{name} = {value}"),
        };
    }
    out += "type(MPI_Datatype), parameter :: MPI_LONG_LONG_INT = MPI_Datatype(523)\n\
            integer(8), parameter :: MPI_DISPLACEMENT_CURRENT = -1\n\
            logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.\n\
            logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.\n";
    for (name, of, block) in SENTINELS {
        let of = if *of == "character" { "character(c_char)" } else { "integer" };
        let _ = writeln!(out, "{of}, bind(C, name=\"{block}_\"), target :: {name}");
    }
    for ((name, block), shape) in STATUSES.iter().zip(["", "(1)"]) {
        let _ =
            writeln!(out, "type(MPI_Status), bind(C, name=\"{block}_\"), target :: {name}{shape}");
    }
    out
}

/// A module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Module {
    Mpi,
    F08,
}

impl Module {
    /// The ending of names of procedures, and the attribute of their error codes, which says if
    /// these may be absent.
    fn ends(self) -> (&'static str, &'static str) {
        match self {
            Self::Mpi => ("", ""),
            Self::F08 => ("_f08", ", optional"),
        }
    }

    /// The prefixes of names of procedures: `mpi_f08` declares those of the profiling interface as
    /// well, whose code may be absent.
    const fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Mpi => &[""],
            Self::F08 => &["", "P"],
        }
    }
}

/// The declaration of an argument in a module.
fn declaration(argument: &Argument, module: Module) -> String {
    let name = &argument.name;
    let old = module == Module::Mpi;
    if fortran::choice(argument) || (old && argument.kind == "address") {
        return format!("!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\ntype(*), dimension(*) :: {name}");
    }
    let kind = argument.kind.as_str();
    let of = match kind {
        _ if kind.starts_with("fn.") => return format!("external :: {name}"),
        "count" => "integer(MPI_COUNT_KIND)".to_owned(),
        "aint" | "attribute" | "pointer" | "variable" => "integer(MPI_ADDRESS_KIND)".to_owned(),
        "offset" => "integer(MPI_OFFSET_KIND)".to_owned(),
        "logical" => "logical".to_owned(),
        "status" if !old => "type(MPI_Status)".to_owned(),
        "address" => "type(c_ptr)".to_owned(),
        "argv" | "commands" | "argvs" | "text" | "object-name" | "processor-name"
        | "error-string" | "library-version" | "port-name" | "info-key" | "datarep" => {
            "character(len=*)".to_owned()
        }
        _ => match HANDLES.iter().find(|(handle, _)| *handle == kind) {
            Some((_, of)) if !old => format!("type({of})"),
            _ => "integer".to_owned(),
        },
    };
    let shape = match kind {
        "status" if old && argument.array() => "(MPI_STATUS_SIZE,*)",
        "status" if old => "(MPI_STATUS_SIZE)",
        "triples" => "(3,*)",
        "argvs" => "(count,*)",
        "weights" | "contents" => "(*)",
        _ if argument.array() && kind != "text" => "(*)",
        _ => "",
    };
    // A sentinel may stand for what comes back.
    let intent = if argument.flow == Flow::In && kind != "status" { ", intent(in)" } else { "" };
    format!("{of}{intent} :: {name}{shape}")
}

/// The arguments that Fortran has.
fn arguments(function: &Function) -> Vec<&Argument> {
    let absent = |argument: &&Argument| {
        argument.kind != "int-pointer" && (argument.kind != "argv" || argument.array())
    };
    function.arguments.iter().filter(absent).collect()
}

/// Writes the interface of one function, whose name has a prefix: `P` in the profiling interface.
fn interface(out: &mut String, function: &Function, module: Module, prefix: &str) {
    let all = arguments(function);
    let mut names: Vec<&str> = all.iter().map(|argument| argument.name.as_str()).collect();
    let code = function.result == "int";
    if code {
        names.push("ierror");
    }
    let what = if code { "subroutine" } else { "function" };
    let (behind, optional) = module.ends();
    let _ = write!(out, "{what} {prefix}{}{behind}(&\n  {})", function.name, names.join(", &\n  "));
    out.push_str(if code { "\n" } else { " result(r)\n" });
    out.push_str("import\n");
    for argument in all {
        let _ = writeln!(out, "{}", declaration(argument, module));
    }
    let _ = match function.result.as_str() {
        "int" => writeln!(out, "integer{optional} :: ierror"),
        "double" => writeln!(out, "double precision :: r"),
        _ => writeln!(out, "integer(MPI_ADDRESS_KIND) :: r"),
    };
    let _ = writeln!(out, "end {what}");
}

/// The types of a function's arguments, which tell it from its form with large counts.
fn signature(function: &Function) -> Vec<String> {
    let all = arguments(function).into_iter().map(|argument| {
        let text = declaration(argument, Module::F08);
        // Counts and addresses are of one kind.
        let text = text.replace("MPI_COUNT_KIND", "8").replace("MPI_ADDRESS_KIND", "8");
        text.split("::").next().unwrap_or_default().to_owned()
    });
    all.collect()
}

/// `MPI_Info_create_env`, which takes no arguments of a program in Fortran.
const WITHOUT_ARGUMENTS: &str = "interface MPI_Info_create_env
subroutine MPI_Info_create_env_f08(info, ierror)
import
type(MPI_Info) :: info
integer, optional :: ierror
end subroutine
end interface
";

/// The forms of functions that programs pass, as the standard calls them: name, arguments, and
/// their declarations.
const CALLBACKS: &[(&str, &str, &str)] = &[
    (
        "User_function",
        "invec, inoutvec, len, datatype",
        "type(c_ptr), value :: invec, inoutvec\ninteger :: len\ntype(MPI_Datatype) :: datatype",
    ),
    (
        "User_function_c",
        "invec, inoutvec, len, datatype",
        "type(c_ptr), value :: invec, inoutvec\ninteger(MPI_COUNT_KIND) :: len\n\
         type(MPI_Datatype) :: datatype",
    ),
    (
        "Grequest_query_function",
        "extra_state, status, ierror",
        "integer(MPI_ADDRESS_KIND) :: extra_state\ntype(MPI_Status) :: status\ninteger :: ierror",
    ),
    (
        "Grequest_free_function",
        "extra_state, ierror",
        "integer(MPI_ADDRESS_KIND) :: extra_state\ninteger :: ierror",
    ),
    (
        "Grequest_cancel_function",
        "extra_state, complete, ierror",
        "integer(MPI_ADDRESS_KIND) :: extra_state\nlogical :: complete\ninteger :: ierror",
    ),
    (
        "Datarep_extent_function",
        "datatype, extent, extra_state, ierror",
        "type(MPI_Datatype) :: datatype\ninteger(MPI_ADDRESS_KIND) :: extent, extra_state\n\
         integer :: ierror",
    ),
    (
        "Datarep_conversion_function",
        "userbuf, datatype, count, filebuf, position, extra_state, ierror",
        "type(c_ptr), value :: userbuf, filebuf\ntype(MPI_Datatype) :: datatype\n\
         integer :: count, ierror\ninteger(MPI_OFFSET_KIND) :: position\n\
         integer(MPI_ADDRESS_KIND) :: extra_state",
    ),
];

/// The abstract interfaces of `mpi_f08`.
fn callbacks() -> String {
    let mut out = String::from("abstract interface\n");
    let mut one = |name: &str, arguments: &str, declarations: &str| {
        let _ = writeln!(
            out,
            "subroutine MPI_{name}({arguments})\nimport\n{declarations}\nend subroutine"
        );
    };
    for (name, arguments, declarations) in CALLBACKS {
        one(name, arguments, declarations);
    }
    for (kind, of) in [("Comm", "comm"), ("Type", "datatype"), ("Win", "win")] {
        let handle =
            if of == "datatype" { "MPI_Datatype".to_owned() } else { format!("MPI_{kind}") };
        let key = format!("{}_keyval", kind.to_lowercase());
        let common = format!("type({handle}) :: {of}\ninteger :: {key}, ierror\n");
        one(
            &format!("{kind}_copy_attr_function"),
            &format!(
                "{of}, {key}, extra_state, &\nattribute_val_in, attribute_val_out, flag, ierror"
            ),
            &format!(
                "{common}integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, \
                 attribute_val_out\nlogical :: flag"
            ),
        );
        one(
            &format!("{kind}_delete_attr_function"),
            &format!("{of}, {key}, attribute_val, extra_state, ierror"),
            &format!("{common}integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state"),
        );
    }
    for kind in ["Comm", "Win", "File", "Session"] {
        let of = kind.to_lowercase();
        one(
            &format!("{kind}_errhandler_function"),
            &format!("{of}, error_code"),
            &format!("type(MPI_{kind}) :: {of}\ninteger :: error_code"),
        );
    }
    out + "end interface\n"
}

/// The module `mpi_f08`.
pub fn mpi_f08() -> String {
    let mut out = String::from(
        "! The standard interface of MPI 5.0, as heddle serves it.\nmodule mpi_f08\n\
         use, intrinsic :: iso_c_binding, only: c_ptr, c_char\nimplicit none\n\
         private :: c_ptr, c_char\n",
    );
    out += &types();
    out += &constants_of_f08();
    out += &equalities();
    out += &statuses(Module::F08);
    let all = table::all();
    let there = |function: &&Function| {
        fortran::generated(function, Interface::Standard) && !OLD.contains(&function.name.as_str())
    };
    for function in all.iter().filter(there) {
        let small = function.name.strip_suffix("_c");
        let overloads = small.and_then(|small| all.iter().find(|other| other.name == small));
        if overloads.is_some_and(|small| signature(small) != signature(function)) {
            continue;
        }
        let large = format!("{}_c", function.name);
        let large = all.iter().find(|other| other.name == large);
        let large = large.filter(|large| signature(large) != signature(function));
        for prefix in Module::F08.prefixes() {
            let _ = writeln!(out, "interface {prefix}{}", function.name);
            for form in std::iter::once(function).chain(large) {
                interface(&mut out, form, Module::F08, prefix);
            }
            out += "end interface\n";
        }
    }
    for name in FUNCTIONS {
        let _ = writeln!(out, "external :: {name}");
    }
    out += &callbacks();
    out += WITHOUT_ARGUMENTS;
    out += &WITHOUT_ARGUMENTS.replace("MPI_Info_create_env", "PMPI_Info_create_env");
    out += &sizes();
    out + "end module\n"
}

//! The Fortran interfaces: functions by lower-case names, over those for C of the same library.
//!
//! Everything comes by reference; texts have hidden lengths at the end and no terminator; handles
//! are integers; logicals are compatible with C's; statuses are arrays laid out like C's structs;
//! sentinels are variables whose addresses count (`c/fortran.h`). In `mpi_f08` handles and statuses
//! are structs with the same contents, the error code may be absent, and with MPICH buffers come as
//! descriptors. A section of an array that is not contiguous becomes a datatype where a call has
//! one buffer with a count and a datatype; elsewhere it is refused.

use std::fmt::Write;

use crate::arguments::translator;
use crate::constants::HANDLES;
use crate::interface::Interface;
use crate::table::{self, Argument, Flow, Function};
use crate::wrappers;

/// Functions whose Fortran form differs from what the table says: written by hand, in
/// `c/fortran.c`, or only there in C.
pub const BY_HAND: &[&str] = &[
    "MPI_Address",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Info_create_env",
    "MPI_Keyval_create",
    "MPI_Type_extent",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
];

/// Functions that have another name in Open MPI's module `mpi` where an address is a `type(c_ptr)`.
const WITH_POINTERS: &[&str] =
    &["MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"];

/// True if the code of a function is generated.
pub fn generated(function: &Function, interface: Interface) -> bool {
    !BY_HAND.contains(&function.name.as_str())
        && !function.name.starts_with("MPI_T_")
        && !function.name.starts_with("MPI_Abi_")
        && wrappers::has(function, interface)
}

/// An argument on its way from Fortran to C.
#[derive(Default)]
struct Passed {
    /// Its declaration; without one, Fortran does not have it.
    parameter: Option<String>,
    before: String,
    pass: String,
    after: String,
    /// It is a text, with a hidden length.
    text: bool,
}

/// An argument that comes by address and goes by address.
fn pointer(argument: &Argument, of: &str) -> Passed {
    let name = &argument.name;
    Passed { parameter: Some(format!("{of} *{name}")), pass: name.clone(), ..Passed::default() }
}

/// An argument that comes by address and goes by value.
fn dereferenced(argument: &Argument, of: &str) -> Passed {
    Passed { pass: format!("*{}", argument.name), ..pointer(argument, of) }
}

/// True if an argument is a buffer of any type.
pub fn choice(argument: &Argument) -> bool {
    let name = argument.name.as_str();
    match argument.kind.as_str() {
        "in" | "out" | "buffer" => true,
        "pointer" | "const-pointer" => name == "base",
        _ => false,
    }
}

fn handle(argument: &Argument, of: &str) -> Passed {
    let (name, with) = (&argument.name, translator(&argument.kind));
    let mut made = pointer(argument, "MPI_Fint");
    if argument.array() {
        let length = length(argument);
        let reads = argument.flow != Flow::Out;
        made.before = format!("LIST({of}, c_{name}, {name}, {length});\n");
        if reads {
            let _ = write!(
                made.before,
                "for (MPI_Count i = 0; i < n_c_{name}; i++)\n        \
                 c_{name}[i] = {with}_from_fortran({name}[i]);\n"
            );
        } else {
            let _ = writeln!(
                made.before,
                "memset(c_{name}, 0, (size_t)n_c_{name} * sizeof *c_{name});"
            );
        }
        if argument.flow != Flow::In {
            let given = if reads { "true" } else { "c_{name}[i]" }.replace("{name}", name);
            made.after = format!(
                "for (MPI_Count i = 0; i < n_c_{name}; i++)\n        if ({given})\n            \
                 {name}[i] = {with}_to_fortran(c_{name}[i]);\n    "
            );
        }
        let _ = writeln!(made.after, "RELEASE(c_{name});");
        made.pass = format!("c_{name}");
        return made;
    }
    match argument.flow {
        Flow::In => made.pass = format!("{with}_from_fortran(*{name})"),
        Flow::Out => {
            made.before = format!("{of} c_{name};\n");
            made.after = format!("if (!code)\n        *{name} = {with}_to_fortran(c_{name});\n");
            made.pass = format!("&c_{name}");
        }
        Flow::InOut => {
            made.before = format!("{of} c_{name} = {with}_from_fortran(*{name});\n");
            made.after = format!("*{name} = {with}_to_fortran(c_{name});\n");
            made.pass = format!("&c_{name}");
        }
    }
    made
}

/// The condition that this rank is the root, whose arguments alone count.
const AT_ROOT: &str = "at_root(comm_in(comm_from_fortran(*comm)), *root)";

/// The length of an array, as an expression of C over Fortran's arguments.
fn length(argument: &Argument) -> String {
    let here = "comm_in(comm_from_fortran(*comm))";
    let plain = match argument.length.as_deref() {
        Some("peers") => format!("peers({here})"),
        Some("in-degree") => format!("in_degree({here})"),
        Some("out-degree") => format!("out_degree({here})"),
        Some("count-at-root") => format!("{AT_ROOT} ? *count : 0"),
        Some(other) => format!("*{other}"),
        None => "0".to_owned(),
    };
    match argument.name.as_str() {
        "sendtypes" => format!("in_place(buffer_f(sendbuf)) ? 0 : {plain}"),
        _ => plain,
    }
}

/// An argument that tells the length of a text, which in C has a terminator: the program says how
/// much it wants.
const LENGTHS: &[&str] = &["buflen", "pset_len"];

fn text_length(argument: &Argument, function: &Function) -> Passed {
    let name = &argument.name;
    let text = function.arguments.iter().find(|one| one.kind == "text" && one.flow == Flow::Out);
    let text = text.map_or("", |text| text.name.as_str());
    Passed {
        before: format!("int c_{name} = text_limit(*{name}, {text}_length), wanted = c_{name};\n"),
        pass: format!("&c_{name}"),
        after: format!("if (!({}))\n        *{name} = c_{name} - 1;\n", nothing_found(function)),
        ..pointer(argument, "MPI_Fint")
    }
}

/// The condition that a call left its results as they were, as an expression of C.
fn nothing_found(function: &Function) -> &'static str {
    if function.argument("flag").is_some() { "code || !*flag" } else { "code" }
}

fn text(argument: &Argument, function: &Function) -> Passed {
    let name = &argument.name;
    let mut made = Passed { text: true, ..pointer(argument, "char") };
    made.pass = format!("c_{name}");
    if argument.flow == Flow::In {
        // Blanks before a name are a part of it.
        let which = if function.name.ends_with("_set_name") { "name_f" } else { "text_f" };
        made.before = format!("char *c_{name} = {which}({name}, {name}_length);\n");
        made.after = format!("free(c_{name});\n");
    } else {
        made.before = format!("char *c_{name} = text_room({name}_length);\n");
        let limited = LENGTHS.iter().any(|length| function.argument(length).is_some());
        let unless = if limited { " || wanted == 0" } else { "" };
        let untouched = format!("{}{unless}", nothing_found(function));
        made.after = format!("text_to_fortran({name}, {name}_length, c_{name}, {untouched});\n");
    }
    made
}

/// Lists of texts: up to a blank one, as many as `count` says, or so many lists in the columns of
/// an array.
fn texts(argument: &Argument) -> Passed {
    let (name, kind) = (&argument.name, argument.kind.as_str());
    let count = if kind == "argv" { "-1" } else { "*count" };
    let (one, of) = if kind == "argvs" { ("lists_f", "char ***") } else { ("texts_f", "char **") };
    let free = if kind == "argvs" { "lists_free" } else { "texts_free" };
    Passed {
        text: true,
        before: format!("{of}c_{name} = {one}({name}, {name}_length, {AT_ROOT} ? {count} : 0);\n"),
        pass: format!("c_{name}"),
        after: format!("{free}(c_{name});\n"),
        ..pointer(argument, "char")
    }
}

/// An index of C, which begins with 0.
fn index(argument: &Argument, function: &Function) -> Passed {
    let name = &argument.name;
    let many = function.argument("outcount").map(|_| "*outcount");
    let after = match (argument.array(), many) {
        (true, Some(many)) => {
            format!("for (int i = 0; !code && i < {many}; i++)\n        {name}[i]++;\n")
        }
        _ => format!("if (!code && *{name} >= 0)\n        ++*{name};\n"),
    };
    Passed { after, ..pointer(argument, "MPI_Fint") }
}

fn status(argument: &Argument) -> Passed {
    let name = &argument.name;
    let which = if argument.array() { "statuses_f" } else { "status_f" };
    Passed { pass: format!("{which}({name})"), ..pointer(argument, "MPI_Fint") }
}

fn attribute(argument: &Argument, function: &Function) -> Passed {
    let name = &argument.name;
    let keyval = function.arguments.iter().find(|other| other.kind == "keyval");
    let keyval = keyval.map_or("", |keyval| keyval.name.as_str());
    Passed {
        before: format!("void *c_{name} = NULL;\n"),
        pass: format!("&c_{name}"),
        after: format!(
            "if (!code && *flag)\n        *{name} = attribute_to_fortran(*{keyval}, c_{name});\n"
        ),
        ..pointer(argument, "MPI_Aint")
    }
}

fn callback(argument: &Argument) -> Passed {
    let kind = argument.kind.trim_start_matches("fn.");
    let name = &argument.name;
    let pass = match kind {
        _ if kind.contains("opy_") => format!("(void *)copy_f({name})"),
        _ if kind.contains("elete_") => format!("(void *)delete_f({name})"),
        _ if kind.contains("onversion") => format!("(void *)conversion_f({name})"),
        _ => format!("(void *){name}"),
    };
    Passed { parameter: Some(format!("function {name}")), pass, ..Passed::default() }
}

/// The way of an argument from Fortran to C.
fn passed(argument: &Argument, function: &Function) -> Passed {
    let name = &argument.name;
    let kind = argument.kind.as_str();
    let of = HANDLES.iter().find(|(handle, _)| *handle == kind);
    let number = match kind {
        "count" => "MPI_Count",
        "aint" => "MPI_Aint",
        "offset" => "MPI_Offset",
        _ => "MPI_Fint",
    };
    match kind {
        _ if choice(argument) => {
            Passed { pass: format!("(void *)buffer_f({name})"), ..pointer(argument, "void") }
        }
        _ if of.is_some() => handle(argument, of.map_or("", |(_, of)| of)),
        "text" | "object-name" | "processor-name" | "error-string" | "library-version"
        | "port-name" | "info-key" | "datarep" => text(argument, function),
        "int" if LENGTHS.contains(&name.as_str()) => text_length(argument, function),
        "argv" | "commands" | "argvs" if argument.array() => texts(argument),
        "int-pointer" | "argv" => Passed { pass: "NULL".to_owned(), ..Passed::default() },
        "index" => index(argument, function),
        "status" => status(argument),
        "keyval" if argument.flow == Flow::In => {
            Passed { pass: format!("keyval_f(*{name})"), ..pointer(argument, "MPI_Fint") }
        }
        "attribute" => attribute(argument, function),
        // A buffer's address cannot be given back to a Fortran variable of any type.
        "address" if name == "buffer_addr" => Passed {
            before: "void *c_buffer_addr = NULL;\n    (void)buffer_addr;\n".to_owned(),
            pass: "&c_buffer_addr".to_owned(),
            ..pointer(argument, "void")
        },
        "address" => pointer(argument, "void"),
        "pointer" | "const-pointer" => {
            Passed { pass: format!("(void *)*{name}"), ..pointer(argument, "MPI_Aint") }
        }
        "variable" => Passed { pass: format!("(void *){name}"), ..pointer(argument, "MPI_Aint") },
        "weights" => Passed { pass: format!("weights_f({name})"), ..pointer(argument, "MPI_Fint") },
        "errcodes" => {
            Passed { pass: format!("errcodes_f({name})"), ..pointer(argument, "MPI_Fint") }
        }
        "triples" => Passed { pass: format!("(void *){name}"), ..pointer(argument, "MPI_Fint") },
        _ if kind.starts_with("fn.") => callback(argument),
        _ if argument.array() || argument.flow != Flow::In => pointer(argument, number),
        _ => dereferenced(argument, number),
    }
}

/// Fortran names of a function, besides that with one underscore.
fn aliases(out: &mut String, function: &Function, signature: &str, interface: Interface) {
    let lower = function.name.to_lowercase();
    let upper = function.name.to_uppercase();
    let gives = gives(function);
    let mut alias = |name: &str| {
        let _ = writeln!(out, "NAME(p{lower}_, {gives}, {name}, ({signature}))");
    };
    for name in [format!("{lower}_"), format!("{lower}__"), lower.clone(), upper.clone()] {
        alias(&name);
    }
    for name in [format!("p{lower}__"), format!("p{lower}"), format!("P{upper}")] {
        alias(&name);
    }
    if interface == Interface::OpenMpi || (interface == Interface::Standard && !detaches(function))
    {
        alias(&format!("{lower}_f08_"));
        alias(&format!("p{lower}_f08_"));
    }
    if interface == Interface::OpenMpi && WITH_POINTERS.contains(&function.name.as_str()) {
        alias(&format!("{lower}_cptr_"));
        alias(&format!("p{lower}_cptr_"));
    }
}

/// True if a function gives back a buffer, which only `mpi_f08` has a type for: `type(c_ptr)` (MPI
/// 4.1, section 3.6.1).
fn detaches(function: &Function) -> bool {
    function.argument("buffer_addr").is_some()
}

fn gives(function: &Function) -> &'static str {
    match function.result.as_str() {
        "int" => "void",
        _ => wrappers::result(function),
    }
}

/// True if a section of an array can be a datatype as a buffer of a function: not if the buffer has
/// a block for each rank, or the datatypes of all have to be alike.
fn takes_sections(function: &Function, buffer: &Argument) -> bool {
    let name = function.name.to_lowercase();
    let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    !is(&["alltoall", "reduce", "scan"])
        && (!is(&["gather"]) || buffer.kind == "in")
        && (!is(&["scatter"]) || buffer.kind != "in")
}

/// True if a function may end before it is done with its buffers.
fn ends_early(function: &Function) -> bool {
    let given = |kind: &str, flow: Flow| {
        function.arguments.iter().any(|one| one.kind == kind && one.flow == flow)
    };
    given("req", Flow::Out) || given("win", Flow::In) || function.name.contains("_begin")
}

/// The buffers of a function come as descriptors.
fn described(out: &mut String, function: &Function, all: &mut [Passed]) {
    let arguments = &function.arguments;
    // Without a datatype, only where it begins is of interest.
    let typed = arguments.iter().any(|one| one.kind == "type");
    let later = ends_early(function);
    for (place, argument) in arguments.iter().enumerate().filter(|(_, one)| choice(one)) {
        let name = &argument.name;
        if !typed {
            let _ = writeln!(out, "    {name} = base_address({name});");
            continue;
        }
        let behind = |kinds: &[&str], offset: usize| {
            arguments.get(place + offset).is_some_and(|one| kinds.contains(&one.kind.as_str()))
        };
        let is_section = takes_sections(function, argument)
            && behind(&["int", "count"], 1)
            && behind(&["type"], 2);
        let Some([buffer, others @ ..]) = all.get_mut(place..) else { continue };
        let part = match others {
            [count, datatype, ..] if is_section => {
                let part = format!("part_of({name}, {}, {}, {later})", count.pass, datatype.pass);
                count.pass = format!("part_{name}.count");
                datatype.pass = format!("part_{name}.datatype");
                part
            }
            _ => format!("part_copied({name}, {later})"),
        };
        let _ = writeln!(
            out,
            "    struct part part_{name} = {part};\n    {name} = part_{name}.address;"
        );
        buffer.after = format!("part_end(&part_{name}, {});\n", argument.kind != "in");
    }
}

/// One function under a name. With `descriptors`, buffers come as mpi_f08 of MPICH hands them over.
fn definition(out: &mut String, function: &Function, name: &str, descriptors: bool) -> String {
    let mut all: Vec<Passed> =
        function.arguments.iter().map(|argument| passed(argument, function)).collect();
    let mut parameters: Vec<String> =
        all.iter().filter_map(|passed| passed.parameter.clone()).collect();
    let code = function.result == "int";
    if code {
        parameters.push("MPI_Fint *ierror".to_owned());
    }
    for (argument, passed) in function.arguments.iter().zip(&all) {
        if passed.text {
            parameters.push(format!("size_t {}_length", argument.name));
        }
    }
    let signature = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let _ = writeln!(out, "PUBLIC {} {name}({signature})\n{{", gives(function));
    if descriptors {
        described(out, function, &mut all);
    }
    for passed in all.iter().filter(|passed| !passed.before.is_empty()) {
        let _ = write!(out, "    {}", passed.before);
    }
    let back = all.iter_mut().find(|passed| passed.pass == "&c_buffer_addr");
    if let Some(passed) = back.filter(|_| name.contains("_f08")) {
        passed.after = "if (!code)\n        *(void **)buffer_addr = c_buffer_addr;\n".into();
    }
    let arguments: Vec<&str> = all.iter().map(|passed| passed.pass.as_str()).collect();
    let call = format!("P{}({})", function.name, arguments.join(", "));
    if !code {
        let _ = writeln!(out, "    return {call};\n}}");
        return signature;
    }
    // Functions and attributes are of the language that hands them in.
    let own =
        |argument: &Argument| argument.kind.starts_with("fn.") || argument.name == "attribute_val";
    let in_fortran = function.arguments.iter().any(own);
    if in_fortran {
        out.push_str("    const void *before = use_layer(&fortran_layer);\n");
    }
    let _ = writeln!(out, "    int code = {call};");
    if in_fortran {
        out.push_str("    use_layer(before);\n");
    }
    for passed in all.iter().filter(|passed| !passed.after.is_empty()) {
        let _ = write!(out, "    {}", passed.after);
    }
    out.push_str("    if (ierror)\n        *ierror = code;\n}\n");
    signature
}

/// MPICH's names for `mpi_f08`: with descriptors if there are buffers.
fn mpich_f08(out: &mut String, function: &Function) {
    let lower = function.name.to_lowercase();
    let (lower, large) = match lower.strip_suffix("_c") {
        Some(small) => (small.to_owned(), "large_"),
        None => (lower, ""),
    };
    let buffers = function.arguments.iter().any(choice);
    let suffix = if buffers { "f08ts_" } else { "f08_" };
    let own = format!("p{}_{suffix}{large}", lower.replacen('_', "r_", 1));
    let signature = definition(out, function, &own, buffers);
    let gives = gives(function);
    for prefix in ["", "p"] {
        let _ =
            writeln!(out, "NAME({own}, {gives}, {prefix}{lower}_{suffix}{large}, ({signature}))");
    }
}

/// The functions of an interface: `fortran_functions.c`.
pub fn source(interface: Interface) -> String {
    let mut out = String::from("/* Generated from functions.csv. */\n#include \"fortran.h\"\n");
    for function in table::all().iter().filter(|function| generated(function, interface)) {
        out.push('\n');
        let name = format!("p{}_", function.name.to_lowercase());
        let signature = definition(&mut out, function, &name, false);
        aliases(&mut out, function, &signature, interface);
        if interface == Interface::Mpich {
            mpich_f08(&mut out, function);
        }
        if interface == Interface::Standard && detaches(function) {
            let own = format!("{}_f08_", function.name.to_lowercase());
            let signature = definition(&mut out, function, &format!("p{own}"), false);
            let _ = writeln!(out, "NAME(p{own}, void, {own}, ({signature}))");
        }
    }
    out
}

/// The prototypes in C of an interface's functions: `prototypes.h`.
pub fn prototypes(interface: Interface) -> String {
    let mut out = String::from("/* Generated from functions.csv. */\n");
    for function in table::all().iter().filter(|function| wrappers::has(function, interface)) {
        let gives = wrappers::result(function);
        let parameters = wrappers::parameters(function, interface);
        let _ = writeln!(out, "{gives} P{}({parameters});", function.name);
    }
    out
}

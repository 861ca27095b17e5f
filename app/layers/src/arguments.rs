//! Translates arguments between a program and our library, in C.

use std::fmt::Write;

use crate::constants::{self, HANDLES};
use crate::interface::Interface;
use crate::table::{Argument, Flow, Function};

/// Kinds of numbers that are the same in all interfaces, with their types in C.
const NUMBERS: &[(&str, &str)] = &[
    ("int", "int"),
    ("logical", "int"),
    ("index", "int"),
    ("count", "MPI_Count"),
    ("aint", "MPI_Aint"),
    ("offset", "MPI_Offset"),
];

/// Kinds of pointers that are handed on as they are, with their types in C for each direction.
const POINTERS: &[(&str, Flow, &str)] = &[
    ("pointer", Flow::In, "void *"),
    // In Fortran, an integer that stays where the program has it.
    ("variable", Flow::In, "void *"),
    ("const-pointer", Flow::In, "const void *"),
    ("address", Flow::Out, "void *"),
    ("buffer", Flow::In, "const void *"),
    ("buffer.mutable", Flow::In, "void *"),
    ("text", Flow::In, "const char *"),
    ("text", Flow::Out, "char *"),
    ("datarep", Flow::Out, "char *"),
    ("int-pointer", Flow::In, "int *"),
    ("argv", Flow::InOut, "char ***"),
    ("t-enum", Flow::In, "MPI_T_enum"),
    ("t-enum", Flow::Out, "MPI_T_enum *"),
    ("t-cvar", Flow::In, "MPI_T_cvar_handle"),
    ("t-cvar", Flow::Out, "MPI_T_cvar_handle *"),
    ("t-pvar", Flow::Out, "MPI_T_pvar_handle *"),
    ("t-session", Flow::In, "MPI_T_pvar_session"),
    ("t-session", Flow::Out, "MPI_T_pvar_session *"),
    ("t-registration", Flow::In, "MPI_T_event_registration"),
    ("t-registration", Flow::Out, "MPI_T_event_registration *"),
    ("t-instance", Flow::In, "MPI_T_event_instance"),
];

/// Arrays of pointers, likewise: the type of an element.
const LISTS: &[(&str, &str)] = &[("argv", "char *"), ("commands", "char *"), ("argvs", "char **")];

/// Texts that the library writes, with the limit of their length.
const TEXTS: &[(&str, &str)] = &[
    ("object-name", "MAX_OBJECT_NAME"),
    ("processor-name", "MAX_PROCESSOR_NAME"),
    ("error-string", "MAX_ERROR_STRING"),
    ("library-version", "MAX_LIBRARY_VERSION_STRING"),
    ("port-name", "MAX_PORT_NAME"),
    ("info-key", "MAX_INFO_KEY"),
];

fn find<'a>(list: &[(&str, &'a str)], kind: &str) -> Option<&'a str> {
    list.iter().find(|(name, _)| *name == kind).map(|(_, found)| *found)
}

/// The code of an argument on either side: before, in and after the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Its declaration on the program's side, with its name.
    pub parameter: String,
    /// Its type on our side.
    pub core: String,
    /// Statements before the call.
    pub before: String,
    /// The expression that is handed to our function.
    pub pass: String,
    /// Statements after the call.
    pub after: String,
}

/// A declaration such as `MPI_Comm comm`, `int *flag`, `const int counts[]`.
fn declared(of: &str, name: &str) -> String {
    match of.split_once("[]") {
        Some((of, rest)) => format!("{of} {name}[]{rest}"),
        None if of.ends_with('*') => format!("{of}{name}"),
        None => format!("{of} {name}"),
    }
}

/// An argument that is handed on as it is.
fn same(argument: &Argument, of: &str) -> Translation {
    let core = match of.split_once("[]") {
        Some((of, "")) if of.ends_with('*') => format!("{of}*"),
        Some((of, "")) => format!("{of} *"),
        Some((of, rest)) => format!("{of} (*){rest}"),
        None => of.to_owned(),
    };
    Translation {
        parameter: declared(of, &argument.name),
        core,
        pass: argument.name.clone(),
        ..Translation::default()
    }
}

/// The name of the C functions that translate a kind, without `_in` or `_out`.
pub fn translator(kind: &str) -> String {
    match kind {
        "root" => "rank".to_owned(),
        other => other.replace('-', "_"),
    }
}

/// The length of an array, as an expression of C.
fn length(argument: &Argument) -> String {
    let plain = match argument.length.as_deref() {
        Some("peers") => "peers(comm_in(comm))",
        Some("in-degree") => "in_degree(comm_in(comm))",
        Some("out-degree") => "out_degree(comm_in(comm))",
        Some("count-at-root") => "at_root(comm_in(comm), rank_in(root)) ? count : 0",
        Some("num_elements") => "num_elements ? *num_elements : 0",
        Some(other) => other,
        None => "0",
    };
    match argument.name.as_str() {
        "sendtypes" => format!("in_place(sendbuf) ? 0 : {plain}"),
        _ => plain.to_owned(),
    }
}

/// An array whose elements are translated.
fn list(argument: &Argument, of: &str, ours: &str, old: bool) -> Translation {
    let (name, with) = (&argument.name, translator(&argument.kind));
    let length = length(argument);
    let reads = argument.flow != Flow::Out;
    let writes = argument.flow != Flow::In;
    let constant = if writes || old { "" } else { "const " };
    let mut before = format!("LIST({ours}, c_{name}, {name}, {length});\n");
    let mut after = String::new();
    if reads {
        let _ = write!(
            before,
            "for (MPI_Count i = 0; i < n_c_{name}; i++)\n\
             \x20       c_{name}[i] = {with}_in({name}[i]);\n"
        );
    } else {
        let _ = writeln!(before, "memset(c_{name}, 0xa5, (size_t)n_c_{name} * sizeof *c_{name});");
    }
    if writes {
        let changed = match (reads, ours) {
            (true, _) => format!("c_{name}[i] != {with}_in({name}[i])"),
            (false, "handle") => format!("c_{name}[i] != UNTOUCHED_HANDLE"),
            (false, _) => format!("c_{name}[i] != UNTOUCHED"),
        };
        let _ = write!(
            after,
            "for (MPI_Count i = 0; i < n_c_{name}; i++)\n        if ({changed})\n            \
             {name}[i] = {with}_out(c_{name}[i]);\n"
        );
    }
    let _ = writeln!(after, "RELEASE(c_{name});");
    Translation {
        parameter: format!("{constant}{of} {name}[]"),
        core: format!("{}{ours} *", if writes { "" } else { "const " }),
        before,
        pass: format!("({name} ? c_{name} : NULL)"),
        after,
    }
}

/// A single value that is translated.
fn value(argument: &Argument, of: &str, ours: &str) -> Translation {
    let (name, with) = (&argument.name, translator(&argument.kind));
    let mut made = Translation {
        parameter: declared(&format!("{of} *"), name),
        core: format!("{ours} *"),
        pass: format!("({name} ? &c_{name} : NULL)"),
        ..Translation::default()
    };
    match argument.flow {
        Flow::In => {
            return Translation {
                parameter: declared(of, name),
                core: ours.to_owned(),
                pass: format!("{with}_in({name})"),
                ..made
            };
        }
        Flow::Out => {
            let untouched = if ours == "handle" { "UNTOUCHED_HANDLE" } else { "UNTOUCHED" };
            made.before = format!("{ours} c_{name} = {untouched};\n");
            made.after = format!(
                "if ({name} && c_{name} != {untouched})\n        *{name} = {with}_out(c_{name});\n"
            );
        }
        Flow::InOut => {
            made.before = format!(
                "{ours} was_{name} = {name} ? {with}_in(*{name}) : 0, c_{name} = was_{name};\n"
            );
            made.after = format!(
                "if ({name} && c_{name} != was_{name})\n        *{name} = {with}_out(c_{name});\n"
            );
        }
    }
    made
}

fn status(argument: &Argument) -> Translation {
    let name = &argument.name;
    if argument.array() {
        return Translation {
            parameter: format!("MPI_Status {name}[]"),
            core: "status_t *".to_owned(),
            before: format!(
                "LIST(status_t, c_{name}, ignored({name}) ? NULL : {name}, {});\n    \
                 memset(c_{name}, 0xa5, (size_t)n_c_{name} * sizeof *c_{name});\n",
                length(argument)
            ),
            pass: format!("(ignored({name}) ? NULL : c_{name})"),
            after: format!(
                "for (MPI_Count i = 0; i < n_c_{name}; i++)\n        \
                 status_out(&c_{name}[i], &{name}[i]);\n    RELEASE(c_{name});\n"
            ),
        };
    }
    let constant = if argument.flow == Flow::In { "const " } else { "" };
    let before = match argument.flow {
        Flow::Out => format!("status_t c_{name};\n    status_blank(&c_{name});\n"),
        Flow::In | Flow::InOut => {
            format!("status_t c_{name};\n    status_in({name}, &c_{name});\n")
        }
    };
    let after = match argument.flow {
        Flow::In => String::new(),
        Flow::Out | Flow::InOut => {
            format!("if (!ignored({name}))\n        status_out(&c_{name}, {name});\n")
        }
    };
    Translation {
        parameter: format!("{constant}MPI_Status *{name}"),
        core: format!("{constant}status_t *"),
        before,
        pass: format!("(ignored({name}) ? NULL : &c_{name})"),
        after,
    }
}

/// A text whose limit of length may be lower in the program's interface.
fn text(argument: &Argument, limit: &str, interface: Interface) -> Translation {
    let name = &argument.name;
    let ours = constants::limit(limit, Interface::Standard).unwrap_or_default();
    let theirs = constants::limit(limit, interface).unwrap_or_default();
    if ours <= theirs {
        return same(argument, "char *");
    }
    Translation {
        before: format!("char c_{name}[{ours}] = \"\";\n"),
        pass: format!("({name} ? c_{name} : NULL)"),
        after: format!("text_out({name}, c_{name}, {theirs});\n"),
        ..same(argument, "char *")
    }
}

/// The length of the text that comes with it.
fn text_length(argument: &Argument, function: &Function, interface: Interface) -> Translation {
    let limit = function.arguments.iter().find_map(|other| find(TEXTS, &other.kind));
    let theirs = limit.and_then(|limit| constants::limit(limit, interface)).unwrap_or_default();
    Translation {
        after: format!("length_out({}, {theirs});\n", argument.name),
        ..same(argument, "int *")
    }
}

/// A function of the program.
fn callback(argument: &Argument) -> Translation {
    let kind = argument.kind.trim_start_matches("fn.");
    let name = &argument.name;
    let pass = match kind {
        _ if kind.contains("opy_") => format!("copy_in((function)({name}))"),
        _ if kind.contains("elete_") => format!("delete_in((function)({name}))"),
        _ if kind.contains("onversion") => format!("conversion_in((function)({name}))"),
        _ => format!("(function)({name})"),
    };
    let star = if kind.starts_with("T_") { "" } else { "*" };
    Translation {
        parameter: declared(&format!("MPI_{kind} {star}"), name).replace("  ", " "),
        core: "function".to_owned(),
        pass,
        ..Translation::default()
    }
}

/// Kinds that need a word of their own.
fn special(argument: &Argument, function: &Function) -> Option<Translation> {
    let name = &argument.name;
    let pointer = |of: &str, pass: String, after: String| {
        Some(Translation { pass, after, ..same(argument, of) })
    };
    match argument.kind.as_str() {
        "in" => pointer("const void *", format!("buffer_in({name})"), String::new()),
        "out" => pointer("void *", format!("(void *)buffer_in({name})"), String::new()),
        "weights" if argument.flow == Flow::In => {
            pointer("const int *", format!("weights_in({name})"), String::new())
        }
        "weights" => pointer("int *", format!("(int *)weights_in({name})"), String::new()),
        "attribute" => {
            let keyval = function.arguments.iter().find(|other| other.kind == "keyval")?;
            let after = format!(
                "if (!code && *flag)\n        attribute_out(keyval_in({}), {name});\n",
                keyval.name
            );
            pointer("void *", name.clone(), after)
        }
        "contents" => {
            let of = &function.arguments.first()?.name;
            pointer(
                "int[]",
                name.clone(),
                format!("if (!code)\n        contents_out(type_in({of}), {name});\n"),
            )
        }
        "errcodes" => pointer("int[]", name.clone(), format!("errcodes_out({name});\n")),
        "triples" => pointer("int[][3]", name.clone(), String::new()),
        "t-pvar" if argument.flow == Flow::In => {
            pointer("MPI_T_pvar_handle", format!("pvar_in({name})"), String::new())
        }
        "safety" => pointer("MPI_T_cb_safety", format!("safety_in({name})"), String::new()),
        "ordering" => pointer("MPI_T_source_order *", name.clone(), String::new()),
        _ => None,
    }
}

/// A list of plain numbers.
fn numbers(argument: &Argument, of: &str) -> Translation {
    match (argument.array(), argument.flow) {
        (true, Flow::In) if argument.kind.ends_with(".mutable") => {
            same(argument, &format!("{of}[]"))
        }
        (true, Flow::In) => same(argument, &format!("const {of}[]")),
        (true, _) => same(argument, &format!("{of}[]")),
        (false, Flow::In) => same(argument, of),
        (false, _) => same(argument, &format!("{of} *")),
    }
}

/// The translation of an argument.
pub fn translation(argument: &Argument, function: &Function, interface: Interface) -> Translation {
    let kind = argument.kind.as_str();
    let pointer = POINTERS.iter().find(|(name, flow, _)| *name == kind && *flow == argument.flow);
    if let Some(made) = special(argument, function) {
        made
    } else if kind.starts_with("fn.") {
        callback(argument)
    } else if kind == "status" {
        status(argument)
    } else if kind == "length" {
        text_length(argument, function, interface)
    } else if let Some(limit) = find(TEXTS, kind) {
        text(argument, limit, interface)
    } else if let Some(of) = find(NUMBERS, kind.trim_end_matches(".mutable")) {
        numbers(argument, of)
    } else if let (Some(of), true) = (find(LISTS, kind), argument.array()) {
        same(argument, &format!("{of}[]"))
    } else if let Some((_, _, of)) = pointer.filter(|_| !argument.array()) {
        same(argument, of)
    } else if kind == "text" {
        same(argument, "const char[]")
    } else {
        let of = find(HANDLES, kind);
        let ours = if of.is_some() { "handle" } else { "int" };
        let of = of.unwrap_or("int");
        // The removed functions take arrays that they do not change without saying so.
        let old = function.name == "MPI_Type_struct";
        if argument.array() { list(argument, of, ours, old) } else { value(argument, of, ours) }
    }
}

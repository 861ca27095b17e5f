//! C functions that translate the constants of an interface: `NAME_in` from the program's,
//! `NAME_out` to the program's.

use std::fmt::Write;

use crate::arguments::translator;
use crate::constants::{self, Constant, HANDLES};
use crate::interface::Interface;

/// Kinds of numbers that may also be something else than a constant: a rank, a tag, a code that the
/// program made.
const OPEN: &[&str] = &["rank", "tag", "darg", "keyval", "error", "topology"];
/// Kinds whose constants are bits.
const BITS: &[&str] = &["amode", "assert"];
/// Kinds of numbers whose constants are alternatives.
const CLOSED: &[&str] = &[
    "thread",
    "comparison",
    "combiner",
    "typeclass",
    "lock",
    "whence",
    "order",
    "distribution",
    "split",
    "flavor",
    "model",
    "verbosity",
    "bind",
    "scope",
    "pvar-class",
    "safety",
];
/// The value that stands for a handle that is none.
const INVALID: i64 = 0xfff;

/// Bytes of Open MPI's objects, by kind of handle.
fn object_bytes(kind: &str) -> usize {
    match kind {
        "comm" | "type" | "win" => 512,
        "op" => 2048,
        "errh" => 1024,
        "file" => 1536,
        _ => 256,
    }
}

/// The constants of a kind that both sides have: (theirs, ours).
fn pairs(all: &[Constant], kind: &str, interface: Interface) -> Vec<(i64, i64)> {
    let of_kind = all.iter().filter(|constant| constant.kind == kind);
    of_kind.filter_map(|constant| Some((constant.value(interface)?, constant.standard?))).collect()
}

/// A `switch` from the first of each pair to the second; what is met again is left out.
fn cases(out: &mut String, pairs: impl IntoIterator<Item = (String, String)>) {
    let mut seen = Vec::new();
    for (from, to) in pairs {
        if !seen.contains(&from) {
            let _ = writeln!(out, "    case {from}: return {to};");
            seen.push(from);
        }
    }
}

fn text(pairs: &[(i64, i64)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

fn swapped(pairs: Vec<(String, String)>) -> impl Iterator<Item = (String, String)> {
    pairs.into_iter().map(|(a, b)| (b, a))
}

/// A kind of number.
fn number(out: &mut String, kind: &str, pairs: &[(i64, i64)]) {
    let name = translator(kind);
    let (other, itself) = match kind {
        // A program adds codes behind the last one of its interface.
        "error" => ("code_in", "code_out(value)"),
        _ if OPEN.contains(&kind) => ("other", "value"),
        _ => ("none", "value"),
    };
    let _ = writeln!(out, "ONCE int {name}_in(int value)\n{{\n    switch (value) {{");
    cases(out, text(pairs));
    if kind == "split" {
        let _ = writeln!(out, "    case UNDEFINED: return value;");
    }
    let _ = writeln!(out, "    default: return {other}(value);\n    }}\n}}");
    let _ = writeln!(out, "ONCE int {name}_out(int value)\n{{\n    switch (value) {{");
    cases(out, swapped(text(pairs)));
    let _ = writeln!(out, "    default: return {itself};\n    }}\n}}");
}

/// A kind whose constants are bits. Bits that are none become one that is none of ours.
fn bits(out: &mut String, kind: &str, pairs: &[(i64, i64)]) {
    let name = translator(kind);
    for (way, known, swap) in [("in", "NO_BIT", false), ("out", "0", true)] {
        let _ = writeln!(
            out,
            "ONCE int {name}_{way}(int value)\n{{\n    int result = 0, rest = value;"
        );
        for (theirs, ours) in pairs {
            let (from, to) = if swap { (ours, theirs) } else { (theirs, ours) };
            let _ =
                writeln!(out, "    if (value & {from})\n        result |= {to}, rest &= ~{from};");
        }
        let _ = writeln!(out, "    return rest ? result | {known} : result;\n}}");
    }
}

/// A kind of handle of MPICH: numbers, and what is made while the program runs has a pattern of its
/// own.
fn mpich_handle(out: &mut String, (kind, of): (&str, &str), pairs: &[(i64, i64)]) {
    let unsigned = |pairs: &[(i64, i64)]| -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| (format!("{a:#x}"), format!("{b:#x}"))).collect()
    };
    // Files are pointers.
    let bits = if kind == "file" { "uintptr_t" } else { "uint32_t" };
    let _ = writeln!(out, "ONCE handle {kind}_in({of} value)\n{{\n    switch (({bits})value) {{");
    cases(out, unsigned(pairs));
    let _ = writeln!(out, "    default: return made_in_{kind}(value);\n    }}\n}}");
    let _ = writeln!(out, "ONCE {of} {kind}_out(handle value)\n{{\n    switch (value) {{");
    let known = unsigned(pairs).into_iter().map(|(a, b)| (b, format!("({of}){a}")));
    cases(out, known);
    let _ = writeln!(out, "    default: return made_out_{kind}(value);\n    }}\n}}");
}

/// A kind of handle of Open MPI: addresses of objects that name themselves.
fn openmpi_handle(out: &mut String, all: &[Constant], (kind, of): (&str, &str)) {
    let upper = kind.to_uppercase();
    let mut known = Vec::new();
    let mut defined = Vec::new();
    for constant in all.iter().filter(|constant| constant.kind == kind) {
        if let Some(object) = constant.object() {
            let ours = constant.standard.unwrap_or(INVALID);
            if !defined.contains(&object) {
                let bytes = object_bytes(kind);
                let _ = writeln!(out, "OBJECT({object}, {bytes}, KIND_{upper}, {ours:#x})");
                defined.push(object);
            }
            known.push((format!("{ours:#x}"), format!("({of})&{object}")));
        }
    }
    let _ = writeln!(
        out,
        "ONCE handle {kind}_in({of} value)\n{{\n    return object_in(KIND_{upper}, value);\n}}"
    );
    let _ = writeln!(out, "ONCE {of} {kind}_out(handle value)\n{{\n    switch (value) {{");
    cases(out, known);
    let _ = writeln!(out, "    default: return ({of})made_out(KIND_{upper}, value);\n    }}\n}}");
    fortran_handle(out, all, (kind, of));
}

/// Numbers that stand for handles in Open MPI's Fortran. What a program makes has the number of our
/// own handle.
fn fortran_handle(out: &mut String, all: &[Constant], (kind, of): (&str, &str)) {
    let known =
        all.iter().filter(|constant| constant.kind == kind && constant.standard != Some(INVALID));
    let pairs: Vec<(i64, i64)> =
        known.filter_map(|constant| Some((constant.fortran?, constant.standard?))).collect();
    let _ = writeln!(out, "ONCE {of} {kind}_from_fortran(int value)\n{{\n    switch (value) {{");
    cases(out, text(&pairs).into_iter().map(|(a, b)| (a, format!("{kind}_out({b})"))));
    let _ = writeln!(
        out,
        "    default: return {kind}_out(value >= (int)FIRST ? (handle)value : INVALID);\n    }}\n}}"
    );
    let _ = writeln!(
        out,
        "ONCE int {kind}_to_fortran({of} value)\n{{\n    switch ({kind}_in(value)) {{"
    );
    cases(out, swapped(text(&pairs)));
    let _ = writeln!(
        out,
        "    case INVALID: return -1;\n    default: return (int){kind}_in(value);\n    }}\n}}"
    );
}

/// The translators of an interface: `values.h`.
pub fn header(interface: Interface) -> String {
    let all = constants::all();
    let mut out = String::from("/* Generated from constants.csv. */\n");
    for kind in OPEN.iter().chain(CLOSED) {
        number(&mut out, kind, &pairs(&all, kind, interface));
    }
    for kind in BITS {
        bits(&mut out, kind, &pairs(&all, kind, interface));
    }
    for handle in HANDLES {
        match interface {
            Interface::OpenMpi => openmpi_handle(&mut out, &all, *handle),
            _ => mpich_handle(&mut out, *handle, &pairs(&all, handle.0, interface)),
        }
    }
    out
}

//! The C source of the layers' functions.

use std::fmt::Write;

use crate::arguments::{Translation, translation};
use crate::interface::Interface;
use crate::table::{self, Function};

/// The type in C of what a function gives.
pub fn result(function: &Function) -> &'static str {
    match function.result.as_str() {
        "double" => "double",
        "aint" => "MPI_Aint",
        _ => "int",
    }
}

/// The parameters of a function in C.
pub fn parameters(function: &Function, interface: Interface) -> String {
    let all = function
        .arguments
        .iter()
        .map(|argument| translation(argument, function, interface).parameter);
    let all: Vec<String> = all.collect();
    if all.is_empty() { "void".to_owned() } else { all.join(", ") }
}

/// True if the library of an interface has a function: those of the standard all, even removed
/// ones; extensions where they are at home.
pub fn has(function: &Function, interface: Interface) -> bool {
    // Programs that ask for the standard interface find it by these functions.
    let tells = function.name.starts_with("MPI_Abi_");
    function.is_in(interface) || function.name.starts_with("MPI_") && !tells
}

/// The functions of an interface, as definitions in C: `functions.c`.
pub fn source(interface: Interface) -> String {
    let mut out = String::from("/* Generated from functions.csv. */\n#include \"layer.h\"\n");
    let all = table::all();
    for function in all.iter().filter(|function| declares(function, &all)) {
        let ours = translations(function, interface);
        let ours: Vec<&str> = ours.iter().map(|translation| translation.core.as_str()).collect();
        let ours = if ours.is_empty() { "void".to_owned() } else { ours.join(", ") };
        let _ = writeln!(out, "WEAK {} heddle_{}({ours});", result(function), function.core);
    }
    for function in all.iter().filter(|function| has(function, interface)) {
        out.push('\n');
        wrapper(&mut out, function, interface);
    }
    out
}

/// True if the prototype of our function is that of this one, and not of the one whose older name
/// this is.
fn declares(function: &Function, all: &[Function]) -> bool {
    let standard = format!("MPI_{}", function.core);
    function.name == standard || all.iter().all(|other| other.name != standard)
}

fn translations(function: &Function, interface: Interface) -> Vec<Translation> {
    let arguments = function.arguments.iter();
    arguments.map(|argument| translation(argument, function, interface)).collect()
}

/// Indents statements that go over several lines as the first one is.
fn statements(out: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = write!(out, "    {text}");
    }
}

fn wrapper(out: &mut String, function: &Function, interface: Interface) {
    let Function { name, core, .. } = function;
    let all = translations(function, interface);
    let gives = result(function);
    let parameters = parameters(function, interface);
    let _ = writeln!(out, "PUBLIC {gives} P{name}({parameters})\n{{");
    let missing = if gives == "int" { format!("missing(\"{name}\")") } else { "0".to_owned() };
    let _ = writeln!(out, "    if (!heddle_{core})\n        return {missing};");
    for translation in &all {
        statements(out, &translation.before);
    }
    let passed: Vec<&str> = all.iter().map(|translation| translation.pass.as_str()).collect();
    let passed = passed.join(", ");
    if gives == "int" {
        let _ = writeln!(out, "    int code = heddle_{core}({passed});");
        for translation in &all {
            statements(out, &translation.after);
        }
        out.push_str("    return code ? error_out(code) : 0;\n}\n");
    } else {
        let _ = writeln!(out, "    return heddle_{core}({passed});\n}}");
    }
    let _ = writeln!(out, "ALIAS({name}, {gives}, ({parameters}))");
}

/// The functions of the standard interface, which only have to be found under their names.
pub fn jumps() -> String {
    let mut out = String::from("/* Generated from functions.csv. */\n#include \"layer.h\"\n");
    let all = table::all();
    for function in all.iter().filter(|function| declares(function, &all)) {
        let parameters = parameters(function, Interface::Standard);
        let _ = writeln!(out, "WEAK {} heddle_{}({parameters});", result(function), function.core);
    }
    for function in all.iter().filter(|function| has(function, Interface::Standard)) {
        let Function { name, core, .. } = function;
        let gives = result(function);
        let parameters = parameters(function, Interface::Standard);
        let names: Vec<&str> =
            function.arguments.iter().map(|argument| argument.name.as_str()).collect();
        let missing = if gives == "int" { format!("missing(\"{name}\")") } else { "0".to_owned() };
        let _ = write!(
            out,
            "\nPUBLIC {gives} P{name}({parameters})\n{{\n\
             \x20   return heddle_{core} ? heddle_{core}({}) : {missing};\n}}\n\
             ALIAS({name}, {gives}, ({parameters}))\n",
            names.join(", ")
        );
    }
    out
}

//! Both tables against the headers of installed libraries: the compiler judges.

mod common;

use std::fmt::Write;

use layers::constants::{self, HANDLES};
use layers::interface::Interface;
use layers::{header, table, wrappers};

const PEERS: [Interface; 2] = [Interface::Mpich, Interface::OpenMpi];

/// Every function is declared again, which a compiler refuses if the types differ. Removed
/// functions are macros in Open MPI's header.
#[test]
fn prototypes_are_those_of_the_headers() {
    for interface in PEERS {
        let Some(compiler) = common::wrapper(interface) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from("#include <mpi.h>\n");
        for function in table::all().iter().filter(|function| function.is_in(interface)) {
            // Open MPI's extensions have a header of their own.
            let elsewhere = interface == Interface::OpenMpi && function.name.starts_with("MPIX_");
            // MPICH 4.0 left out a `const` that MPI-4.0 has.
            if elsewhere || function.name == "MPI_Pready_list" {
                continue;
            }
            let parameters = wrappers::parameters(function, interface);
            let (name, gives) = (&function.name, wrappers::result(function));
            let _ = write!(text, "#ifndef {name}\n{gives} {name}({parameters});\n#endif\n");
        }
        common::compile(compiler, folder.path(), "prototypes", &text, &["-c", "-w"]);
    }
}

/// Kinds that have the same constants under the same names, but in the form of addresses, or texts'
/// limits.
fn expression(constant: &constants::Constant, interface: Interface) -> Option<String> {
    let name = constant.name;
    // Variables of MPICH.
    let variable =
        constant.kind == "address" && name.contains("WEIGHT") && interface == Interface::Mpich;
    if name.is_empty() || variable {
        return None;
    }
    let value = match (HANDLES.iter().find(|(kind, _)| *kind == constant.kind), interface) {
        (Some(_), Interface::OpenMpi) => format!("(const void *)&{}", constant.object()?),
        (Some(_), _) => format!("(void *)(intptr_t)(int){:#x}", constant.value(interface)?),
        (None, _) => format!("(void *)(intptr_t){}", constant.value(interface)?),
    };
    let called = match (name, interface) {
        // MPICH's own name for half precision.
        ("REAL2", Interface::Mpich) => "MPIX_C_FLOAT16".to_owned(),
        _ => format!("MPI_{name}"),
    };
    let theirs = match HANDLES.iter().any(|(kind, _)| *kind == constant.kind) {
        true if constant.kind == "file" || interface == Interface::OpenMpi => {
            format!("(void *){called}")
        }
        true => format!("(void *)(intptr_t)(int){called}"),
        false => format!("(void *)(intptr_t){called}"),
    };
    let check = format!("    if ({theirs} != {value})\n        puts(\"{called}\");\n");
    // Newer than the MPICH that most systems have.
    let newer =
        ["COMM_TYPE_RESOURCE_GUIDED", "ERR_ERRHANDLER", "COMBINER_VALUE_INDEX"].contains(&name);
    Some(if newer { format!("#ifdef {called}\n{check}#endif\n") } else { check })
}

/// A program prints the names of those that differ: none.
#[test]
fn constants_are_those_of_the_headers() {
    for interface in PEERS {
        let Some(compiler) = common::wrapper(interface) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from(
            "#include <stdint.h>\n#include <stdio.h>\n#include <mpi.h>\nint main(void)\n{\n",
        );
        let mut checks = String::new();
        let mut compared = 0;
        for constant in constants::all() {
            // Not in Open MPI's header, though in its library, or with another name of the same
            // object.
            if ["LB", "UB", "ERRORS_ARE_FATAL", "REAL2", "INTEGER16", "C_COMPLEX"]
                .contains(&constant.name)
                && interface == Interface::OpenMpi
            {
                continue;
            }
            if let Some(check) = expression(&constant, interface) {
                checks += &check;
                compared += 1;
            }
        }
        text += &checks;
        text += "    return 0;\n}\n";
        let program = common::compile(compiler, folder.path(), "constants", &text, &["-w"]);
        let wrong = common::run(&mut std::process::Command::new(program));
        assert_eq!(wrong, "", "{interface:?}");
        assert!(compared > 250, "{interface:?}: {compared}");
    }
}

/// Our own header compiles as C and as C++, without a warning.
#[test]
fn our_header_compiles() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mpi.h"), header::text()).unwrap();
    let include = format!("-I{}", folder.path().display());
    let text = "#include <mpi.h>\nint main(void) { return MPI_COMM_WORLD == MPI_COMM_NULL; }\n";
    let flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-c", include.as_str()];
    common::compile("cc", folder.path(), "program", text, &flags);
    std::fs::write(folder.path().join("program.cc"), text).unwrap();
    let mut command = std::process::Command::new("c++");
    command.args(flags).arg(folder.path().join("program.cc"));
    common::run(command.arg("-o").arg(folder.path().join("program.o")));
}

//! Builds the layers, with the C compiler: `FOLDER/mpi/lib`.
//!
//! `CC` names the compiler. The library under the layers, `libheddle_mpi.so`, is copied beside
//! them, so that the folder can be moved.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};
use std::{env, fs, io};

use crate::interface::Interface;
use crate::{fortran, header, module_functions, modules, scripts, values, wrappers};

/// The library under the layers.
pub const CORE: &str = "libheddle_mpi.so";
/// The library that takes its place where ranks share a process.
pub const IN_PROCESS: &str = "libheddle_in_process.so";

/// The library that is loaded before programs that are to be changed without their knowledge.
pub const BEFORE: &str = "libheddle_before.so";
/// The library that sees to it that programs find the libraries beside it.
pub const AUDIT: &str = "libheddle_audit.so";

/// The parts that are written by hand.
const PARTS: &[(&str, &str)] = &[
    ("layer.h", include_str!("../c/layer.h")),
    ("translate.h", include_str!("../c/translate.h")),
    ("standard.h", include_str!("../c/standard.h")),
    ("mpich.h", include_str!("../c/mpich.h")),
    ("openmpi.h", include_str!("../c/openmpi.h")),
    ("standard.c", include_str!("../c/standard.c")),
    ("mpich.c", include_str!("../c/mpich.c")),
    ("openmpi.c", include_str!("../c/openmpi.c")),
    ("numbers.c", include_str!("../c/numbers.c")),
    ("openmpi_cxx.c", include_str!("../c/openmpi_cxx.c")),
    ("common.c", include_str!("../c/common.c")),
    ("lengths.c", include_str!("../c/lengths.c")),
    ("callbacks.h", include_str!("../c/callbacks.h")),
    ("fortran.h", include_str!("../c/fortran.h")),
    ("fortran.c", include_str!("../c/fortran.c")),
    (DESCRIPTORS, include_str!("../c/fortran_arrays.c")),
    ("fortran_callbacks.c", include_str!("../c/fortran_callbacks.c")),
    ("callbacks.c", include_str!("../c/callbacks.c")),
    ("missing.c", include_str!("../c/missing.c")),
];

const FLAGS: &[&str] = &[
    "-std=gnu11",
    // Most of the code is straight; -O2 takes twice as long.
    "-O1",
    "-fPIC",
    // Exceptions of error handlers pass.
    "-fexceptions",
    "-fno-strict-aliasing",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    // Functions of the program are called as what it says they are.
    "-Wno-cast-function-type",
];

/// The reason why the layers could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written, or the compiler not be started.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The compiler refused.
    #[error("the compiler failed: {0}")]
    Compiler(String),
}

fn file(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    move |source| Error::File { path: path.to_owned(), source }
}

/// The hand-written C files of an interface's library.
fn parts(interface: Interface) -> Vec<String> {
    let own = format!("{}.c", interface.stem());
    let common =
        ["missing.c", "numbers.c", "lengths.c", "common.c", "callbacks.c"].map(str::to_owned);
    let taken = if interface == Interface::Standard { 2 } else { 5 };
    common.into_iter().take(taken).chain([own]).collect()
}

/// Writes the C sources of an interface into a folder; gives the names of those to compile.
pub fn write_sources(interface: Interface, folder: &Path) -> Result<Vec<String>, Error> {
    fs::create_dir_all(folder).map_err(file(folder))?;
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(file(&path))
    };
    for (name, text) in PARTS {
        put(name, text)?;
    }
    put("interface.h", &format!("#include \"{}.h\"\n", interface.stem()))?;
    let mut sources = parts(interface);
    if interface == Interface::Standard {
        put("functions.c", &wrappers::jumps())?;
    } else {
        put("values.h", &values::header(interface))?;
        put("functions.c", &wrappers::source(interface))?;
    }
    sources.push("functions.c".to_owned());
    put("fortran_modules.c", &module_functions::source(interface))?;
    put("prototypes.h", &fortran::prototypes(interface))?;
    put("fortran_functions.c", &fortran::source(interface))?;
    Ok(sources)
}

/// The C files of an interface's library for Fortran.
const FORTRAN: &[&str] =
    &["fortran.c", "fortran_callbacks.c", "fortran_functions.c", "fortran_modules.c", "lengths.c"];
/// Of those of MPICH, whose `mpi_f08` hands over descriptors.
const DESCRIPTORS: &str = "fortran_arrays.c";

fn run(command: &mut Command) -> Result<(), Error> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(file(&program))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Compiler(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr))))
}

fn compiler() -> Command {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// A name for the linker, `libX.so` for `libX.so.1`.
fn linkable(library: &Path) -> Result<(), Error> {
    let link = library.with_extension("");
    let _ = fs::remove_file(&link);
    #[cfg(unix)]
    let name = library.file_name().unwrap_or_default();
    #[cfg(unix)]
    std::os::unix::fs::symlink(name, &link).map_err(file(&link))?;
    #[cfg(not(unix))]
    fs::copy(library, &link).map_err(file(&link))?;
    Ok(())
}

/// Compiles C files of a folder, side by side; gives the object files.
fn compile(interface: Interface, folder: &Path, sources: &[String]) -> Result<Vec<PathBuf>, Error> {
    let object = |source: &String| folder.join(source).with_extension("o");
    let one = |source: &String| {
        let mut command = compiler();
        command.args(FLAGS).arg(format!("-DLAYER_NAME=\"{}\"", interface.stem()));
        command.arg("-c").arg(folder.join(source)).arg("-o").arg(object(source));
        run(&mut command)
    };
    let finished = |handle: ScopedJoinHandle<Result<(), Error>>| {
        handle.join().unwrap_or_else(|_| Err(Error::Compiler("a thread ended".to_owned())))
    };
    thread::scope(|scope| {
        let running: Vec<_> =
            sources.iter().map(|source| scope.spawn(move || one(source))).collect();
        running.into_iter().map(finished).collect::<Result<Vec<()>, Error>>()
    })?;
    Ok(sources.iter().map(object).collect())
}

/// Links a library from object files, over others of the same folder.
fn link(path: &Path, objects: &[PathBuf], over: &[&str]) -> Result<(), Error> {
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    let name = name.to_string_lossy();
    // Under its final name only when it is whole: a program may be loading the old one.
    let unfinished = folder.join(format!(".{name}.{}", std::process::id()));
    let mut command = compiler();
    // The library beside it is the right one, whatever LD_LIBRARY_PATH says: a path of the old
    // kind.
    command.args(["-shared", "-Wl,--no-as-needed", "-Wl,-z,now"]);
    command.args(["-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN"]);
    command.arg(format!("-Wl,-soname,{name}")).arg("-o").arg(&unfinished).args(objects);
    command.arg("-L").arg(folder).args(over.iter().map(|other| format!("-l:{other}")));
    run(&mut command)?;
    fs::rename(&unfinished, path).map_err(file(path))
}

/// Builds the libraries of an interface for C; gives their files.
fn build_for_c(interface: Interface, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let sources = folder.join("src").join(interface.stem());
    let libraries = folder.join("lib");
    let in_c = write_sources(interface, &sources)?;
    let in_c = compile(interface, &sources, &in_c)?;
    let mut made = Vec::new();
    for name in interface.libraries() {
        made.push(libraries.join(name));
        link(&libraries.join(name), &in_c, &[CORE])?;
    }
    name_for_linkers(interface, &made)?;
    Ok(made)
}

/// Gives libraries names for the linker: those that our compilers link, and the shortest name,
/// under which some look for a library of MPI (mpi4py does) and would find one of the system.
fn name_for_linkers(interface: Interface, made: &[PathBuf]) -> Result<(), Error> {
    let short = |path: &PathBuf| interface == Interface::Mpich && path.ends_with("libmpi.so.12");
    for path in made.iter().filter(|path| interface == Interface::Standard || short(path)) {
        linkable(path)?;
    }
    Ok(())
}

/// Builds the libraries of an interface for all languages; gives their files.
fn build(interface: Interface, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let sources = folder.join("src").join(interface.stem());
    let libraries = folder.join("lib");
    let mut made = build_for_c(interface, folder)?;
    let under = interface.libraries().first().copied().unwrap_or(CORE);
    let mut fortran = FORTRAN.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    if interface == Interface::Mpich {
        fortran.push(DESCRIPTORS.to_owned());
    }
    let fortran = compile(interface, &sources, &fortran)?;
    let mut first = None;
    for &name in interface.fortran_libraries() {
        // One has the functions; the others find them there.
        let (objects, over) = match first {
            None => (fortran.as_slice(), vec![under, CORE]),
            Some(first) => (&[][..], vec![first, under, CORE]),
        };
        link(&libraries.join(name), objects, &over)?;
        made.push(libraries.join(name));
        first = first.or(Some(name));
    }
    // MPICH's interface in C++ is all in its header.
    let cxx =
        if interface == Interface::OpenMpi { vec!["openmpi_cxx.c".to_owned()] } else { vec![] };
    let cxx = compile(interface, &sources, &cxx)?;
    for name in interface.cxx_libraries() {
        link(&libraries.join(name), &cxx, &[under, CORE])?;
        made.push(libraries.join(name));
    }
    name_for_linkers(interface, &made)?;
    Ok(made)
}

/// Writes the headers that programs are compiled with.
fn headers(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(file(folder))?;
    let texts = [
        ("heddle.h", include_str!("../c/heddle.h").to_owned()),
        ("mpi.h", header::text()),
        ("mpif.h", modules::mpif()),
    ];
    for (name, text) in texts {
        let path = folder.join(name);
        fs::write(&path, text).map_err(file(&path))?;
    }
    Ok(())
}

/// Writes the modules that programs in Fortran are compiled with. They need gfortran (or what `FC`
/// names); without it there is only `mpif.h`.
fn fortran_modules(folder: &Path) -> Result<(), Error> {
    let compiler = env::var_os("FC").unwrap_or_else(|| "gfortran".into());
    for (name, text) in [("mpi.f90", modules::mpi()), ("mpi_f08.f90", modules::mpi_f08())] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(file(&path))?;
        let mut command = Command::new(&compiler);
        command.args(["-fsyntax-only", "-J"]).arg(folder).arg(folder.join(name));
        if Command::new(&compiler).arg("--version").output().is_ok() {
            run(&mut command)?;
        }
    }
    Ok(())
}

/// Builds a library that is none of MPI, from one file.
fn plain(
    folder: &Path,
    name: &str,
    source: (&str, &str),
    more: &[String],
) -> Result<PathBuf, Error> {
    let (sources, made) = (folder.join("src"), folder.join("lib").join(name));
    fs::create_dir_all(&sources).map_err(file(&sources))?;
    let (written, text) = (sources.join(source.0), source.1);
    fs::write(&written, text).map_err(file(&written))?;
    let unfinished = made.with_extension(std::process::id().to_string());
    let mut command = compiler();
    command.args(FLAGS).args(more).arg("-shared").arg(&written).arg("-ldl");
    run(command.arg("-o").arg(&unfinished))?;
    fs::rename(&unfinished, &made).map_err(file(&made))?;
    Ok(made)
}

/// Builds the library that is loaded before programs, and the one that watches how they find
/// others.
fn around(folder: &Path) -> Result<[PathBuf; 2], Error> {
    let names = Interface::ALL.into_iter().flat_map(Interface::all_libraries);
    let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
    let all = format!("-DALL={}", names.join(","));
    let before = ("before.c", include_str!("../c/before.c"));
    let audit = ("audit.c", include_str!("../c/audit.c"));
    Ok([plain(folder, BEFORE, before, &[])?, plain(folder, AUDIT, audit, &[all])?])
}

/// Builds all libraries into `FOLDER/mpi/lib`, beside a copy of the library under them; gives their
/// files.
pub fn all(core: &Path, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (folder, mut made) = common(core, folder)?;
    fortran_modules(&folder.join("include"))?;
    for interface in Interface::ALL {
        made.extend(build(interface, &folder)?);
    }
    Ok(made)
}

/// Builds of them what our compiler for C links, in a small part of the time.
pub fn for_c(core: &Path, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (folder, mut made) = common(core, folder)?;
    made.extend(build_for_c(Interface::Standard, &folder)?);
    Ok(made)
}

/// Makes the folder `FOLDER/mpi`, with what serves all interfaces; gives it and the libraries in
/// it.
fn common(core: &Path, folder: &Path) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let folder = folder.join("mpi");
    let libraries = folder.join("lib");
    fs::create_dir_all(&libraries).map_err(file(&libraries))?;
    let mut made = Vec::new();
    // That which holds ranks in one process is there if it was built.
    let in_process = core.with_file_name(IN_PROCESS);
    let others = in_process.is_file().then_some((in_process.as_path(), IN_PROCESS));
    for (from, name) in [(core, CORE)].into_iter().chain(others) {
        let unfinished = libraries.join(format!(".{name}.{}", std::process::id()));
        fs::copy(from, &unfinished).map_err(file(from))?;
        made.push(libraries.join(name));
        fs::rename(&unfinished, libraries.join(name)).map_err(file(from))?;
    }
    headers(&folder.join("include"))?;
    scripts::write(&folder).map_err(file(&folder))?;
    made.extend(around(&folder)?);
    Ok((folder, made))
}

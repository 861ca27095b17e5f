//! Runs the tests in Python, with the module as cargo built it for this test, in a virtual
//! environment that is made once for each target folder.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The packages that the tests use.
const PACKAGES: [&str; 4] = ["pytest", "pyarrow", "pandas", "matplotlib"];

/// The folder of Python's sources, tests and examples.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The interpreter of the virtual environment, or why there is none.
fn environment() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("venv");
    let (python, done) = (folder.join("bin/python"), folder.join("packages"));
    let wanted = PACKAGES.join(" ");
    if fs::read_to_string(&done).is_ok_and(|have| have == wanted) {
        return Ok(python);
    }
    let run = |command: &mut Command| {
        let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(said) }
    };
    run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]);
    run(pip.args(PACKAGES))?;
    fs::write(done, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

/// The folder of the module: its sources, and the native part that lies beside this test.
fn module() -> PathBuf {
    let beside = env::current_exe().expect("this test").parent().expect("a folder").to_owned();
    let native = beside.join("libheddle_native.so");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("module");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("heddle")).expect("a folder");
    for entry in fs::read_dir(Path::new(ROOT).join("python/heddle")).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let name = path.file_name().expect("a name");
            fs::copy(&path, folder.join("heddle").join(name)).expect("a copy");
        }
    }
    fs::copy(&native, folder.join("heddle/_native.abi3.so"))
        .unwrap_or_else(|error| panic!("{}: {error}", native.display()));
    folder
}

#[test]
fn tests_in_python() {
    let python = match environment() {
        Ok(python) => python,
        Err(reason) => {
            // As with the libraries of MPI, what is not there is not tested.
            println!("not tested: there is no Python with its packages: {reason}");
            return;
        }
    };
    let mut tests = Command::new(python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]).current_dir(ROOT);
    tests.env("PYTHONPATH", module()).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = tests.output().expect("pytest runs");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

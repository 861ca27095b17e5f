//! Running the command, and a folder for each test.

// Each test program uses a part of this.
#![allow(dead_code)]

pub mod measuring;
pub mod mpi;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The outcome of a command.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// The text that it wrote to standard output.
    pub stdout: String,
    /// The text that it wrote to standard error.
    pub stderr: String,
}

/// A new, empty folder in which commands run.
pub struct Folder(PathBuf);

impl Folder {
    /// The folder of the test of this name.
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file for the test");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of all files, in order.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }

    /// Runs heddle; the arguments are separated by blanks. Live programs find the libraries that
    /// `mpi::mpi` has built, and none that lie elsewhere.
    pub fn heddle(&self, arguments: &str) -> Ended {
        self.heddle_with(arguments, b"")
    }

    /// Runs heddle with something on standard input.
    pub fn heddle_with(&self, arguments: &str, input: &[u8]) -> Ended {
        let mut child = Command::new(env!("CARGO_BIN_EXE_heddle"))
            .args(arguments.split_whitespace())
            .current_dir(&self.0)
            .env_remove("COLUMNS")
            .env("LC_ALL", "C.UTF-8")
            .env("HEDDLE_MPI", Path::new(env!("CARGO_TARGET_TMPDIR")).join("live/mpi/lib"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("heddle starts");
        // A command that reads nothing closes its end.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        let output = child.wait_with_output().expect("heddle ends");
        Ended {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Ended {
    /// The JSON object on standard output, of a command that went well.
    pub fn json(&self) -> serde_json::Value {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""));
        serde_json::from_str(&self.stdout).expect("JSON")
    }
}

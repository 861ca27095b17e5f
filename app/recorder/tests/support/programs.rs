//! Building the recorder and the test programs, and running these under it.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;

use recorder::libraries::{self, Outcome};
use recorder::{launch, tail};

/// An MPI library that is installed.
pub struct Mpi {
    /// The library that they are compiled for.
    pub kind: launch::Mpi,
    suffix: &'static str,
    launcher: OsString,
    folder: PathBuf,
}

/// The MPI libraries for which the recorder and programs can be built here.
pub fn libraries() -> &'static [Mpi] {
    static FOUND: OnceLock<Vec<Mpi>> = OnceLock::new();
    FOUND.get_or_init(build)
}

fn build() -> Vec<Mpi> {
    let name = concat!(env!("CARGO_PKG_NAME"), "-programs");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let mut found = Vec::new();
    for (kind, outcome) in libraries::all(&[launch::Mpi::OpenMpi, launch::Mpi::Mpich], &folder) {
        assert!(!matches!(outcome, Outcome::Failed(_)), "{kind}: {outcome:?}");
        let suffix = kind.name();
        let launcher = OsString::from(format!("mpirun.{suffix}"));
        let runs = Command::new(&launcher).arg("--version").output();
        let runs = runs.is_ok_and(|output| output.status.success());
        if matches!(outcome, Outcome::Built(_)) && runs {
            found.push(Mpi { kind, suffix, launcher, folder: folder.clone() });
        } else {
            eprintln!("{kind} is not installed (make setup): its programs are not recorded");
        }
    }
    found
}

impl Mpi {
    /// The file name of the library that programs load.
    pub fn library(&self) -> &'static str {
        match self.kind {
            launch::Mpi::OpenMpi => "libmpi.so.40",
            launch::Mpi::Mpich => "libmpich.so.12",
            launch::Mpi::Standard => "libmpi_abi.so.1",
        }
    }

    /// The folder of the recorder's libraries.
    pub fn recorder(&self) -> &Path {
        &self.folder
    }

    /// The name of a compiler, such as `mpicc`.
    pub fn compiler(&self, name: &str) -> String {
        format!("{name}.{}", self.suffix)
    }

    /// Compiles a program; gives its path.
    pub fn compile(&self, name: &str) -> PathBuf {
        let sources =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../app/recorder/tests/programs");
        let made = self.folder.join(format!("{name}.{}", self.suffix));
        let source = ["c", "cpp", "f90"]
            .map(|ending| sources.join(name).with_extension(ending))
            .into_iter()
            .find(|path| path.exists())
            .expect("a program of that name");
        let compiler = match source.extension().and_then(|ending| ending.to_str()) {
            Some("cpp") => "mpicxx",
            Some("f90") => "mpifort",
            _ => "mpicc",
        };
        let output = Command::new(self.compiler(compiler))
            .args(["-O1", "-o"])
            .arg(&made)
            .arg(&source)
            .args(["-lm", "-lpthread", "-ldl"])
            .output()
            .expect("the compiler of the MPI library");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        made
    }

    /// Runs a program under the recorder for some MPI library.
    fn under(
        &self,
        recorder: Option<launch::Mpi>,
        program: &Path,
        (ranks, arguments): (u32, &[&str]),
        variables: &[(&str, &str)],
        traces: &Path,
    ) -> Output {
        let mut command = vec![self.launcher.clone()];
        if self.kind == launch::Mpi::OpenMpi {
            command.push("--oversubscribe".into());
        }
        command.extend(["-n".into(), ranks.to_string().into(), program.into()]);
        command.extend(arguments.iter().map(OsString::from));
        let folder = Some(self.folder.clone());
        let mut run =
            launch::command(&command, traces, recorder, folder, false).expect("a command");
        // Containers are often root, which Open MPI refuses without being told twice.
        let root = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
        run.envs(root.map(|name| (name, "1"))).envs(variables.iter().copied());
        run.stdin(Stdio::null()).output().expect("it runs")
    }

    /// Runs a program under the recorder for another MPI library; gives how it ended, what was
    /// said, and how many traces there are.
    pub fn mistaken(&self, other: &Self, name: &str) -> (ExitStatus, String, usize) {
        let program = self.compile(name);
        let traces = self.folder.join(format!("mistaken-{}", self.suffix));
        let traces = launch::prepare(&traces, true).expect("writable").expect("forced");
        launch::clear(&traces).expect("emptied");
        let output = self.under(Some(other.kind), &program, (2, &[]), &[], &traces);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status, said, launch::traces(&traces).expect("a folder"))
    }

    /// Runs a program under the recorder with further variables, however it ends; gives the folder
    /// of its traces.
    pub fn traces(
        &self,
        name: &str,
        ranks: u32,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (PathBuf, ExitStatus) {
        let (traces, output) = self.output(name, ranks, arguments, variables);
        (traces, output.status)
    }

    /// Does that, and gives all that is left of the command.
    pub fn output(
        &self,
        name: &str,
        ranks: u32,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (PathBuf, Output) {
        let program = self.compile(name);
        let traces = self.folder.join(format!("traces-{}-{name}", self.suffix));
        let traces = launch::prepare(&traces, true).expect("writable").expect("forced");
        launch::clear(&traces).expect("emptied");
        let output = self.under(None, &program, (ranks, arguments), variables, &traces);
        print!("{}", String::from_utf8_lossy(&output.stdout));
        tail::collect(&traces).expect("what is left is taken in");
        (traces, output)
    }
}

//! Building the recorder and the test programs, running these under it, reading what it wrote.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use recorder::{launch, tail};
use traces::definitions::Group;
use traces::format::Reader;
use traces::record::Record;

/// An MPI library that is installed.
pub struct Mpi {
    kind: launch::Mpi,
    suffix: &'static str,
    launcher: OsString,
    folder: PathBuf,
}

/// A call as the trace has it.
pub struct Call {
    pub name: String,
    pub thread: u32,
    /// Picoseconds.
    pub enter: u64,
    pub leave: u64,
    pub values: Vec<i64>,
}

/// A trace, read.
pub struct Trace {
    pub path: PathBuf,
    pub ranks: u32,
    pub calls: Vec<Call>,
    pub warning: Option<String>,
    /// Communicators and their local groups.
    pub communicators: Vec<(i64, Vec<u32>)>,
    /// Measured offsets of rank 0's clock, in nanoseconds.
    pub offsets: Vec<i64>,
}

impl Trace {
    fn read(path: &Path) -> Self {
        let mut reader = Reader::new(File::open(path).expect("a trace")).expect("a header");
        let mut record = Record::default();
        let mut calls = Vec::new();
        while reader.next(&mut record).expect("a readable file") {
            let name = record.call().map_or_else(
                || reader.definitions().names.get(&record.id).cloned().unwrap_or_default(),
                |call| call.name.to_owned(),
            );
            let Record { thread, enter, leave, ref values, .. } = record;
            calls.push(Call { name, thread, enter, leave, values: values.clone() });
        }
        let members = |group: &Group| {
            (0..group.len()).filter_map(|index| group.rank(index)).collect::<Vec<_>>()
        };
        let definitions = reader.definitions();
        Self {
            path: path.to_owned(),
            ranks: reader.header().ranks,
            warning: reader.warning().map(|warning| warning.what.to_string()),
            communicators: definitions
                .communicators
                .iter()
                .map(|(number, communicator)| (*number, members(&communicator.local)))
                .collect(),
            offsets: definitions.offsets.iter().map(|offset| offset.nanoseconds).collect(),
            calls,
        }
    }

    /// The calls of a function, in order.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Call> {
        self.calls.iter().filter(move |call| call.name == name)
    }
}

/// The MPI libraries for which the recorder and programs can be built here.
pub fn libraries() -> &'static [Mpi] {
    static FOUND: OnceLock<Vec<Mpi>> = OnceLock::new();
    FOUND.get_or_init(build)
}

fn build() -> Vec<Mpi> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("recorder-programs");
    fs::create_dir_all(&folder).expect("a folder");
    let built = Command::new(env!("CARGO_BIN_EXE_heddle-record-libraries"))
        .arg(&folder)
        .status()
        .expect("the builder runs");
    assert!(built.success());
    let kinds = [(launch::Mpi::OpenMpi, "openmpi"), (launch::Mpi::Mpich, "mpich")];
    let mut found = Vec::new();
    for (kind, suffix) in kinds {
        let launcher = OsString::from(format!("mpirun.{suffix}"));
        let runs = Command::new(&launcher).arg("--version").output();
        if folder.join(kind.file()).exists() && runs.is_ok_and(|output| output.status.success()) {
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
        }
    }

    /// Compiles a program; gives its path.
    fn compile(&self, name: &str) -> PathBuf {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
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
        let output = Command::new(format!("{compiler}.{}", self.suffix))
            .args(["-O1", "-o"])
            .arg(&made)
            .arg(&source)
            .args(["-lm", "-lpthread", "-ldl"])
            .output()
            .expect("the compiler of the MPI library");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        made
    }

    /// Runs a program under the recorder; it must succeed.
    pub fn record(&self, name: &str, ranks: u32, arguments: &[&str]) -> Vec<Trace> {
        let (traces, status) = self.record_with(name, ranks, arguments, &[]);
        assert!(status.success(), "{name} under {}: {status}", self.kind);
        traces
    }

    /// Runs a program under the recorder, however it ends.
    pub fn record_to_the_end(
        &self,
        name: &str,
        ranks: u32,
        arguments: &[&str],
    ) -> (Vec<Trace>, ExitStatus) {
        self.record_with(name, ranks, arguments, &[])
    }

    /// Likewise, with further variables.
    pub fn record_with(
        &self,
        name: &str,
        ranks: u32,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (Vec<Trace>, ExitStatus) {
        let program = self.compile(name);
        let traces = self.folder.join(format!("traces-{}-{name}", self.suffix));
        let traces = launch::prepare(&traces, true).expect("writable").expect("forced");
        let mut command = vec![self.launcher.clone()];
        if self.kind == launch::Mpi::OpenMpi {
            command.push("--oversubscribe".into());
        }
        command.extend(["-n".into(), ranks.to_string().into(), program.into_os_string()]);
        command.extend(arguments.iter().map(OsString::from));
        let folder = Some(self.folder.clone());
        let mut run = launch::command(&command, &traces, None, folder).expect("a command");
        // Containers are often root, which Open MPI refuses without being told twice.
        let root = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
        run.envs(root.map(|name| (name, "1"))).envs(variables.iter().copied());
        let output = run.stdin(Stdio::null()).output().expect("it runs");
        print!("{}", String::from_utf8_lossy(&output.stdout));
        tail::collect(&traces).expect("what is left is taken in");
        let read = |rank: u32| Trace::read(&traces.join(format!("rank-{rank}.hdl")));
        ((0..ranks).map(read).collect(), output.status)
    }
}

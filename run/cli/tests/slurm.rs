//! `heddle study --on slurm`, with stand-ins for the commands of Slurm that carry out what they are
//! given. validation/slurm runs the same on Slurm itself.

mod common;

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use common::Folder;

/// Eleven runs.
const STUDY: &str = "\
[workload]
source = \"pattern:gather\"
[loggops]
L = \"1 us\"
o = \"1 us\"
[study]
ranks = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
";

/// Writes its arguments down and runs the tasks of the array, the last one first.
const SBATCH: &str = r#"#!/bin/sh
echo "$*" >>"$STANDINS/sbatch.txt"
for word; do
    case $word in
    --array=0-*) last=${word#--array=0-} ;;
    --export=ALL,*) export "${word#--export=ALL,}" ;;
    esac
    script=$word
done
while [ "$last" -ge 0 ]; do
    SLURM_ARRAY_TASK_ID=$last sh "$script" >/dev/null
    last=$((last - 1))
done
echo 4711
"#;

/// The job is there at the first question, and forgotten at the second.
const SQUEUE: &str = r#"#!/bin/sh
[ "$*" = "--noheader --format=%i --jobs 4711,4711" ] || exit 9
if [ -e "$STANDINS/asked" ]; then
    echo "slurm_load_jobs error: Invalid job id specified" >&2
    exit 1
fi
touch "$STANDINS/asked"
echo 4711_0
"#;

fn stand_in(folder: &Folder, name: &str, text: &str) {
    fs::create_dir_all(folder.path("bin")).expect("a folder");
    folder.write(&format!("bin/{name}"), text);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(&format!("bin/{name}")), executable).expect("a program");
}

/// Runs a study with the stand-ins before all other commands.
fn study(folder: &Folder, arguments: &str) -> (i32, String, String) {
    let others = std::env::var("PATH").expect("a path");
    let mut command = Command::new(env!("CARGO_BIN_EXE_heddle"));
    command.arg("study").args(arguments.split_whitespace()).current_dir(folder.path(""));
    command.env("PATH", format!("{}:{others}", folder.path("bin").display()));
    command.env("STANDINS", folder.path(""));
    let output = command.output().expect("heddle runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a code"), text(output.stdout), text(output.stderr))
}

/// Eleven runs in chunks of two are six tasks; with at most four in an array, these are two arrays.
/// The tables are those of a study that ran here, also where names hold blanks.
#[test]
fn tasks_of_job_arrays() {
    let folder = Folder::new("slurm arrays");
    folder.write("study.toml", STUDY);
    stand_in(&folder, "sbatch", SBATCH);
    stand_in(&folder, "squeue", SQUEUE);
    let config = "#!/bin/sh\necho 'MaxArrayStuff = 1'; echo 'MaxArraySize            = 4'\n";
    stand_in(&folder, "scontrol", config);
    let here = folder.heddle("study study.toml -o here");
    assert_eq!((here.code, here.stderr.as_str()), (0, ""));
    let arguments = "study.toml -o there --on slurm --chunk 2 --partition short --sbatch --time=5";
    let (code, said, errors) = study(&folder, arguments);
    assert_eq!((code, errors.as_str()), (0, "note: 6 tasks in Slurm's jobs 4711, 4711\n"));
    assert_eq!(said, "11 of 11 runs; the table is there/runs.csv\n");
    assert!(folder.read("there/runs.csv") == folder.read("here/runs.csv"));
    let asked = String::from_utf8(folder.read("sbatch.txt")).expect("text");
    let lines: Vec<_> = asked.lines().collect();
    assert_eq!(lines.len(), 2, "{asked}");
    for (line, array, first) in [(lines[0], "0-3", 0), (lines[1], "0-1", 4)] {
        let array = format!("--array={array} --export=ALL,HEDDLE_FIRST_TASK={first} ");
        assert!(line.contains(&array), "{line}");
        assert!(line.contains("--partition=short --time=5 "), "{line}");
    }
    // All is known, so that nothing is submitted any more.
    let (code, _, errors) = study(&folder, &format!("{arguments} --resume"));
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(folder.read("sbatch.txt").len(), asked.len());
}

/// Errors of Slurm's commands are told, and so is a cluster without them.
#[test]
fn errors_of_slurm() {
    let folder = Folder::new("slurm-errors");
    folder.write("study.toml", STUDY);
    let arguments = "study.toml -o out --on slurm";
    stand_in(&folder, "scontrol", "#!/bin/sh\necho 'MaxArraySize = 0'\n");
    let (code, _, errors) = study(&folder, arguments);
    assert_eq!(code, 1);
    assert!(errors.contains("job arrays are off"), "{errors}");
    stand_in(&folder, "scontrol", "#!/bin/sh\necho 'MaxArraySize = 1001'\n");
    stand_in(&folder, "sbatch", "#!/bin/sh\necho 'error: invalid partition' >&2\nexit 1\n");
    let (code, _, errors) = study(&folder, arguments);
    assert_eq!((code, errors.as_str()), (1, "error: sbatch: error: invalid partition\n"));
    let without = folder.heddle("study study.toml -o none --partition short");
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("--on"), "{}", without.stderr);
}

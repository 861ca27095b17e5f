//! The ends of programs: what they say last counts, and a limit of time ends them.

use crate::common::mpi::{compiled, mpirun, mpirun_as_it_computes};

/// A program with sessions only communicates and computes between its last exchange and its end: a
/// message arrives, whatever its mode and size, and computation takes time.
#[test]
fn the_last_words_of_a_session() {
    let program = compiled("last_words");
    for how in ["send", "ssend", "bsend"] {
        for bytes in [0, 100, 1_000_000] {
            for held in ["", "--in-process"] {
                let ended = mpirun(&format!("-q -n 2 {held}"), &program, &format!("{how} {bytes}"));
                let said = (ended.code, ended.stdout.as_str());
                assert_eq!(said, (0, "received\n"), "{how} {bytes} {held}: {}", ended.stderr);
            }
        }
    }
    for held in ["", "--in-process"] {
        let options = format!("-n 2 --format json {held}");
        let ended = mpirun_as_it_computes(&options, &program, "compute");
        let summary: serde_json::Value = serde_json::from_str(&ended.stdout).expect("a summary");
        let makespan = summary["makespan_ps"].as_u64().expect("a time");
        // 20 million multiplications that wait for each other take four cycles each: no processor
        // does that in 5 ms.
        assert!(makespan > 5_000_000_000, "{held}: {makespan} ps");
    }
}

/// A limit by the clock on the wall ends the ranks and what they started; the option comes before
/// the variable.
#[test]
fn a_limit_of_time() {
    let program = compiled("lingers");
    for (options, variable, code) in
        [("--timeout 1", None, 124), ("", Some("1"), 124), ("--timeout 0", Some("1"), 0)]
    {
        for held in ["", "--in-process"] {
            let mut command = crate::common::mpi::command(&format!("-q -n 2 {held} {options}"));
            command.arg(&program).arg(if code == 0 { "1" } else { "60" });
            command.env_remove("MPIEXEC_TIMEOUT");
            command.envs(variable.map(|seconds| ("MPIEXEC_TIMEOUT", seconds)));
            let ended = crate::common::mpi::ended(&command.output().expect("heddle runs"));
            assert_eq!(ended.code, code, "{held} {options} {variable:?}: {}", ended.stderr);
            assert_eq!(ended.stderr.contains("was ended after 1 s"), code == 124);
        }
    }
    let mut wrong = crate::common::mpi::command("-q -n 1");
    wrong.arg(&program).arg("1").env("MPIEXEC_TIMEOUT", "soon");
    let ended = crate::common::mpi::ended(&wrong.output().expect("heddle runs"));
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("`soon` is no number of seconds"), "{}", ended.stderr);
}

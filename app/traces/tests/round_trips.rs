//! Traces written as text and read again.

use std::path::{Path, PathBuf};

use crate::support::{Call, buffer, finish, messages, program, run};
use schedule::{Kind, Op, Program};
use traces::compile;
use traces::options::{Mode, Options};
use traces::source::{Form, Traces};
use traces::text::convert;

fn written(traces: &Traces, form: Form, name: &str) -> Traces {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    convert(traces, form, &folder).unwrap_or_else(|error| panic!("{error}"));
    let found = Traces::find(&folder).unwrap();
    assert_eq!(found.form, form);
    found
}

fn recorded(name: &str) -> Traces {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/traces");
    Traces::find(&folder.join(name)).unwrap()
}

fn ops(traces: &Traces, mode: Mode, rank: u32) -> Vec<Op> {
    let options = Options { mode, ..Options::default() };
    let image = compile(traces, &options).unwrap_or_else(|error| panic!("{error}")).image;
    (0..image.ops(rank)).map(|index| image.op(rank, index)).collect()
}

/// Text in liballprof's form comes back with every time and argument that matters, also in the mode
/// that needs the times within calls.
#[test]
fn allprof_as_allprof() {
    for name in ["ltest", "ring-allreduce", "sweep3d-2x2", "bcast"] {
        let before = recorded(name);
        let after = written(&before, Form::Allprof, &format!("again-{name}"));
        for mode in [Mode::Gaps, Mode::Aligned] {
            for rank in 0..before.ranks() {
                let same = ops(&before, mode, rank) == ops(&after, mode, rank);
                assert!(same, "{name} {mode:?} {rank}");
            }
        }
    }
}

/// A trace that is converted has the same messages, and its computation to the picosecond.
#[test]
fn allprof_as_time_independent() {
    for name in ["ltest", "sweep3d-2x2"] {
        let before = recorded(name);
        let after = written(&before, Form::Independent, &format!("independent-{name}"));
        for rank in 0..before.ranks() {
            let (a, b) = (ops(&before, Mode::Gaps, rank), ops(&after, Mode::Gaps, rank));
            let messages = |ops: &[Op]| -> Vec<_> {
                let messages = ops.iter().filter(|op| op.kind != Kind::Calc);
                messages.map(|op| (op.kind, op.peer, op.tag, op.size)).collect()
            };
            assert_eq!(messages(&a), messages(&b), "{name} {rank}");
            let computed = |ops: &[Op]| -> u64 {
                ops.iter().filter(|op| op.kind == Kind::Calc).map(|op| op.size).sum()
            };
            assert!(computed(&a).abs_diff(computed(&b)) <= b.len() as u64, "{name} {rank}");
        }
    }
}

/// A receive from anyone, arrays of requests of which one is done first, a persistent exchange, and
/// a successful test: rank 1 sends at 10, there at 11; 2 + 2 us follow; the exchange is started at
/// 15 by rank 0 and was at 10 by rank 1, so that rank 0 has its message and rank 1 has rank 0's at
/// 16.
#[test]
fn requests() {
    let zero: Vec<Call> = vec![
        ("MPI_Irecv", 5, 5, buffer(1, &[1, 9, 0, 7])),
        ("MPI_Irecv", 5, 5, buffer(1, &[1, 3, 0, 8])),
        ("MPI_Waitany", 6, 30, vec![2, 8, 7, 1, 1, 9, 4]),
        ("MPI_Test", 30, 30, vec![8, 0, -4, -4, -4]),
        ("MPI_Testall", 32, 32, vec![1, 8, 1, 1, 1, 3, 4]),
        ("MPI_Send_init", 32, 32, buffer(2, &[1, 1, 0, 5])),
        ("MPI_Recv_init", 32, 32, buffer(2, &[1, 1, 0, 6])),
        ("MPI_Startall", 34, 34, vec![2, 5, 6]),
        ("MPI_Waitall", 34, 35, vec![2, 5, 6, 0]),
    ];
    let one: Vec<Call> = vec![
        ("MPI_Send", 10, 10, buffer(1, &[0, 9, 0])),
        ("MPI_Send", 10, 10, buffer(1, &[0, 3, 0])),
        ("MPI_Send_init", 10, 10, buffer(2, &[0, 1, 0, 5])),
        ("MPI_Recv_init", 10, 10, buffer(2, &[0, 1, 0, 6])),
        ("MPI_Startall", 10, 10, vec![2, 5, 6]),
        ("MPI_Waitall", 10, 40, vec![2, 5, 6, 0]),
    ];
    let before = run("requests", &[program(zero, 35), program(one, 40)], &[]);
    assert_eq!(finish(&before, &Options::default()), [15, 16]);
    for form in [Form::Allprof, Form::Independent] {
        let after = written(&before, form, &format!("requests-{form:?}"));
        assert_eq!(finish(&after, &Options::default()), [15, 16], "{form:?}");
        for rank in 0..2 {
            assert_eq!(messages(&before, rank), messages(&after, rank), "{form:?} {rank}");
        }
    }
}

/// A call that a form has no words for is named, and so are all of them.
#[test]
fn what_has_no_words() {
    let calls = vec![
        ("MPI_Win_create", 1, 1, vec![0, 64, 0, 1]),
        ("MPI_Ibarrier", 2, 2, vec![0, 3]),
        ("MPI_Barrier", 3, 3, vec![0]),
    ];
    let traces = run("wordless", &[program(calls, 4)], &[]);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wordless-text");
    std::fs::create_dir_all(&folder).unwrap();
    let error = convert(&traces, Form::Independent, &folder).unwrap_err().to_string();
    for part in
        ["call 2: MPI_Win_create on rank 0", "call 3: MPI_Ibarrier on rank 0: time-independent"]
    {
        assert!(error.contains(part), "{error}");
    }
}

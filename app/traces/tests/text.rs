//! Text traces: what is read, and what is wrong with them.

use std::path::PathBuf;

use schedule::Kind::{self, Calc, Recv};
use schedule::Program;
use traces::compile;
use traces::options::{Options, Scale};
use traces::source::{Form, Traces};

fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

/// Operations of a rank: kind, peer, bytes or picoseconds.
fn ops(traces: &Traces, rank: u32) -> Vec<(Kind, u32, u64)> {
    let compiled = compile(traces, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let ops = (0..compiled.image.ops(rank)).map(|index| compiled.image.op(rank, index));
    ops.map(|op| (op.kind, op.peer, op.size)).collect()
}

#[test]
fn padded_names_and_any_source_of_mpich() {
    let recv = "MPI_Init:-:1:2:10\nMPI_Irecv:12:64:4:1,4,4:-2:-1:9,0,2:500:13\n\
                MPI_Irecv:14:64:4:1,4,4:1:7:9,0,2:504:14\nMPI_Waitall:15:2:500:0:20\n\
                MPI_Finalize:25:-\n";
    let send = "MPI_Init:-:1:2:10\nMPI_Send:12:64:4:1,4,4:0:3:9,1,2:13\n\
                MPI_Send:13:64:4:1,4,4:0:7:9,1,2:13\nMPI_Finalize:25:-\n";
    let path = folder("padded", &[("t-00.txt", recv), ("t-01.txt", send)]);
    let traces = Traces::find(&path.join("t-")).unwrap();
    assert_eq!((traces.form, traces.ranks()), (Form::Allprof, 2));
    // Each receive and the computation before it; the wait, that before it, and the last. Requests
    // lie 4 bytes apart.
    let calc = |us: u64| (Calc, 0, us * 1_000_000);
    let expected =
        [(Recv, u32::MAX, 16), calc(2), (Recv, 1, 16), calc(1), calc(0), calc(1), calc(5)];
    assert_eq!(ops(&traces, 0), expected);
    let compiled = compile(&traces, &Options::default()).unwrap();
    // The wait needs both receives and the computation before it.
    assert_eq!(compiled.image.dependencies(0, 4), 3);
}

/// Line 2 is cut, line 3 is its rest, line 4 has a wrong datatype, line 5 an unknown argument too
/// many.
#[test]
fn all_that_is_wrong_is_reported_with_its_place() {
    let text = "MPI_Init:-:1:2:10\nMPI_Send:12:64:4:1,4,4\n:0:3:9,0,1:13\n\
                MPI_Send:12:64:4:1,4:0:3:9,0,1:13\nMPI_Barrier:14:9,0,1:15:16\n";
    let path = folder("wrong", &[("t-0.txt", text)]);
    let error =
        compile(&Traces::find(&path).unwrap(), &Options::default()).unwrap_err().to_string();
    for part in [
        "t-0.txt:2:23",
        "the line ends where a number should follow",
        "t-0.txt:3:1",
        "expected a call",
        "t-0.txt:4:18",
        "expected a datatype as id, size and extent",
        "t-0.txt:5:25",
        "MPI_Barrier has fewer arguments",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn missing_ranks_are_named() {
    let path = folder("missing", &[("t-0.txt", "#\n"), ("t-2.txt", "#\n")]);
    let error = Traces::find(&path).unwrap_err().to_string();
    assert!(error.ends_with("no trace of rank 1, but one of rank 2"), "{error}");
}

/// 2e6 operations take 2 ms at 1 Gflop/s. The broken `Ssend` and `iallreduce` are read; 4 doubles
/// have 32 bytes. The synchronous send ends with an answer of no bytes, which the other rank sends
/// behind its receive.
#[test]
fn time_independent_traces() {
    let rank = |me: u32| {
        let message = if me == 0 { "0 Ssend 1 5 10 1" } else { "1 recv 0 5 10 1" };
        format!(
            "{me} init\n{me} compute 2e6\n{message}\n{me} iallreduce 4 1e3 0\n{me} waitall 1\n\
             {me} finalize\n"
        )
    };
    let path =
        folder("ti", &[("a.txt", &rank(0)), ("b.txt", &rank(1)), ("run.index", "a.txt\nb.txt\n")]);
    let traces = Traces::find(&path).unwrap();
    assert_eq!((traces.form, traces.ranks()), (Form::Independent, 2));
    let expected = [
        (Kind::Send, 1, 40),
        (Recv, 1, 0),
        (Calc, 0, 0),
        (Calc, 0, 2_000_000_000),
        (Kind::Send, 1, 32),
        (Recv, 1, 32),
        (Calc, 0, 0),
        // The reduction's thousand operations come behind it.
        (Calc, 0, 0),
        (Calc, 0, 1_000_000),
        (Calc, 0, 0),
    ];
    assert_eq!(ops(&traces, 0), expected);
    assert_eq!(ops(&traces, 1).get(..2), Some(&[(Recv, 0, 40), (Kind::Send, 0, 0)][..]));
}

#[test]
fn a_time_independent_trace_with_mistakes() {
    let path = folder(
        "ti-wrong",
        &[("a.txt", "0 init\n0 send 0 1\n0 fly 3\n0 bcast x\n"), ("run.index", "a.txt\n")],
    );
    let error =
        compile(&Traces::find(&path).unwrap(), &Options::default()).unwrap_err().to_string();
    for part in [
        "a.txt:2:11",
        "a count should follow",
        "a.txt:3:3",
        "unknown action `fly`",
        "a.txt:4:9",
        "found `x`",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// Two receives, from ranks 1 and 2, at addresses 500 and 508, and `MPI_Waitany` for both, three
/// times. The text does not say which one the first call completed, so that nothing waits there; a
/// third receive at 508 tells that it was the second one, which the call that posts it waits for.
/// One completion is known to belong to it; the next two are the other two requests.
#[test]
fn waiting_for_any_request() {
    let receive =
        |at, from, address| format!("MPI_Irecv:{at}:64:4:1,4,4:{from}:3:9,0,3:{address}:{at}\n");
    let wait = |at| format!("MPI_Waitany:{at}:2:500:77:78:{at}\n");
    let zero = format!(
        "MPI_Init:-:1:2:10\n{}{}{}{}{}{}MPI_Finalize:20:-\n",
        receive(11, 1, 500),
        receive(11, 2, 508),
        wait(12),
        receive(13, 2, 508),
        wait(14),
        wait(15),
    );
    let send = |rank, count| {
        let send = format!("MPI_Send:12:64:4:1,4,4:0:3:9,{rank},3:12\n");
        format!("MPI_Init:-:1:2:10\n{}MPI_Finalize:20:-\n", send.repeat(count))
    };
    let files = [("t-0.txt", zero), ("t-1.txt", send(1, 1)), ("t-2.txt", send(2, 2))];
    let path = folder("any", &files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let compiled = compile(&Traces::find(&path).unwrap(), &Options::default()).unwrap();
    assert!(
        compiled.warnings.iter().any(|warning| warning.starts_with("3 times")),
        "{:?}",
        compiled.warnings
    );
    let image = &compiled.image;
    // Whom each operation waits for: a receive and the computation before it, three times; the
    // third receive's also for the second receive; the last wait for the receives from 1 and the
    // second from 2, and the computation before it.
    let ops: Vec<_> =
        (0..image.ops(0)).map(|op| (image.op(0, op).kind, image.dependencies(0, op))).collect();
    let receives = [(Recv, 1), (Calc, 0), (Recv, 1), (Calc, 1), (Recv, 1), (Calc, 2)];
    assert_eq!(ops, [&receives[..], &[(Calc, 3), (Calc, 1), (Calc, 1)]].concat());
}

/// Rank 0's receive at address 500 is tested in all four ways, none of which tells the outcome:
/// nothing waits there. Its handle is used again by a second receive, which waits for the first
/// one, as `MPI_Waitsome` does for the second: it has no other.
#[test]
fn tests_do_not_tell_their_outcome() {
    let receive = |at| format!("MPI_Irecv:{at}:64:4:1,4,4:1:3:9,0,2:500:{at}\n");
    let zero = format!(
        "MPI_Init:-:1:2:10\n{}MPI_Test:12:500:70:71:12\nMPI_Testany:13:1:500:70:71:72:13\n\
         MPI_Testall:14:1:500:70:71:14\nMPI_Testsome:15:1:500:70:71:72:15\n{}\
         MPI_Waitsome:18:1:500:70:71:72:18\nMPI_Finalize:20:-\n",
        receive(11),
        receive(16),
    );
    let send = "MPI_Send:12:64:4:1,4,4:0:3:9,1,2:12\n".repeat(2);
    let one = format!("MPI_Init:-:1:2:10\n{send}MPI_Finalize:20:-\n");
    let path = folder("tests", &[("t-0.txt", &zero), ("t-1.txt", &one)]);
    let image = compile(&Traces::find(&path).unwrap(), &Options::default()).unwrap().image;
    // A receive and the computation before it, twice, the second behind the first receive as well
    // as the start of it; the join of MPI_Waitsome with the second receive and the computation
    // before it; the end.
    let ops: Vec<_> =
        (0..image.ops(0)).map(|op| (image.op(0, op).kind, image.dependencies(0, op))).collect();
    let receives = [(Recv, 1), (Calc, 0), (Recv, 1), (Calc, 2)];
    assert_eq!(ops, [&receives[..], &[(Calc, 2), (Calc, 1), (Calc, 1)]].concat());
}

/// The text does not say which message a probe found: the error names call, rank and line.
#[test]
fn a_probe_does_not_tell_what_it_found() {
    let zero = "MPI_Init:-:1:2:10\nMPI_Probe:11:-1:3:9,0,1:70:12\nMPI_Finalize:20:-\n";
    let path = folder("probe", &[("t-0.txt", zero)]);
    let error = compile(&Traces::find(&path).unwrap(), &Options::default()).unwrap_err();
    let error = error.to_string();
    for part in ["t-0.txt: line 2: MPI_Probe on rank 0: ", "does not say which message was found"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

fn one_file(name: &str, text: &str) -> Traces {
    let path = folder(name, &[("a.txt", text), ("run.index", "a.txt\n")]);
    Traces::find(&path).unwrap()
}

fn error_of(traces: &Traces) -> String {
    compile(traces, &Options::default()).unwrap_err().to_string()
}

/// 1e6 operations take 1 ms, 2 ms on a host half as fast; the sleep takes its 3 ms all the same. So
/// does the nanosecond before the end.
#[test]
fn sleep_is_not_scaled() {
    let text = "0 init\n0 compute 1e6\n0 sleep 0.003\n0 isend 0 5 8\n0 sleep 1e-9\n0 finalize\n";
    let traces = one_file("ti-sleep", text);
    let scale = Scale { all: 2.0, ..Scale::default() };
    let options = Options { scale, marks: true, blocking: true, ..Options::default() };
    let compiled = compile(&traces, &options).unwrap();
    let image = &compiled.image;
    let ops: Vec<_> =
        (0..image.ops(0)).map(|op| (image.op(0, op).size, image.is_sleep(0, op))).collect();
    // The send, the computation before it, the sleep before that; the end, and the sleep before it.
    let (ms, ns) = (1_000_000_000, 1000);
    let end = [(0, false), (ns, true), (0, false)];
    assert_eq!(ops, [&[(8, false), (2 * ms, false), (3 * ms, true)], &end[..]].concat());
    let places: Vec<_> = compiled.marks[0].iter().map(|mark| (mark.first, mark.before)).collect();
    assert_eq!(places, [(2, 1), (4, 3)]);
    // The send waits for the computation, that for the sleep; the computation before the end for
    // its sleep, which waits for the send's start; the end for that computation and for the send.
    let waits: Vec<_> = (0..image.ops(0)).map(|op| image.dependencies(0, op)).collect();
    assert_eq!(waits, [1, 1, 0, 1, 1, 2]);
}

/// 4e16 operations and 4e16 of a reduction would take longer than 213 days at 1 Gflop/s; a host a
/// thousand times as fast does both in 80 000 s.
#[test]
fn amounts_beyond_the_range_of_time_at_the_speed_of_the_trace() {
    let text = "0 init\n0 compute 4e16\n0 allreduce 10 4e16\n0 finalize\n";
    let traces = one_file("ti-far", text);
    let scale = Scale { all: 1e-3, ..Scale::default() };
    let image = compile(&traces, &Options { scale, ..Options::default() }).unwrap().image;
    let long = (0..image.ops(0)).map(|op| image.op(0, op).size).filter(|size| *size > 0);
    assert_eq!(long.collect::<Vec<_>>(), [80_000_000_000_000_000]);
    // 2^64 ps are 1.8446744e7 s.
    let error = error_of(&traces);
    for part in [
        "a.txt: line 3: MPI_Allreduce on rank 0: the computation before it takes 4e7 s",
        "a.txt: line 4: MPI_Finalize on rank 0",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    for far in ["compute 1e300", "compute 1e308\n0 compute 1e308", "sleep 1e300"] {
        let traces = one_file("ti-farther", &format!("0 init\n0 {far}\n0 finalize\n"));
        let error = error_of(&traces);
        assert!(error.contains("time goes up to 213 days"), "{far}: {error}");
    }
}

/// Amounts that no program can have said are refused; SMPI's own numbers for any source, any tag
/// and no process are read.
#[test]
fn negative_amounts_are_mistakes() {
    let text = "0 init\n0 send 0 0 -10 6\n0 compute -5\n0 sleep -1\n0 isend 0 -3 1\n0 bcast -1\n\
                0 gatherv 1 -2\n0 allreduce 1 -1\n0 recv -555 -444 8\n0 send -666 -444 8\n\
                0 finalize\n";
    let error = error_of(&one_file("ti-negative", text));
    for place in ["2:12", "3:11", "4:9", "5:11", "6:9", "7:13", "8:15"] {
        assert!(error.contains(&format!("a.txt:{place}\n")), "{place}: {error}");
    }
    assert_eq!(error.matches("it is negative").count(), 7, "{error}");
    let text = "MPI_Init:-:1:2:10\nMPI_Send:12:64:-10:1,4,4:0:3:9,0,1:13\n\
                MPI_Send:13:64:1:1,4,4:0:-5:9,0,1:14\nMPI_Irecv:14:64:1:1,4,4:-2:-1:9,0,1:500:15\n\
                MPI_Irecv:15:64:1:1,4,4:0:-7:9,0,1:508:16\n\
                MPI_Bcast:17:64:-1:1,4,4:0:9,0,1:18\nMPI_Finalize:25:-\n";
    let path = folder("negative", &[("t-0.txt", text)]);
    let error = error_of(&Traces::find(&path).unwrap());
    for part in [
        "line 2: MPI_Send on rank 0: a count of -10: it is negative",
        "line 3: MPI_Send on rank 0: a tag of -5: it is negative",
        "line 5: MPI_Irecv on rank 0: a tag of -7: it is negative",
        "line 6: MPI_Bcast on rank 0: a count of -1: it is negative",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(error.matches("it is negative").count(), 4, "{error}");
}

/// The word is for those who show it; an empty file has a first line all the same.
#[test]
fn a_warning_does_not_say_that_it_is_one() {
    let path = folder("unfinished", &[("t-0.txt", "MPI_Init:-:1:2:10\n"), ("t-1.txt", "")]);
    let compiled = compile(&Traces::find(&path).unwrap(), &Options::default()).unwrap();
    let [first, second] = compiled.warnings.as_slice() else { panic!("{:?}", compiled.warnings) };
    for (warning, place) in [(first, "t-0.txt:1:1\n"), (second, "t-1.txt:1:1\n")] {
        assert!(warning.starts_with("the trace ends without MPI_Finalize\n"), "{warning}");
        assert!(warning.contains(place), "{warning}");
    }
}

/// Sleep stays sleep in time-independent text.
#[test]
fn sleep_is_written_as_sleep() {
    let traces = one_file("ti-again", "0 init\n0 compute 1e6\n0 sleep 0.5\n0 finalize\n");
    let path = folder("ti-written", &[]);
    traces::text::convert(&traces, Form::Independent, &path).unwrap();
    let written = std::fs::read_to_string(path.join("rank-0.txt")).unwrap();
    assert_eq!(written, "0 init\n0 compute 1000000\n0 sleep 0.5\n0 finalize\n");
}

fn opened(name: &str, files: &[(&str, &str)]) -> Result<Traces, String> {
    Traces::find(&folder(name, files).join("run.index")).map_err(|error| error.to_string())
}

#[test]
fn an_index_without_files_and_a_file_without_actions_are_errors() {
    let error = opened("ti-empty-index", &[("run.index", "# nothing\n")]).unwrap_err();
    assert!(error.ends_with("run.index: this index lists no files"), "{error}");
    let error = opened("ti-no-actions", &[("run.index", "a.ti\n"), ("a.ti", "# x\n")]).unwrap_err();
    assert!(error.ends_with("a.ti: there are no actions in it"), "{error}");
}

/// Each file belongs to the rank whose place in the index it has.
#[test]
fn an_index_in_another_order_is_an_error() {
    let traces = opened(
        "ti-order",
        &[
            ("run.index", "b.ti\na.ti\n"),
            ("a.ti", "0 init\n0 send 1 7 8\n0 finalize\n"),
            ("b.ti", "1 init\n1 recv 0 7 8\n1 finalize\n"),
        ],
    );
    let error = error_of(&traces.unwrap());
    for part in ["b.ti:1:1\n", "rank 1 in the trace of rank 0", "a.ti:1:1\n"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// The number of ranks is that of the ranks with lines, so that no number decides how many there
/// are.
#[test]
fn a_file_of_all_ranks_has_lines_of_each() {
    let find = |name: &str, text: &str| opened(name, &[("run.index", "a.ti\n"), ("a.ti", text)]);
    let error = find("ti-far-rank", "0 init\n18446744073709551615 init\n").unwrap_err();
    assert!(error.contains("no trace of rank 1, but one of rank"), "{error}");
    let error = find("ti-gap", "0 init\n3 init\n1 init\n").unwrap_err();
    assert!(error.ends_with("no trace of rank 2, but one of rank 3"), "{error}");
    // Lines that alternate count as in the file: rank 1's third is line 6.
    let text = "0 init\n1 init\n# x\n0 barrier\n1 barrier\n1 fly\n0 finalize\n1 finalize\n";
    let error = error_of(&find("ti-alternate", text).unwrap());
    assert!(error.contains("a.ti:6:3\n") && error.contains("unknown action `fly`"), "{error}");
    let text = text.replace("1 fly\n", "");
    assert_eq!(find("ti-alternate-right", &text).unwrap().ranks(), 2);
}

#[test]
fn calls_behind_the_end_are_errors() {
    let error = error_of(&one_file("ti-behind", "0 init\n0 finalize\n0 compute 5\n"));
    assert!(
        error.contains("a.txt:3:3\n") && error.contains("`compute` behind `finalize`"),
        "{error}"
    );
    let text = "MPI_Init:-:1:2:10\nMPI_Finalize:25:-\nMPI_Barrier:26:9,0,1:27\n";
    let path = folder("behind", &[("t-0.txt", text)]);
    let error = error_of(&Traces::find(&path).unwrap());
    assert!(
        error.contains("line 3: MPI_Barrier on rank 0: it comes behind MPI_Finalize"),
        "{error}"
    );
}

#[test]
fn what_a_line_does_not_use_is_warned_of() {
    let traces = one_file("ti-more", "0 init\n0 compute 1e6 garbage\n0 barrier 7\n");
    let compiled = compile(&traces, &Options::default()).unwrap();
    let [first, second, third] = compiled.warnings.as_slice() else {
        panic!("{:?}", compiled.warnings)
    };
    assert!(first.starts_with("this and what follows it on the line is not used"), "{first}");
    assert!(first.contains("a.txt:2:15\n") && second.contains("a.txt:3:11\n"), "{second}");
    assert!(third.starts_with("the trace ends without `finalize`"), "{third}");
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let mark = |text: &str| format!("\u{feff}{text}");
    let files = [
        ("run.index", mark("a.ti\nb.ti\n")),
        ("a.ti", mark("0 init\n0 finalize\n")),
        ("b.ti", mark("1 init\n1 finalize\n")),
    ];
    let traces = opened("ti-mark", &files.each_ref().map(|(name, text)| (*name, text.as_str())));
    assert!(compile(&traces.unwrap(), &Options::default()).unwrap().warnings.is_empty());
    let files = [("run.index", mark("a.ti\n")), ("a.ti", mark("1 init\n0 init\n"))];
    let traces =
        opened("ti-mark-shared", &files.each_ref().map(|(name, text)| (*name, text.as_str())));
    assert_eq!(traces.unwrap().ranks(), 2);
    let text = mark("MPI_Init:-:1:2:10\nMPI_Finalize:25:-\n");
    let traces = Traces::find(&folder("mark", &[("t-0.txt", &text)])).unwrap();
    assert_eq!((traces.form, traces.ranks()), (Form::Allprof, 1));
    assert!(compile(&traces, &Options::default()).unwrap().warnings.is_empty());
}

/// Lines are read that SMPI's recorder writes and its replayer refuses: requests of collectives by
/// SMPI's tags, ranks that it does not know, calls that do not say which request they complete,
/// persistent requests with their length in bytes.
#[test]
fn what_smpi_records_is_read() {
    let rank = |me: u32| {
        let other = 1 - me;
        let wait = if me == 0 { "-333 -333" } else { "0 0" };
        let end = format!("{me} ibarrier\n{me} wait {wait} -779\n{me} test -333 -333 -779\n");
        let lines = if me == 0 {
            "0 send -333 11 10 1\n0 ISsend 1 8 10 1\n0 wait 0 1 8\n0 Start 1 10 20 1\n\
             0 wait 0 1 10\n0 Ssend 1 12 0 1\n"
                .to_owned()
        } else {
            "1 irecv -333 -444 10 1\n1 wait -333 1 -444\n1 Start 1 10 20 1\n1 wait 0 1 10\n\
             1 recv 0 12 0 1\n"
                .to_owned()
        };
        let any = format!(
            "{me} isend {other} 1 100 2\n{me} irecv {other} 1 100 2\n{me} waitAny 2\n\
             {me} waitAny 2\n{me} isend {other} 2 100 2\n{me} irecv {other} 2 100 2\n{me} testall\n\
             {me} waitall 2\n"
        );
        format!("{me} init\n{lines}{any}{end}{me} finalize\n")
    };
    let files = [("run.index", "a.ti\nb.ti\n".to_owned()), ("a.ti", rank(0)), ("b.ti", rank(1))];
    let traces =
        opened("ti-smpi", &files.each_ref().map(|(name, text)| (*name, text.as_str()))).unwrap();
    let sizes = |rank| {
        let ops = ops(&traces, rank).into_iter();
        ops.filter(|op| op.0 == Kind::Send).map(|op| op.2).collect::<Vec<_>>()
    };
    // 10 ints; 20 bytes; none; 100 chars twice; the barrier's message.
    assert_eq!(sizes(0).get(..5), Some(&[40, 20, 0, 100, 100][..]));
    // An answer to the synchronous send of 40 bytes, and one to that of none.
    assert_eq!(sizes(1).iter().filter(|size| **size == 100).count(), 2);
    let error = error_of(&one_file("ti-startall", "0 init\n0 Startall\n0 finalize\n"));
    assert!(error.contains("`Startall` does not say which requests it starts"), "{error}");
}

/// Double after `init` with an argument, bytes otherwise; type 14 is a long double of 16 bytes, -1
/// has no data.
#[test]
fn datatypes_of_smpi() {
    let sizes = |name: &str, init: &str| {
        let text =
            format!("0 {init}\n0 send 0 1 10\n0 send 0 1 10 14\n0 send 0 1 10 -1\n0 finalize\n");
        let ops = ops(&one_file(name, &text), 0).into_iter();
        ops.filter(|op| op.0 == Kind::Send).map(|op| op.2).collect::<Vec<_>>()
    };
    assert_eq!(sizes("ti-double", "init 1"), [80, 160, 0]);
    assert_eq!(sizes("ti-bytes", "init"), [10, 160, 0]);
    let error = error_of(&one_file("ti-type", "0 init\n0 send 0 1 10 60\n0 finalize\n"));
    assert!(error.contains("a.txt:2:15\n") && error.contains("they are -1 and 0 to 59"), "{error}");
}

//! The grammar of GOAL text: what is read, and as what.

use schedule::goal::{Diagnostic, Image, source_line, write_text};
use schedule::{ANY, Edge, Kind, Op, Program, Run};

fn read(text: &str) -> (Image, Vec<Diagnostic>) {
    Image::from_text(text.as_bytes()).unwrap_or_else(|errors| {
        let errors: Vec<_> = errors.iter().map(|error| error.render("test.goal")).collect();
        panic!("{}", errors.concat())
    })
}

/// Reads a text without warnings and compares with the canonical text of the same program.
#[track_caller]
fn check(text: &str, expect: &str) {
    let (image, warnings) = read(text);
    assert_eq!(warnings, []);
    let mut out = Vec::new();
    write_text(&image, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), expect);
}

/// Checks like `check`, for the operations of a single rank.
#[track_caller]
fn check_rank(ops: &str, expect: &str) {
    let text = format!("num_ranks 1\nrank 0 {{\n{ops}\n}}\n");
    let expect = format!("num_ranks 1\n\nrank 0 {{\n{expect}\n}}\n");
    check(&text, &expect);
}

#[test]
fn operations_of_the_published_grammar() {
    let (image, _) = read(
        "num_ranks 3\n\
         rank 0 {\n\
         l1: calc 100\n\
         l2: calc 18446744073709551615 cpu 255\n\
         l3: send 10b to 1\n\
         l4: send 10b to 2 tag 4294967294 cpu 3 nic 4\n\
         l5: recv 0b from 1 tag 5 nic 6\n\
         l6: recv 7b from -1 tag -1\n\
         }\nrank 1 {\n}\nrank 2 {\n}\n",
    );
    let op = |kind, peer, tag, size, cpu, nic| Op { kind, peer, tag, size, cpu, nic };
    let expect = [
        op(Kind::Calc, 0, 0, 100, 0, 0),
        op(Kind::Calc, 0, 0, u64::MAX, 255, 0),
        op(Kind::Send, 1, 0, 10, 0, 0),
        op(Kind::Send, 2, 4_294_967_294, 10, 3, 4),
        op(Kind::Recv, 1, 5, 0, 0, 6),
        op(Kind::Recv, ANY, ANY, 7, 0, 0),
    ];
    let found: Vec<_> = (0..image.ops(0)).map(|index| image.op(0, index)).collect();
    assert_eq!(found, expect);
    assert_eq!((image.ranks(), image.cpus(), image.nics()), (3, 256, 7));
    assert_eq!((image.ops(1), image.ops(2)), (0, 0));
}

#[test]
fn spaces_that_the_published_grammar_allows() {
    check(
        "num_ranks 2\r\n\r\nrank 0{\r\na:send 10 b to 1\t \r\nb :recv 10bfrom1tag2cpu3nic4\r\n}\r\n\
         \r\nrank 1 {}",
        "num_ranks 2\n\nrank 0 {\nl1: send 10b to 1\nl2: recv 10b from 1 tag 2 cpu 3 nic 4\n}\n\n\
         rank 1 {\n}\n",
    );
}

#[test]
fn labels_may_contain_keywords_and_most_may_be_keywords() {
    check_rank(
        "send1: calc 1\nrank2: calc 2\ntag: calc 3 cpu 1\ncpu: calc 4\nb: calc 5\n\
         cpu requires send1\nb requires tag",
        "l1: calc 1\nl2: calc 2\nl3: calc 3 cpu 1\nl4: calc 4\nl4 requires l1\nl5: calc 5\n\
         l5 requires l3",
    );
}

#[test]
fn operations_without_labels() {
    check_rank("calc 1\nx: calc 2\ncalc 3", "l1: calc 1\nl2: calc 2\nl3: calc 3");
}

#[test]
fn indentation_and_comments_anywhere_between_statements() {
    check_rank(
        "\t // first\n  a: calc 1 // trailing { } l9\n  /* two\n lines */ b: calc 2 /* x */\n\
         /**/b requires a/*y*/",
        "l1: calc 1\nl2: calc 2\nl2 requires l1",
    );
}

#[test]
fn a_comment_at_the_end_needs_no_newline() {
    check("num_ranks 1 rank 0 { calc 1 } // end", "num_ranks 1\n\nrank 0 {\nl1: calc 1\n}\n");
}

#[test]
fn a_byte_order_mark_is_passed() {
    check("\u{feff}num_ranks 1\nrank 0 {\n}", "num_ranks 1\n\nrank 0 {\n}\n");
}

#[test]
fn several_statements_on_a_line() {
    check_rank(
        "a: calc 1 b: calc 2 cpu 3 c: send 1b to 0 tag: calc 4 tag requires a b cpu: calc 5 cpu \
         requires tag",
        "l1: calc 1\nl2: calc 2 cpu 3\nl3: send 1b to 0\nl4: calc 4\nl4 requires l1\n\
         l4 requires l2\nl5: calc 5\nl5 requires l4",
    );
}

#[test]
fn labels_used_before_they_are_defined() {
    check_rank(
        "first requires second\nfirst: calc 1\nthird irequires third2\nsecond: calc 2\n\
         third: calc 3\nthird2: calc 4",
        "l1: calc 1\nl2: calc 2\nl1 requires l2\nl3: calc 3\nl4: calc 4\nl3 irequires l4",
    );
}

#[test]
fn lists_of_dependencies() {
    let expect = "l1: calc 1\nl2: calc 2\nl3: calc 3\nl3 requires l1\nl3 requires l2\nl4: calc 4\n\
                  l4 irequires l1\nl4 irequires l3";
    check_rank(
        "l1: calc 1\nl2: calc 2\nl3: calc 3\nl3 requires l1, l2\nl4: calc 4\nl4 irequires l1 ,l3",
        expect,
    );
    check_rank(
        "l1: calc 1\nl2: calc 2\nl3: calc 3\nl3 requires l1 l2 l4: calc 4 l4 irequires l1 l3",
        expect,
    );
}

#[test]
fn repeated_dependencies_count_each_time() {
    let (image, _) =
        read("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\nb requires a\n}");
    assert_eq!(image.dependencies(0, 1), 2);
    assert_eq!(dependents(&image, 0, Edge::Done), [1, 1]);
}

#[test]
fn dependents_keep_the_order_of_their_lines() {
    let (image, _) = read(
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\n\
         d requires a\nb irequires a\nb requires a\nd irequires a\nc requires a\n}",
    );
    assert_eq!(dependents(&image, 0, Edge::Done), [3, 1, 2]);
    assert_eq!(dependents(&image, 0, Edge::Started), [1, 3]);
    let counts: Vec<_> = (0..4).map(|op| image.dependencies(0, op)).collect();
    assert_eq!(counts, [0, 2, 1, 2]);
}

fn dependents(image: &Image, op: u32, edge: Edge) -> Vec<u32> {
    let mut found = Vec::new();
    image.dependents(0, op, edge, &mut |op| found.push(op));
    found
}

#[test]
fn ranks_in_any_order() {
    check(
        "rank 2 {\ncalc 2\n}\nnum_ranks 3\nrank 0 {\ncalc 0\n}\nrank 1 {\ncalc 1\n}",
        "num_ranks 3\n\nrank 0 {\nl1: calc 0\n}\n\nrank 1 {\nl1: calc 1\n}\n\nrank 2 {\n\
         l1: calc 2\n}\n",
    );
}

#[test]
fn the_number_of_ranks_may_come_in_the_first_block() {
    check(
        "rank 0 {\nsend 1b to 1\nnum_ranks 2\n}\nrank 1 {\n}",
        "num_ranks 2\n\nrank 0 {\nl1: send 1b to 1\n}\n\nrank 1 {\n}\n",
    );
}

#[test]
fn missing_ranks_are_empty_and_warned_of() {
    let (image, warnings) = read("num_ranks 4\nrank 1 {\ncalc 7\n}");
    let sizes: Vec<_> = (0..4).map(|rank| image.ops(rank)).collect();
    assert_eq!(sizes, [0, 1, 0, 0]);
    assert_eq!(image.op(0, 0).size, 0);
    assert_eq!(image.op(1, 0).size, 7);
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["1:1: warning: 3 ranks have no block and do nothing, rank 0 first"]);
    let (image, warnings) = read("num_ranks 2 rank 0 {}");
    assert_eq!(image.ranks(), 2);
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["1:1: warning: rank 1 has no block and does nothing"]);
}

/// 65 536 ranks may be missing; more are a mistake in the number of ranks.
#[test]
fn not_too_many_ranks_are_missing() {
    let text = |ranks: u32| format!("num_ranks {ranks}\nrank {} {{ calc 3 }}", ranks - 1);
    let (image, _) = read(&text(65_537));
    assert_eq!((image.ranks(), image.op(65_536, 0).size), (65_537, 3));
    let errors = Image::from_text(text(65_538).as_bytes()).unwrap_err();
    let expect = "1:1: error: num_ranks is 65538, but 65537 ranks have no block (at most 65536 \
                  ranks may have no block)";
    assert_eq!(errors[0].to_string(), expect);
}

#[test]
fn the_wildcard_as_a_number_is_warned_of() {
    let (image, warnings) = read("num_ranks 1 rank 0 { recv 1b from 4294967295 tag 4294967295 }");
    assert_eq!((image.op(0, 0).peer, image.op(0, 0).tag), (ANY, ANY));
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "1:35: warning: 4294967295 means any, like -1",
            "1:50: warning: 4294967295 means any, like -1"
        ]
    );
}

/// Numbered labels are found by arithmetic and others in a map; which is which depends on the first
/// numbered label and must not show.
#[test]
fn labels_numbered_out_of_step() {
    check_rank(
        "l5: calc 1\nx: calc 2\nl7: calc 3\nl6: calc 4\nl05: calc 5\n\
         l5 requires l7, l6 , l05\nx requires l5",
        "l1: calc 1\nl2: calc 2\nl2 requires l1\nl3: calc 3\nl1 requires l3\nl4: calc 4\n\
         l1 requires l4\nl5: calc 5\nl1 requires l5",
    );
    // l3 by name on operation 1, so that the number found for operation 2 is taken already.
    check_rank(
        "l1: calc 1\nl3: calc 2\nl2: calc 3\nl2 requires l3\nl3 requires l1",
        "l1: calc 1\nl2: calc 2\nl2 requires l1\nl3: calc 3\nl3 requires l2",
    );
}

#[test]
fn labels_belong_to_their_rank() {
    check(
        "num_ranks 2\nrank 0 {\na: calc 1\nb: calc 2\n}\nrank 1 {\nb: calc 3\na: calc 4\n\
         b requires a\n}",
        "num_ranks 2\n\nrank 0 {\nl1: calc 1\nl2: calc 2\n}\n\n\
         rank 1 {\nl1: calc 3\nl2: calc 4\nl1 requires l2\n}\n",
    );
}

/// Roots of a linear alltoall: send, receive, send, receive, …; then a computation on another CPU,
/// and a last send out of stride.
#[test]
fn roots_come_in_runs() {
    let (image, _) = read(
        "num_ranks 1\nrank 0 {\nsend 1b to 0\nrecv 1b from 0\nsend 1b to 0\nrecv 1b from 0\n\
         send 1b to 0\nrecv 1b from 0\ncalc 1 cpu 1\nw: calc 1\nw requires w\nsend 1b to 0\n}",
    );
    let mut runs = Vec::new();
    image.roots(0, &mut |run| runs.push(run));
    runs.sort_by_key(|run| run.first);
    let run = |first, stride, count| Run { first, stride, count };
    assert_eq!(runs, [run(0, 2, 3), run(1, 2, 3), Run::one(6), Run::one(8)]);
}

#[test]
fn questions_beyond_the_program_get_empty_answers() {
    let (image, _) = read("num_ranks 1 rank 0 { send 1b to 0 }");
    let nothing = Op { kind: Kind::Calc, peer: 0, tag: 0, size: 0, cpu: 0, nic: 0 };
    assert_eq!((image.ops(1), image.op(1, 0), image.op(0, 1)), (0, nothing, nothing));
    assert_eq!(image.dependencies(u32::MAX, u32::MAX), 0);
    assert_eq!(dependents(&image, 1, Edge::Done), []);
    image.roots(1, &mut |_| panic!("a rank that does not exist has no roots"));
}

#[test]
fn lines_of_operations() {
    let text =
        "num_ranks 2\n\nrank 1 {\n  a: calc 1 // x\n  calc 2 calc 3\n}\nrank 0 {\r\nb: calc 4\r\n}";
    let lines = source_line(text.as_bytes(), &[(1, 2), (0, 0), (1, 0), (0, 1), (1, 2), (2, 0)]);
    let line = |number, text: &str| Some((number, text.to_owned()));
    let twice = line(5, "calc 2 calc 3");
    assert_eq!(
        lines,
        [twice.clone(), line(8, "b: calc 4"), line(4, "a: calc 1 // x"), None, twice, None]
    );
}

/// The schedule of a real program comes back as it was, but for its comment, blank lines, the tags
/// that are 0, and the order of dependency lines between two operations. Per rank it has 10 sends,
/// 10 receives, 21 computations and 40 dependencies (counted with `grep -c`).
#[test]
fn the_schedule_of_ltest() {
    let text = include_str!("../../../examples/ltest.goal");
    let (image, warnings) = read(text);
    assert_eq!(warnings, []);
    for rank in 0..2 {
        let count =
            |kind| (0..image.ops(rank)).filter(|op| image.op(rank, *op).kind == kind).count();
        assert_eq!([Kind::Send, Kind::Recv, Kind::Calc].map(count), [10, 10, 21]);
        let dependencies = (0..image.ops(rank)).map(|op| image.dependencies(rank, op));
        assert_eq!(dependencies.sum::<u32>(), 40);
    }
    let mut out = Vec::new();
    write_text(&image, &mut out).unwrap();
    let lines = |text: &str| -> Vec<String> {
        let text = text.replace(" tag 0", "");
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("//"));
        let mut lines: Vec<_> = lines.map(ToOwned::to_owned).collect();
        let dependency = |line: &String| line.contains("requires");
        lines.chunk_by_mut(|a, b| dependency(a) && dependency(b)).for_each(<[_]>::sort);
        lines
    };
    assert_eq!(lines(&String::from_utf8(out).unwrap()), lines(text));
}

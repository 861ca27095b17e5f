//! Broken texts: every mistake is reported, with its place, what was expected, and a hint.

use schedule::goal::{Diagnostic, Image, Severity};

fn diagnostics(text: &[u8]) -> Vec<Diagnostic> {
    let error = Image::from_text(text).err();
    error.unwrap_or_else(|| panic!("accepted: {:?}", String::from_utf8_lossy(text)))
}

/// Reads a broken text and compares all diagnostics, as `line:column: severity: message (help)`.
#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let found: Vec<_> = diagnostics(text.as_bytes()).iter().map(ToString::to_string).collect();
    assert_eq!(found, expect, "in {text:?}");
}

/// Checks like `check`, for texts with a single error, of which all is on one line in the block of
/// rank 0 of 2: `column: message`.
#[track_caller]
fn check_line(line: &str, expect: &str) {
    let (column, message) = expect.split_once(": ").unwrap();
    let text = format!("num_ranks 2\nrank 0 {{\n{line}\n}}\nrank 1 {{\n}}\n");
    check(&text, &[&format!("3:{column}: error: {message}")]);
}

#[test]
fn header() {
    let missing = "1:1: error: `num_ranks` is missing (begin the file with `num_ranks` and the \
                   number of ranks)";
    check("", &[missing]);
    check("rank 0 { send 1b to 5 }", &[missing]);
    check(
        "nun_ranks 1\nrank 0 {\n}",
        &[
            "1:1: error: expected `num_ranks` or `rank`, found `nun_ranks` (did you mean \
             `num_ranks`?)",
            missing,
        ],
    );
    check("num_ranks", &["1:10: error: expected the number of ranks, found the end of the file"]);
    check("num_ranks x rank 0 {}", &["1:11: error: expected the number of ranks, found `x`"]);
    check(
        "num_ranks 4294967296",
        &["1:11: error: `4294967296` is out of range for the number of ranks: at most 4294967295"],
    );
    check(
        "num_ranks 0\nrank 0 { send 1b to 1 }",
        &["1:1: error: the number of ranks is 0, expected at least 1"],
    );
    check(
        "num_ranks 1\nnum_ranks 1\nrank 0 {}",
        &["2:1: error: `num_ranks` is given a second time"],
    );
    check("num_ranks 1 foo rank 0 {}", &["1:13: error: expected the end of the line, found `foo`"]);
    check(
        "num_ranks 4000000000 rank 3999999999 { }",
        &["1:1: error: num_ranks is 4000000000, but 3999999999 ranks have no block (at most \
             65536 ranks may have no block)"],
    );
    // Rank 69999 lies beyond what the text can hold, and has a block all the same.
    check(
        "num_ranks 70000\nrank 69999 {\ncalc 5\n}\n",
        &["1:1: error: num_ranks is 70000, but 69999 ranks have no block (at most 65536 ranks \
             may have no block)"],
    );
}

#[test]
fn a_text_that_is_no_goal_is_one_error() {
    let help = "begin the file with `num_ranks` and the number of ranks";
    let missing = format!("1:1: error: `num_ranks` is missing ({help})");
    check("Dear reader,\nthis is a letter.\nIt has {three} lines.\n", &[&missing]);
    check("", &[&missing]);
    // Words and marks that GOAL shares with others: a makefile, a table of users, prose, a program.
    check("all: app\n\techo 5\nrank: ranks\n", &[&missing]);
    check("root:x:0:0:root:/root:/bin/sh\nrun:x:1:1::/:/bin/sh\n", &[&missing]);
    check("# Send\n\nYou can send it\nand rank them; rank {them}.\n", &[&missing]);
    check("fn main() {\n    let a: u32 = 5;\n}\n", &[&missing]);
    // What looks like a part of a schedule is told line by line.
    check(
        "x\nl1: calc 5\n",
        &[
            "1:1: error: expected `num_ranks` or `rank`, found `x`",
            &missing,
            "2:1: error: expected `num_ranks` or `rank`, found `l1` (operations stand inside `rank \
             N { … }`)",
        ],
    );
}

#[test]
fn blocks() {
    check(
        "num_ranks 1\nrnak 0 {\ncalc 1\n}",
        &["2:1: error: expected `num_ranks` or `rank`, found `rnak` (did you mean `rank`?)"],
    );
    check(
        "num_ranks 1\nrank x {\ncalc y\n}",
        &[
            "2:6: error: expected the number of a rank, found `x`",
            "3:6: error: expected a duration, found `y`",
        ],
    );
    check("num_ranks 1\nrank 1 {\n}", &["2:6: error: rank 1 does not exist: num_ranks is 1"]);
    check("rank 7 {\n}\nnum_ranks 1", &["1:6: error: rank 7 does not exist: num_ranks is 1"]);
    check("num_ranks 1\nrank 0\ncalc 1\n}", &["3:1: error: expected `{`, found `calc`"]);
    check(
        "num_ranks 1\nrank 0 {\ncalc 1\n",
        &["2:1: error: the block is not closed; expected `}` before the end of the file"],
    );
    check(
        "num_ranks 2\nrank 0 {\ncalc 1\nrank 1 {\n}",
        &["2:1: error: the block is not closed; expected `}` before the next block, on line 4"],
    );
    check(
        "num_ranks 1\nrank 0 {\n}\n}",
        &["4:1: error: expected `num_ranks` or `rank`, found `}`"],
    );
    let outside =
        "expected `num_ranks` or `rank`, found `l1` (operations stand inside `rank N { … }`)";
    check("num_ranks 1\nrank 0 {\n}\nl1: calc 5\n", &[&format!("4:1: error: {outside}")]);
    check(
        "num_ranks 1\nrank 0 {\n}\nrank 0 {\n}",
        &["4:1: error: rank 0 has a block already, on line 2"],
    );
    check(
        "num_ranks 1 rank 0 { /* }\n\n",
        &[
            "1:13: error: the block is not closed; expected `}` before the end of the file",
            "1:22: error: the comment does not end; expected `*/`",
        ],
    );
}

#[test]
fn unknown_words() {
    check_line(
        "l1: sned 10b to 1",
        "5: expected `send`, `recv` or `calc`, found `sned` (did you mean `send`?)",
    );
    check_line(
        "SEND 10b to 1",
        "1: expected `send`, `recv`, `calc` or a label and `:`, found `SEND` (did you mean \
         `send`?)",
    );
    check_line(
        "l1 calc 5",
        "4: expected `:`, `requires` or `irequires` behind label `l1`, found `calc`",
    );
    check_line(
        "l1 reqires l2",
        "4: expected `:`, `requires` or `irequires` behind label `l1`, found `reqires` (did you \
         mean `requires`?)",
    );
    check_line(
        "l1",
        "3: expected `:`, `requires` or `irequires` behind label `l1`, found the end of the line",
    );
    check_line("l1:", "4: expected `send`, `recv` or `calc`, found the end of the line");
    check_line("5", "1: expected a label, `send`, `recv`, `calc` or `}`, found `5`");
    check_line("calc 1 / 2", "8: expected a label, `send`, `recv`, `calc` or `}`, found `/`");
}

#[test]
fn reserved_words_are_no_labels() {
    let reserved = "(`send`, `recv`, `calc`, `rank` and `num_ranks` are reserved)";
    for (line, column, word) in [
        ("rank: calc 1", 1, "rank"),
        ("num_ranks : calc 1", 1, "num_ranks"),
        ("send: send 8b to 0", 1, "send"),
        ("recv :recv 8b from 0", 1, "recv"),
        ("calc 1 calc: calc 1", 8, "calc"),
    ] {
        check_line(line, &format!("{column}: `{word}` cannot be a label {reserved}"));
    }
}

#[test]
fn computations() {
    check_line("calc", "5: expected a duration, found the end of the line");
    check_line("calc -5", "6: expected a duration, found `-5`");
    check_line("calc 1.5", "6: expected a duration, a whole number, found `1.5`");
    check_line("calc 10 ns", "9: expected `cpu` or the end of the statement, found `ns`");
    check_line("calc 1;", "7: expected `cpu` or the end of the statement, found `;`");
    check_line("calc ü", "6: expected a duration, found `ü`");
    // A control character must not reach the terminal.
    check_line("calc 1\u{7}", "7: expected `cpu` or the end of the statement, found `\u{fffd}`");
    check_line(
        "calc 18446744073709551616",
        "6: `18446744073709551616` is out of range for a duration: at most 18446744073709551615",
    );
    check_line("calc 5 nic 1", "8: a computation has no `nic`");
    check_line("calc 5 tag 1", "8: a computation has no `tag`");
    check_line("calc 5 cpu 256", "12: `256` is out of range for the index of a CPU: at most 255");
    check_line("calc 5 cpu", "11: expected the index of a CPU, found the end of the line");
    check_line(
        "calc 5 cup 1",
        "8: expected `cpu` or the end of the statement, found `cup` (did you mean `cpu`?)",
    );
}

#[test]
fn messages() {
    check_line("send b to 1", "6: expected a size, found `b`");
    let bytes = " (sizes are whole numbers of bytes, such as `102400b` for 100 KiB)";
    check_line("send 10 to 1", &format!("9: expected `b` (bytes), found `to`{bytes}"));
    check_line("send 10kb to 1", &format!("8: expected `b` (bytes), found `kb`{bytes}"));
    check_line("send 10b from 1", "10: expected `to`, found `from`");
    check_line("recv 10b form 1", "10: expected `from`, found `form` (did you mean `from`?)");
    check_line("send 10b to", "12: expected a rank, found the end of the line");
    check_line("send 10b to 2", "13: rank 2 does not exist: num_ranks is 2");
    check_line(
        "send 10b to -1",
        "13: expected a rank, found `-1` (only a receive may name any rank, by -1)",
    );
    check_line("recv 10b from -2", "15: expected a rank or -1, found `-2`");
    check_line(
        "send 10b to 4294967296",
        "13: `4294967296` is out of range for a rank: at most 4294967295",
    );
    check_line(
        "send 1b to 1 tag 4294967296",
        "18: `4294967296` is out of range for a tag: at most 4294967295",
    );
    check_line("send 1b to 1 tag -2", "18: expected a tag or -1, found `-2`");
    check_line("send 1b to 1 tag x", "18: expected a tag, found `x`");
    check_line(
        "send 1b to 1 nic 256",
        "18: `256` is out of range for the index of an interface: at most 255",
    );
    check_line(
        "send 1b to 1 cpu 1 tag 2",
        "20: `tag` stands too late (the order is `tag`, `cpu`, `nic`)",
    );
    check_line("send 1b to 1 tag 1 tag 2", "20: `tag` is given a second time");
    check_line(
        "send 1b to 1 tga 1",
        "14: expected `tag`, `cpu`, `nic` or the end of the statement, found `tga` (did you mean \
         `tag`?)",
    );
}

#[test]
fn labels_and_dependencies() {
    check_line(
        "a: calc 1 a: calc 2 a requires a",
        "11: label `a` is defined already, by operation 0 of the rank",
    );
    check_line(
        "alpha: calc 1 b: calc 2 b requires alhpa",
        "36: label `alhpa` is not defined in this rank (did you mean `alpha`?)",
    );
    check_line("b: calc 2 x requires b", "11: label `x` is not defined in this rank");
    check_line("a: calc 1 a requires", "21: expected a label, found the end of the line");
    check_line("a: calc 1 a requires a,", "24: expected a label, found the end of the line");
    check_line("a: calc 1 a requires send 1b to 0", "22: expected a label, found `send`");
    check_line("a: calc 1 a requires a requires a", "24: expected a label, found `requires`");
    check_line(
        "a: calc 1 a requires a; b",
        "23: expected `,` or the end of the statement, found `;`",
    );
    // An operation that cannot be read still defines its label.
    check_line(
        "a: send 1x to 0\nb: calc 1 b requires a",
        "10: expected `b` (bytes), found `x` (sizes are whole numbers of bytes, such as `102400b` \
         for 100 KiB)",
    );
}

#[test]
fn all_mistakes_are_reported_in_the_order_of_the_text() {
    check(
        "num_ranks 2\nrank 0 {\nl1: calc x\nl2 requires l9\nl2: sned 1b to 1\n}\n\
         rank 2 { send 1b to 7 }\nfoo\n",
        &[
            "3:10: error: expected a duration, found `x`",
            "4:13: error: label `l9` is not defined in this rank (did you mean `l1`?)",
            "5:5: error: expected `send`, `recv` or `calc`, found `sned` (did you mean `send`?)",
            "7:6: error: rank 2 does not exist: num_ranks is 2",
            "7:21: error: rank 7 does not exist: num_ranks is 2",
            "8:1: error: expected `num_ranks` or `rank`, found `foo`",
        ],
    );
}

#[test]
fn the_first_hundred_mistakes_are_listed_and_the_others_counted() {
    let text = format!("num_ranks 1\nrank 0 {{\n{}}}", "calc x\n".repeat(250));
    let diagnostics = diagnostics(text.as_bytes());
    assert_eq!(diagnostics.len(), 101);
    assert_eq!(
        diagnostics[100].to_string(),
        "103:6: error: expected a duration, found `x` (and 149 more errors and warnings)"
    );
}

#[test]
fn an_error_shows_its_line() {
    let text = "num_ranks 1\nrank 0 {\n\tl1: send 10b\tot 1 // é\r\n}";
    let rendered = diagnostics(text.as_bytes())[0].render("app.goal");
    let expect = "\
error: expected `to`, found `ot`
 --> app.goal:3:15
  |
3 |  l1: send 10b ot 1 // é
  |               ^^
  = help: did you mean `to`?
";
    assert_eq!(rendered, expect);
}

#[test]
fn a_long_line_is_cut_around_the_error() {
    let text = format!("num_ranks 1\nrank 0 {{\n{}calc ?{}\n}}", " ".repeat(500), "x".repeat(500));
    let diagnostic = &diagnostics(text.as_bytes())[0];
    assert_eq!((diagnostic.line, diagnostic.column), (3, 506));
    // 60 characters before the place, 100 in all.
    let expect = format!("{}calc ?{}", " ".repeat(55), "x".repeat(39));
    assert_eq!((diagnostic.excerpt.as_str(), diagnostic.caret), (expect.as_str(), (60, 1)));
    assert_eq!(diagnostic.severity, Severity::Error);
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let found = diagnostics(b"num_ranks 1\nrank 0 {\n\xff\xfe\x00 calc 1\n}\n");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].line, found[0].column), (3, 1));
}

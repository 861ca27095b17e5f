//! The shape and the contents of source files.

use std::fs;
use std::path::Path;

use crate::{assert_none, root};

/// Lines of a file, and of a function, beyond which a comment with [`EXCUSE`] must say why.
const FILE: usize = 600;
const FUNCTION: usize = 60;

/// The beginning of the comment that says why a file (near its top) or a function (above it) is so
/// long.
const EXCUSE: &str = "// Long because ";

/// Endings and names of files that people write.
const ENDINGS: &[&str] =
    &["rs", "toml", "md", "sh", "goal", "json", "yml", "py", "c", "h", "cpp", "f90"];
const NAMES: &[&str] = &["Makefile", "run"];

/// The largest number of characters in a line of these kinds of files.
const COLUMNS: usize = 100;
const NARROW: &[&str] = &["rs", "c", "h", "cpp", "f90", "py", "sh"];

/// Beginnings of lines that may be longer, with their files and the reasons.
const WIDE: &[(&str, &str, &str)] = &[
    ("run/cli/tests/mistakes_in_files.rs", "error: ", "an error is one line, however long"),
    ("run/cli/tests/mistakes_in_flags.rs", "error: ", "an error is one line, however long"),
];

/// Words that begin a fragment where a doc comment should be a sentence or name the item.
const FRAGMENTS: &[&str] =
    &["What", "Whether", "Which", "How", "The same", "When", "Where", "That"];

/// Places whose doc comments may begin with such words, with the reasons.
const FRAGMENTS_ALLOWED: &[(&str, &str)] =
    &[("run/cli/src/arguments.rs", "the help of the command, where `How to print` is usual")];

/// Folders that are not sources, besides those that cargo and others mark as caches.
const SKIPPED: &[&str] = &[".git", "target", "node_modules", "corpus", "artifacts", "book"];

/// Texts that must not stay in a source, in pieces, so that this file has none of them.
const LEFTOVERS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("unimplemented", "!("),
    concat!("todo", "!("),
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
];

/// Calls `each` with every source file's path from the root, and its text.
pub fn for_each_source(folder: &Path, each: &mut impl FnMut(&str, &str)) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !SKIPPED.contains(&&*name) && !path.join("CACHEDIR.TAG").exists() {
                for_each_source(&path, each);
            }
            continue;
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if ENDINGS.contains(&&*ending) || NAMES.contains(&&*name) {
            let text = fs::read_to_string(&path).expect("sources are text");
            let inside = path.strip_prefix(root()).expect("a path in the tree");
            each(&inside.to_string_lossy(), &text);
        }
    }
}

/// The line number and length of every function over the limit that has no excuse. Relies on
/// rustfmt: a function ends with the first closing brace at its own indentation.
fn long_functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut long = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if !begins_function(code) || code.ends_with('}') {
            continue;
        }
        // What has no body ends with a semicolon before a line that opens one.
        let end = lines[start..].iter().find(|line| line.ends_with([';', '{', '}']));
        if end.is_some_and(|line| line.ends_with(';')) {
            continue;
        }
        let indent = line.len() - code.len();
        let closing = |line: &&str| line.trim_end().len() == indent + 1 && line.ends_with('}');
        let Some(length) = lines[start..].iter().position(closing) else {
            continue;
        };
        if length + 1 > FUNCTION && !excused(&lines[..start]) {
            long.push((start + 1, length + 1));
        }
    }
    long
}

/// True if a line of code begins a function, whatever stands before `fn`.
fn begins_function(code: &str) -> bool {
    const BEFORE: &[&str] = &["pub", "const", "async", "unsafe", "extern"];
    let modifier = |word: &&str| {
        let bare = word.split('(').next().unwrap_or_default();
        BEFORE.contains(&bare) || word.starts_with('"') || word.ends_with(')')
    };
    code.split_whitespace().find(|word| !modifier(word)) == Some("fn")
}

/// True if the comments and attributes right above hold an excuse.
fn excused(above: &[&str]) -> bool {
    let lines = above.iter().rev().map(|line| line.trim_start());
    let mut attached = lines.take_while(|line| line.starts_with("//") || line.starts_with("#["));
    attached.any(|line| line.starts_with(EXCUSE))
}

#[test]
fn files_and_functions_are_short() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for_each_source(&root(), &mut |path, text| {
        if Path::new(path).extension().is_none_or(|ending| ending != "rs") {
            return;
        }
        seen += 1;
        let length = text.lines().count();
        if length > FILE && !text.lines().take(40).any(|line| line.starts_with(EXCUSE)) {
            wrong.push(format!("{path}: {length} lines, and no `{EXCUSE}...` near the top"));
        }
        for (line, length) in long_functions(text) {
            wrong.push(format!("{path}:{line}: {length} lines, and no `{EXCUSE}...` above"));
        }
    });
    assert!(seen > 20, "only {seen} files");
    assert_none(&wrong);
}

#[test]
fn nothing_is_left_over() {
    let mut wrong = Vec::new();
    for_each_source(&root(), &mut |path, text| {
        for (number, line) in (1..).zip(text.lines()) {
            for leftover in LEFTOVERS.iter().filter(|&leftover| line.contains(leftover)) {
                wrong.push(format!("{path}:{number}: {leftover}"));
            }
        }
    });
    assert_none(&wrong);
}

/// True if a file's lines must not be longer than [`COLUMNS`].
fn is_narrow(path: &str) -> bool {
    let path = Path::new(path);
    let ending = path.extension().unwrap_or_default();
    NARROW.iter().any(|narrow| *narrow == ending) || path.ends_with("Makefile")
}

#[test]
fn lines_are_short() {
    let mut wrong = Vec::new();
    let mut used = vec![false; WIDE.len()];
    for_each_source(&root(), &mut |path, text| {
        for (number, line) in (1..).zip(text.lines()) {
            let length = line.chars().count();
            if !is_narrow(path) || length <= COLUMNS {
                continue;
            }
            let excuse =
                WIDE.iter().position(|(file, start, _)| *file == path && line.starts_with(start));
            match excuse {
                Some(place) => used[place] = true,
                None => wrong.push(format!("{path}:{number}: {length} columns")),
            }
        }
    });
    let idle = WIDE.iter().zip(&used).filter(|(_, used)| !**used);
    wrong.extend(idle.map(|((path, ..), _)| format!("{path}: no line needs its exception")));
    assert_none(&wrong);
}

/// True if the text of a doc comment begins with a word of [`FRAGMENTS`].
fn is_fragment(body: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    FRAGMENTS.iter().any(|word| body.strip_prefix(word).is_some_and(ends))
}

/// The line numbers of doc comments that begin with a fragment.
fn fragments(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_comment = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let body = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if !is_comment && body.is_some_and(|body| is_fragment(body.trim_start())) {
            found.push(number);
        }
        is_comment = body.is_some();
    }
    found
}

#[test]
fn doc_comments_are_sentences() {
    let mut wrong = Vec::new();
    for_each_source(&root(), &mut |path, text| {
        let is_rust = Path::new(path).extension().is_some_and(|ending| ending == "rs");
        if is_rust && !FRAGMENTS_ALLOWED.iter().any(|(place, _)| path.starts_with(place)) {
            wrong.extend(fragments(text).iter().map(|number| {
                format!("{path}:{number}: say what the item is or does, as in `Returns the …`")
            }));
        }
    });
    assert_none(&wrong);
}

#[test]
fn fragments_are_found() {
    assert_eq!(fragments("/// What it is.\nfn f() {}\n"), [1]);
    assert_eq!(fragments("fn f() {}\n    //! Whether so.\n"), [2]);
    assert_eq!(fragments("/// The same for two.\n/// How.\n\n/// Where.\n"), [1, 4]);
    assert_eq!(fragments("/// Returns the lane\n/// That follows.\n// What else.\n"), [0; 0]);
    assert_eq!(fragments("/// Whatever it is.\n"), [0; 0]);
}

/// A function of `lines` lines, indented by four, under `above`.
fn function(above: &str, head: &str, lines: usize) -> String {
    let body = "        work();\n".repeat(lines - 2);
    format!("impl X {{\n{above}    {head} {{\n{body}    }}\n\n    fn next() {{}}\n}}\n")
}

#[test]
fn long_functions_are_found() {
    for head in ["fn f()", "pub fn f()", "pub(crate) const fn f<T>()", "extern \"C\" fn f()"] {
        assert_eq!(long_functions(&function("", head, 60)), []);
        assert_eq!(long_functions(&function("", head, 61)), [(2, 61)], "{head}");
    }
    let excuse = format!("    {EXCUSE}it is a table.\n    #[inline]\n");
    assert_eq!(long_functions(&function(&excuse, "fn f()", 61)), []);
    assert_eq!(long_functions(&function("    // It is a table.\n", "fn f()", 61)), [(3, 61)]);
    let bodiless = "    fn f(\n        a: u32,\n    ) -> u32;\n";
    assert_eq!(long_functions(&format!("{bodiless}{}", function("", "fn g()", 60))), []);
    // A method without a body, and a word that only begins like one.
    assert_eq!(long_functions("trait X {\n    fn f();\n    fnord! {\n    }\n}\n"), []);
}

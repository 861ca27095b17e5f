//! The syntax of BookSim's configuration files: `name = value;` with `//` comments. A value is a
//! word, a number, a quoted text, a list in braces, or a word with parameters in parentheses.

use std::{path::Path, sync::Arc};

use crate::settings::diagnostic::{Diagnostic, Place, Source};

/// A name and the value that it is given.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub name: String,
    pub value: String,
    pub name_place: Place,
    pub place: Place,
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<Said>, Vec<Diagnostic>> {
    let text = units::text::read(path).map_err(|error| vec![Diagnostic::unread(path, &error)])?;
    parse(&path.display().to_string(), text)
}

/// Reads what `--booksim` says.
pub(super) fn argument(text: &str) -> Result<Said, Diagnostic> {
    let place = Place::Argument(format!("--booksim {text}"));
    let Some((name, value)) = text.split_once('=') else {
        let message = format!("expected KEY=VALUE, found `{text}`");
        return Err(Diagnostic::new(place, message));
    };
    let value = value.trim().trim_end_matches(';').to_owned();
    let name = name.trim().to_owned();
    Ok(Said { name, value, name_place: place.clone(), place })
}

/// Reads the text of a file; all mistakes are reported.
pub(super) fn parse(name: &str, text: String) -> Result<Vec<Said>, Vec<Diagnostic>> {
    let source = Arc::new(Source { name: name.to_owned(), text });
    let bare = without_comments(&source.text);
    let (mut said, mut wrong) = (Vec::new(), Vec::new());
    let mut start = 0;
    for piece in bare.split_inclusive(';') {
        let at = |part: &str| {
            let first = start + (part.as_ptr() as usize - piece.as_ptr() as usize);
            Place::Text(Arc::clone(&source), first..first + part.len())
        };
        match statement(piece) {
            Ok(Some((name, value))) => said.push(Said {
                name: name.to_owned(),
                value: value.trim_matches('"').to_owned(),
                name_place: at(name),
                place: at(value),
            }),
            Ok(None) => {}
            Err((part, message)) => wrong.push(Diagnostic::new(at(part), message)),
        }
        start += piece.len();
    }
    if wrong.is_empty() { Ok(said) } else { Err(wrong) }
}

/// The text with blanks in place of comments, so that places stay.
fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let kept = line.find("//").unwrap_or(line.len());
        let (kept, comment) = line.split_at(kept);
        let blanks: String = comment
            .chars()
            .flat_map(|letter| {
                std::iter::repeat_n(if letter == '\n' { '\n' } else { ' ' }, letter.len_utf8())
            })
            .collect();
        kept.to_owned() + &blanks
    };
    text.split_inclusive('\n').map(line).collect()
}

type Wrong<'a> = (&'a str, &'static str);

/// The name and value of a statement that ends in `;`, nothing for blanks, or the part that is
/// wrong.
fn statement(piece: &str) -> Result<Option<(&str, &str)>, Wrong<'_>> {
    let (body, ended) = match piece.strip_suffix(';') {
        Some(body) => (body.trim(), true),
        None => (piece.trim(), false),
    };
    if body.is_empty() {
        return Ok(None);
    }
    let first = body.lines().next().unwrap_or(body).trim_end();
    let Some((name, value)) = body.split_once('=') else {
        return Err((first, "expected `name = value;`"));
    };
    let (name, value) = (name.trim(), value.trim());
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_name {
        return Err((first, "expected a name before `=`"));
    }
    if value.contains('=') || !ended {
        // The value ends in its first line, unless a bracket is open there.
        let line = value.lines().next().unwrap_or(value).trim_end();
        return Err((if line.is_empty() { first } else { line }, "expected `;` after the value"));
    }
    if value.is_empty() {
        return Err((first, "expected a value after `=`"));
    }
    let open = |a: char, b: char| value.matches(a).count() != value.matches(b).count();
    if open('{', '}') || open('(', ')') {
        return Err((value, "a bracket is not closed"));
    }
    Ok(Some((name, value)))
}

/// The parts of a list in braces at its outermost commas; a value that is no list is its own part.
pub(super) fn list(text: &str) -> Vec<&str> {
    let text = text.trim();
    let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner.map_or_else(|| vec![text], parts)
}

/// A word and its parameters: `hotspot({0,1},{2,1})`.
pub(super) fn call(text: &str) -> (&str, Vec<&str>) {
    match text.split_once('(') {
        Some((word, rest)) => {
            let inner = rest.rsplit_once(')').map_or(rest, |(inner, _)| inner);
            (word.trim(), parts(inner))
        }
        None => (text.trim(), Vec::new()),
    }
}

fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0_i32, 0);
    let mut found = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() || !found.is_empty() {
        found.push(last);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        let text = "// a torus\ntopology = torus; k=8;\n  traffic = hotspot({0,1},\n {2,1});\n";
        let said = parse("a.cfg", text.to_owned()).expect("it is well formed");
        let pairs: Vec<_> = said.iter().map(|s| (s.name.as_str(), s.value.as_str())).collect();
        let hot = "hotspot({0,1},\n {2,1})";
        assert_eq!(pairs, [("topology", "torus"), ("k", "8"), ("traffic", hot)]);
        assert_eq!(said[1].place.line(), Some(2));
        assert_eq!(call(pairs[2].1), ("hotspot", vec!["{0,1}", "{2,1}"]));
        assert_eq!(list("{0, 1}"), ["0", "1"]);
        assert_eq!(list("{{1,5}}"), ["{1,5}"]);
        assert_eq!(list("0.1"), ["0.1"]);
        assert_eq!(call("uniform"), ("uniform", vec![]));
    }

    /// Each mistake with the text that it points at.
    #[test]
    fn mistakes() {
        let wrong = |text: &str| {
            let found = parse("a.cfg", text.to_owned()).expect_err("it is wrong");
            let place = |place: &Place| match place {
                Place::Text(source, span) => source.text[span.clone()].to_owned(),
                _ => String::new(),
            };
            let one = &found[0];
            (place(&one.place), one.message.clone(), found.len())
        };
        let is = |text: &str, message: &str| (text.to_owned(), message.to_owned(), 1);
        assert_eq!(wrong("k = 8\nn = 2;"), is("8", "expected `;` after the value"));
        assert_eq!(wrong("k = 8;\nn = 2"), is("2", "expected `;` after the value"));
        assert_eq!(wrong("k;"), is("k", "expected `name = value;`"));
        assert_eq!(wrong("k = ;"), is("k =", "expected a value after `=`"));
        assert_eq!(wrong("a b = 1;"), is("a b = 1", "expected a name before `=`"));
        assert_eq!(wrong("x = {1,2;"), is("{1,2", "a bracket is not closed"));
    }
}

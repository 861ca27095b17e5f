//! Descriptions of mistakes in a text, with their places.

use std::fmt::{self, Display, Write};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably a mistake.
    Warning,
    /// Certainly a mistake.
    Error,
}

impl Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// Something wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// The mistake, and what was expected.
    pub message: String,
    /// A hint how to put it right.
    pub help: Option<String>,
    /// The line, or the part of it around the place.
    pub excerpt: String,
    /// The place within the excerpt: characters before it, and its own.
    pub caret: (usize, usize),
}

/// Longest part of a line that is shown, in characters.
const WIDTH: usize = 100;
/// Characters shown before the place in a line longer than that.
const BEFORE: usize = 60;
/// The most diagnostics of a text that are kept; of the others only the number.
const KEPT: usize = 100;

impl Diagnostic {
    /// The diagnostic as lines of text, for a text of this name.
    pub fn render(&self, file: &str) -> String {
        let margin = " ".repeat(self.line.to_string().len());
        let (before, width) = self.caret;
        let mut text = format!("{}: {}\n", self.severity, self.message);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{margin}--> {file}:{}:{}", self.line, self.column);
        let _ = writeln!(text, "{margin} |\n{} | {}", self.line, self.excerpt);
        let _ = writeln!(text, "{margin} | {}{}", " ".repeat(before), "^".repeat(width.max(1)));
        if let Some(help) = &self.help {
            let _ = writeln!(text, "{margin} = help: {help}");
        }
        text
    }
}

impl Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.line, self.column, self.severity, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " ({help})"))
    }
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Byte.
    pub at: usize,
    /// Number of its line, from 1.
    pub line: u64,
    /// First byte of its line.
    pub line_start: usize,
}

/// A mistake before it is given an excerpt.
#[derive(Debug)]
pub struct Mistake {
    pub mark: Mark,
    /// Bytes that are wrong.
    pub width: usize,
    pub message: String,
    pub help: Option<String>,
}

impl Mistake {
    pub fn new(mark: Mark, width: usize, message: String) -> Self {
        Self { mark, width, message, help: None }
    }

    pub fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

/// Collects the diagnostics of a text.
pub struct Mistakes<'a> {
    text: &'a [u8],
    kept: Vec<Diagnostic>,
    /// The first that was not kept, and how many were not.
    dropped: Option<(Diagnostic, u64)>,
    errors: u64,
}

impl<'a> Mistakes<'a> {
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text, kept: Vec::new(), dropped: None, errors: 0 }
    }

    /// Returns whether there are errors.
    pub const fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Returns whether another one is still kept in full.
    pub const fn has_room(&self) -> bool {
        self.kept.len() < KEPT
    }

    #[cold]
    pub fn error(&mut self, mistake: &Mistake) {
        self.errors += 1;
        self.push(Severity::Error, mistake);
    }

    #[cold]
    pub fn warning(&mut self, mistake: &Mistake) {
        self.push(Severity::Warning, mistake);
    }

    fn push(&mut self, severity: Severity, mistake: &Mistake) {
        if let Some((first, count)) = &mut self.dropped {
            *count += 1;
            first.severity = first.severity.max(severity);
            return;
        }
        let diagnostic = self.locate(severity, mistake);
        if self.has_room() {
            self.kept.push(diagnostic);
        } else {
            self.dropped = Some((diagnostic, 1));
        }
    }

    /// Returns all diagnostics, in the order of the text; the last one stands for those beyond the
    /// first hundred.
    pub fn finish(self) -> Vec<Diagnostic> {
        let mut all = self.kept;
        all.sort_by_key(|diagnostic| (diagnostic.line, diagnostic.column));
        if let Some((first, count)) = self.dropped {
            let message = match count {
                1 => first.message,
                _ => format!("{} (and {} more errors and warnings)", first.message, count - 1),
            };
            all.push(Diagnostic { message, ..first });
        }
        all
    }

    fn locate(&self, severity: Severity, mistake: &Mistake) -> Diagnostic {
        let line = line_at(self.text, mistake.mark.line_start);
        let (before, rest) =
            line.split_at((mistake.mark.at - mistake.mark.line_start).min(line.len()));
        let (place, after) = rest.split_at(mistake.width.min(rest.len()));
        let after = after.get(..4 * WIDTH).unwrap_or(after);
        let (before, place, after) = (printable(before), printable(place), printable(after));
        let column = before.len() as u64 + 1;
        let long = before.len() + place.len() + after.len() > WIDTH;
        let cut = if long { before.len().saturating_sub(BEFORE) } else { 0 };
        let before = &before[cut..];
        let excerpt = before.iter().chain(&place).chain(&after).take(WIDTH).collect();
        Diagnostic {
            severity,
            line: mistake.mark.line,
            column,
            message: mistake.message.clone(),
            help: mistake.help.clone(),
            excerpt,
            caret: (before.len(), place.len().clamp(1, WIDTH - before.len().min(WIDTH - 1))),
        }
    }
}

/// The line that starts at a byte, without its end.
pub fn line_at(text: &[u8], start: usize) -> &[u8] {
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Characters for a terminal: one for each of the text, control characters made harmless.
fn printable(bytes: &[u8]) -> Vec<char> {
    let visible = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    String::from_utf8_lossy(bytes).chars().map(visible).collect()
}

/// Bytes of a text as a string for a message: short, and harmless to a terminal.
pub fn shown(bytes: &[u8]) -> String {
    let short = bytes.get(..40).unwrap_or(bytes);
    let dots = if short.len() < bytes.len() { "…" } else { "" };
    format!("`{}{dots}`", printable(short).into_iter().collect::<String>())
}

/// "did you mean `…`?" with the known word nearest to an unknown one, if one is near.
pub fn nearest<'w>(word: &[u8], known: impl IntoIterator<Item = &'w [u8]>) -> Option<String> {
    let near = known.into_iter().filter(|candidate| *candidate != word);
    let near = near.map(|candidate| (distance(word, candidate), candidate));
    let (_, best) = near.filter(|(d, _)| *d <= tolerance(word)).min_by_key(|(d, _)| *d)?;
    Some(format!("did you mean {}?", shown(best)))
}

/// Number of insertions, deletions, replacements and swaps of neighbours between two words; whether
/// a letter is a capital does not count.
fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len().abs_diff(b.len()) > tolerance(a) || a.len() > 64 {
        return usize::MAX;
    }
    let same = |i: usize, j: usize| a[i].eq_ignore_ascii_case(&b[j]);
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(!same(i, j));
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j) {
                best = best.min(before_last[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Returns how far from a word another may be to be taken for what was meant.
const fn tolerance(word: &[u8]) -> usize {
    (word.len() + 1) / 3
}

//! Mistakes and oddities of a text trace, with their places.

use schedule::goal::{Diagnostic, Severity};

/// The number of findings of a file that are kept; the others are only counted.
const KEPT: usize = 20;
/// Longest part of a line that is shown, in characters.
const WIDTH: usize = 100;

/// Collects the findings of a file.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    kept: Vec<Diagnostic>,
    errors: u64,
}

impl Findings {
    /// Adds a finding at bytes `column` (from 0) to `column + width` of a line.
    pub fn add(
        &mut self,
        severity: Severity,
        (line, text): (u64, &[u8]),
        (column, width): (usize, usize),
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.errors += u64::from(severity == Severity::Error);
        if self.kept.len() >= KEPT {
            return;
        }
        let shown = |bytes: &[u8]| -> Vec<char> {
            let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
            String::from_utf8_lossy(bytes).chars().map(visible).collect()
        };
        let (before, rest) = text.split_at(column.min(text.len()));
        let before = shown(before);
        let cut = before.len().saturating_sub(WIDTH / 2);
        let rest = shown(rest.get(..4 * WIDTH).unwrap_or(rest));
        let head = before.get(cut..).unwrap_or_default();
        let excerpt: String = head.iter().chain(&rest).take(WIDTH).collect();
        self.kept.push(Diagnostic {
            severity,
            line,
            column: before.len() as u64 + 1,
            message: message.into(),
            help,
            excerpt,
            caret: (head.len(), width.clamp(1, WIDTH.saturating_sub(head.len()).max(1))),
        });
    }

    /// Returns whether there are errors.
    pub fn failed(&self) -> bool {
        self.errors > 0
    }

    /// Returns the errors as they are shown for a file of this name, and of the warnings what
    /// follows that word.
    pub fn rendered(&self, file: &str) -> (Vec<String>, Vec<String>) {
        let (errors, warnings): (Vec<_>, Vec<_>) =
            self.kept.iter().partition(|finding| finding.severity == Severity::Error);
        let shown = errors.len() as u64;
        let mut errors: Vec<_> = errors.iter().map(|finding| finding.render(file)).collect();
        if self.errors > shown {
            errors.push(format!("error: {file}: {} more errors\n", self.errors - shown));
        }
        let warning = |finding: &&Diagnostic| {
            let text = finding.render(file);
            text.strip_prefix("warning: ").map_or(text.clone(), str::to_owned)
        };
        (errors, warnings.iter().map(warning).collect())
    }
}

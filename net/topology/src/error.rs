//! Mistakes in a topology, a route or a placement, with their places.

use std::fmt::{self, Write as _};

/// One mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Line of the file, from 1; 0 if the mistake has no line.
    pub line: u32,
    /// Column in characters, from 1; 0 if the mistake has no column.
    pub column: u32,
    /// The mistake, and what was expected.
    pub message: String,
    /// A way to put it right.
    pub help: Option<String>,
}

/// All mistakes of one input, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

/// Most mistakes that are shown; a file of the wrong kind has thousands.
const SHOWN: usize = 20;

/// Most known words that the searches for the nearest one look at in one input.
const LOOKS: usize = 1 << 16;

impl Fault {
    /// A mistake without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// A mistake at a line and column, from 1; a column of 0 means the whole line.
    pub fn at(line: usize, column: usize, message: impl Into<String>) -> Self {
        let [line, column] = [line, column].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        Self { line, column, message: message.into(), help: None }
    }

    /// Adds advice, if there is any.
    #[must_use]
    pub fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }

    /// Adds the known word that an unknown one most likely stands for.
    #[must_use]
    pub fn near(self, word: &str, known: &[&str]) -> Self {
        let near = units::nearest(word, known);
        self.help(near.map(|near| format!("did you mean `{near}`?")))
    }
}

impl Faults {
    /// `value`, or the mistakes if there are any.
    pub fn or<T>(mut self, value: T) -> Result<T, Self> {
        self.0.sort_by_key(|fault| (fault.line, fault.column));
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }

    /// Adds a mistake.
    pub fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Adds a mistake about an unknown word, with the nearest known one. The search takes time in
    /// proportion to the known words. So that a reader stays linear, there is none for mistakes
    /// beyond those that are shown, nor when the searches would look at too many words.
    pub fn push_near<'a>(
        &mut self,
        fault: Fault,
        word: &str,
        known: impl FnOnce() -> Vec<&'a str>,
    ) {
        let known = if self.0.len() < SHOWN { known() } else { Vec::new() };
        let looks = (self.0.len() + 1).saturating_mul(known.len());
        self.0.push(if looks <= LOOKS { fault.near(word, &known) } else { fault });
    }

    /// The mistakes as lines of text, for an input of this name.
    pub fn render(&self, file: &str) -> String {
        self.render_as("error", file)
    }

    /// The warnings as lines of text, for an input of this name.
    pub fn render_warnings(&self, file: &str) -> String {
        self.render_as("warning", file)
    }

    fn render_as(&self, kind: &str, file: &str) -> String {
        let mut text = String::new();
        for fault in self.0.iter().take(SHOWN) {
            let place = match (fault.line, fault.column) {
                (0, _) => String::new(),
                (line, 0) => format!(":{line}"),
                (line, column) => format!(":{line}:{column}"),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{kind}: {file}{place}: {}", fault.message);
            if let Some(help) = &fault.help {
                let _ = writeln!(text, "  help: {help}");
            }
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => text,
            more if kind == "error" => {
                text + &format!("error: {more} more mistakes are not shown\n")
            }
            more => text + &format!("{kind}: {more} more are not shown\n"),
        }
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            match fault.line {
                0 => write!(f, "{separator}{}", fault.message)?,
                line => write!(f, "{separator}{line}:{}: {}", fault.column, fault.message)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

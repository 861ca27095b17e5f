//! The grammar of GOAL text. After a mistake, reading goes on with the next statement.
//!
//! ```text
//! file       := { "num_ranks" INT | "rank" INT "{" { statement } "}" }
//! statement  := [ LABEL ":" ] operation | LABEL ("requires" | "irequires") LABEL { [","] LABEL }
//! operation  := "calc" INT ["cpu" INT]
//!             | "send" INT "b" "to" INT attributes
//!             | "recv" INT "b" "from" (INT | "-1") attributes
//! attributes := ["tag" (INT | "-1")] ["cpu" INT] ["nic" INT]
//! ```
//!
//! A statement stands on one line, which may hold several. Comments, `// …` to the end of the line
//! and `/* … */`, stand before and behind statements.

use super::diagnostic::{Mark, Mistake, Mistakes, nearest, shown};
use super::scan::{Result, Scanner};
use crate::{ANY, Edge, Kind, Op};

/// A label where it is defined or used.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    pub name: &'a [u8],
    pub mark: Mark,
}

impl Label<'_> {
    /// An error at this label.
    pub fn mistake(&self, message: String) -> Mistake {
        Mistake::new(self.mark, self.name.len(), message)
    }
}

/// The receiver of a text's statements. The reader calls it in the order of the text.
pub trait Sink<'a> {
    /// The number of ranks, given once, and where.
    fn ranks(&mut self, ranks: u32, mark: Mark);

    /// The start of a rank's block; `None` if the number of the rank is no good.
    fn begin(&mut self, rank: Option<u32>, mark: Mark, mistakes: &mut Mistakes<'a>);

    /// An operation, and where its statement starts. After an error it is a substitute.
    fn op(&mut self, label: Option<Label<'a>>, op: Op, mark: Mark, mistakes: &mut Mistakes<'a>);

    /// `after` waits for `before`.
    fn depend(
        &mut self,
        after: Label<'a>,
        before: Label<'a>,
        edge: Edge,
        mistakes: &mut Mistakes<'a>,
    );

    /// The end of a block.
    fn end(&mut self, mistakes: &mut Mistakes<'a>);
}

/// Reads a text to its end.
pub fn parse<'a, S: Sink<'a>>(text: &'a [u8], sink: &mut S) -> Mistakes<'a> {
    let scan = Scanner::new(text);
    let start = scan.mark();
    let mut parser =
        Parser { scan, mistakes: Mistakes::new(text), sink, ranks: None, early: Vec::new() };
    parser.file();
    if parser.ranks.is_none() {
        if parser.mistakes.failed() && !text.split(|byte| *byte == b'\n').any(is_like_goal) {
            // Nothing in it is GOAL: what is wrong with each of its lines tells nobody anything.
            parser.mistakes = Mistakes::new(text);
        }
        let help = "begin the file with `num_ranks` and the number of ranks".to_owned();
        let mistake = Mistake::new(start, 0, "`num_ranks` is missing".into());
        parser.mistakes.error(&mistake.help(Some(help)));
    }
    parser.mistakes
}

const NUM_RANKS: &[u8] = b"num_ranks";
const RANK: &[u8] = b"rank";
const OPERATIONS: [&[u8]; 3] = [b"send", b"recv", b"calc"];
const REQUIRES: [&[u8]; 2] = [b"requires", b"irequires"];
const ATTRIBUTES: [&[u8]; 3] = [b"tag", b"cpu", b"nic"];

struct Parser<'a, 's, S> {
    scan: Scanner<'a>,
    mistakes: Mistakes<'a>,
    sink: &'s mut S,
    ranks: Option<u32>,
    /// Ranks named before their number is known.
    early: Vec<(Mark, usize, u32)>,
}

/// Returns whether a line looks like one of GOAL: it begins with the header, a block or an
/// operation, whose words are also those of other languages without a number behind them.
fn is_like_goal(line: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut words = line.split(|byte| !is_letter(byte)).filter(|word| !word.is_empty());
    let [first, second, third] = [(); 3].map(|()| words.next().unwrap_or_default());
    let is_number = |word: &[u8]| word.first().is_some_and(u8::is_ascii_digit);
    let is_block = nearest(first, [NUM_RANKS, RANK]).is_some() && is_number(second);
    let is_operation = |word: &[u8], next| OPERATIONS.contains(&word) && is_number(next);
    is_block || is_operation(first, second) || is_operation(second, third)
}

/// The way in which a block goes on after a statement.
#[derive(PartialEq, Eq)]
enum Next {
    Statement,
    Close,
}

impl<'a, S: Sink<'a>> Parser<'a, '_, S> {
    fn file(&mut self) {
        loop {
            self.blank();
            if self.scan.at_end() {
                return;
            }
            if let Err(mistake) = self.section() {
                self.mistakes.error(&mistake);
                self.scan.skip_statement();
                if self.scan.peek() == b'}' {
                    self.scan.bump();
                }
            }
        }
    }

    fn blank(&mut self) {
        if let Err(mistake) = self.scan.blank() {
            self.mistakes.error(&mistake);
        }
    }

    /// Returns what stands outside the blocks.
    fn section(&mut self) -> Result<()> {
        let mark = self.scan.mark();
        let word = if self.at_label() { self.scan.word() } else { b"" };
        if word == NUM_RANKS {
            return self.num_ranks(mark);
        }
        if word == RANK {
            self.block(mark);
            return Ok(());
        }
        let help = nearest(word, [NUM_RANKS, RANK]);
        let typo = nearest(word, [RANK]).is_some();
        let place = self.scan.mark();
        self.scan.rewind(mark);
        let mistake = self.scan.expected("`num_ranks` or `rank`");
        let inside = OPERATIONS.contains(&word) || self.starts_statement();
        let outside = || inside.then(|| "operations stand inside `rank N { … }`".to_owned());
        let mistake = mistake.help(help.or_else(outside));
        if typo {
            self.mistakes.error(&mistake);
            self.scan.rewind(place);
            self.block(mark);
            return Ok(());
        }
        Err(mistake)
    }

    fn num_ranks(&mut self, mark: Mark) -> Result<()> {
        let ranks = self.scan.number("the number of ranks", u64::from(ANY));
        let mistake = |message: &str| Err(Mistake::new(mark, NUM_RANKS.len(), message.into()));
        if self.ranks.is_some() {
            return mistake("`num_ranks` is given a second time");
        }
        // With a bad number, complaints about every rank that is named would only hide the mistake.
        let known = ranks.as_ref().map_or(ANY, |ranks| *ranks as u32);
        self.ranks = Some(if known == 0 { ANY } else { known });
        let ranks = ranks? as u32;
        for (mark, width, rank) in std::mem::take(&mut self.early) {
            if let Err(mistake) = self.existing(mark, width, rank) {
                self.mistakes.error(&mistake);
            }
        }
        if ranks == 0 {
            return mistake("the number of ranks is 0, expected at least 1");
        }
        self.sink.ranks(ranks, mark);
        self.end_of_statement("the end of the line", &[])
    }

    /// Checks that a rank exists, now or when the number of ranks is known.
    #[inline]
    fn existing(&mut self, mark: Mark, width: usize, rank: u32) -> Result<()> {
        match self.ranks {
            Some(ranks) if rank < ranks => Ok(()),
            Some(ranks) => {
                let message = format!("rank {rank} does not exist: num_ranks is {ranks}");
                Err(Mistake::new(mark, width, message))
            }
            None => {
                self.early.push((mark, width, rank));
                Ok(())
            }
        }
    }

    /// A block, from behind the word `rank`, which starts at `mark`.
    fn block(&mut self, mark: Mark) {
        let rank = self.block_rank().map_err(|mistake| self.mistakes.error(&mistake)).ok();
        self.blank();
        if self.scan.peek() == b'{' {
            self.scan.bump();
        } else {
            self.mistakes.error(&self.scan.expected("`{`"));
        }
        self.sink.begin(rank, mark, &mut self.mistakes);
        while self.statement_or_end(mark) == Next::Statement {}
        self.sink.end(&mut self.mistakes);
    }

    fn block_rank(&mut self) -> Result<u32> {
        self.scan.space();
        let mark = self.scan.mark();
        let rank = self.scan.number("the number of a rank", u64::from(ANY));
        if rank.is_err() {
            self.scan.space();
            self.scan.word();
        }
        let rank = rank? as u32;
        self.existing(mark, self.scan.since(mark).len(), rank)?;
        Ok(rank)
    }

    /// Reads one statement of the block that `opened` at a position.
    fn statement_or_end(&mut self, opened: Mark) -> Next {
        self.blank();
        let unclosed = |before: &str| {
            Mistake::new(
                opened,
                RANK.len(),
                format!("the block is not closed; expected `}}` before {before}"),
            )
        };
        if self.scan.at_end() {
            self.mistakes.error(&unclosed("the end of the file"));
            return Next::Close;
        }
        if self.scan.peek() == b'}' {
            self.scan.bump();
            return Next::Close;
        }
        match self.statement() {
            Ok(Next::Statement) => {}
            Ok(Next::Close) => {
                let line = self.scan.mark().line;
                self.mistakes.error(&unclosed(&format!("the next block, on line {line}")));
                return Next::Close;
            }
            Err(mistake) => {
                self.mistakes.error(&mistake);
                self.scan.skip_statement();
            }
        }
        Next::Statement
    }

    fn at_label(&self) -> bool {
        self.scan.peek().is_ascii_alphabetic()
    }

    fn statement(&mut self) -> Result<Next> {
        if !self.at_label() {
            return Err(self.scan.expected("a label, `send`, `recv`, `calc` or `}`"));
        }
        let mark = self.scan.mark();
        let name = self.scan.word();
        if !reserved(name) {
            self.labelled(Label { name, mark })?;
            return Ok(Next::Statement);
        }
        self.scan.space();
        if self.scan.peek() == b':' {
            let message = format!("{} cannot be a label", shown(name));
            let help = "`send`, `recv`, `calc`, `rank` and `num_ranks` are reserved".to_owned();
            return Err(Label { name, mark }.mistake(message).help(Some(help)));
        }
        if let Some(kind) = operation(name) {
            self.operation(None, kind, mark)?;
        } else if name == NUM_RANKS {
            self.num_ranks(mark)?;
        } else {
            self.scan.rewind(mark);
            return Ok(Next::Close);
        }
        Ok(Next::Statement)
    }

    /// A statement that starts with a label, from behind it.
    fn labelled(&mut self, label: Label<'a>) -> Result<()> {
        self.scan.space();
        if self.scan.peek() == b':' {
            self.scan.bump();
            self.scan.space();
            let mark = self.scan.mark();
            if let Some(kind) = operation(self.scan.word()) {
                return self.operation(Some(label), kind, label.mark);
            }
            self.scan.rewind(mark);
            self.sink.op(Some(label), SUBSTITUTE, label.mark, &mut self.mistakes);
            return Err(self.scan.expected_word("`send`, `recv` or `calc`", &OPERATIONS));
        }
        let mark = self.scan.mark();
        let edge = match self.scan.word() {
            b"requires" => Edge::Done,
            b"irequires" => Edge::Started,
            _ => {
                self.scan.rewind(mark);
                return Err(self.no_statement(label));
            }
        };
        self.dependencies(label, edge)
    }

    /// The error that a label is followed by neither `:` nor `requires`.
    #[cold]
    fn no_statement(&mut self, label: Label) -> Mistake {
        if self.scan.peek().is_ascii_digit() {
            let help = nearest(label.name, OPERATIONS);
            let name = shown(label.name);
            let message =
                format!("expected `send`, `recv`, `calc` or a label and `:`, found {name}");
            return label.mistake(message).help(help);
        }
        let what = format!("`:`, `requires` or `irequires` behind label {}", shown(label.name));
        self.scan.expected_word(&what, &REQUIRES)
    }

    /// The list behind `requires`.
    fn dependencies(&mut self, after: Label<'a>, edge: Edge) -> Result<()> {
        loop {
            self.scan.space();
            let mark = self.scan.mark();
            let name = if self.at_label() { self.scan.word() } else { b"" };
            if name.is_empty() || reserved(name) || REQUIRES.contains(&name) {
                self.scan.rewind(mark);
                return Err(self.scan.expected("a label"));
            }
            self.sink.depend(after, Label { name, mark }, edge, &mut self.mistakes);
            self.scan.space();
            match self.scan.peek() {
                b',' => self.scan.bump(),
                _ if self.at_label() && !self.starts_statement() => {}
                _ => return self.end_of_statement("`,` or the end of the statement", &[]),
            }
        }
    }

    /// Returns whether a statement, block or header starts here.
    fn starts_statement(&mut self) -> bool {
        let mark = self.scan.mark();
        let starts = self.at_label() && {
            let word = self.scan.word();
            self.scan.space();
            let colon = self.scan.peek() == b':';
            colon || reserved(word) || REQUIRES.contains(&self.scan.word())
        };
        self.scan.rewind(mark);
        starts
    }

    #[inline]
    fn end_of_statement(&mut self, what: &str, words: &[&'static [u8]]) -> Result<()> {
        self.scan.space();
        match self.scan.peek() {
            b'\n' | b'}' | b'/' => Ok(()),
            _ if self.scan.at_end() || self.starts_statement() => Ok(()),
            _ => Err(self.scan.expected_word(what, words)),
        }
    }

    #[inline]
    fn operation(&mut self, label: Option<Label<'a>>, kind: Kind, mark: Mark) -> Result<()> {
        let op = self.operands(kind);
        let stands = *op.as_ref().unwrap_or(&SUBSTITUTE);
        self.sink.op(label, stands, mark, &mut self.mistakes);
        op?;
        let (what, words) = match kind {
            Kind::Calc => ("`cpu` or the end of the statement", &ATTRIBUTES[1..2]),
            _ => ("`tag`, `cpu`, `nic` or the end of the statement", &ATTRIBUTES[..]),
        };
        self.end_of_statement(what, words)
    }

    fn operands(&mut self, kind: Kind) -> Result<Op> {
        let mut op = Op { kind, ..SUBSTITUTE };
        if kind == Kind::Calc {
            op.size = self.scan.number("a duration", u64::MAX)?;
        } else {
            op.size = self.scan.number("a size", u64::MAX)?;
            self.scan.space();
            if self.scan.peek() != b'b' {
                let help = "sizes are whole numbers of bytes, such as `102400b` for 100 KiB";
                return Err(self.scan.expected("`b` (bytes)").help(Some(help.to_owned())));
            }
            self.scan.bump();
            self.scan.space();
            op.peer = self.peer(kind)?;
        }
        self.attributes(&mut op)?;
        Ok(op)
    }

    /// `to` and a rank, or `from` and a rank or -1.
    fn peer(&mut self, kind: Kind) -> Result<u32> {
        let mark = self.scan.mark();
        let (preposition, quoted): (&'static [u8], _) = match kind {
            Kind::Recv => (b"from", "`from`"),
            _ => (b"to", "`to`"),
        };
        if self.scan.letters() != preposition {
            self.scan.rewind(mark);
            return Err(self.scan.expected_word(quoted, &[preposition]));
        }
        self.scan.space();
        let mark = self.scan.mark();
        if kind == Kind::Send && self.scan.peek() == b'-' {
            let help = "only a receive may name any rank, by -1".to_owned();
            return Err(self.scan.expected("a rank").help(Some(help)));
        }
        let peer = self.number_or_any("a rank")?;
        if peer == ANY && kind == Kind::Recv {
            return Ok(ANY);
        }
        self.existing(mark, self.scan.since(mark).len(), peer)?;
        Ok(peer)
    }

    /// A number, or -1 for any.
    fn number_or_any(&mut self, what: &str) -> Result<u32> {
        self.scan.space();
        let mark = self.scan.mark();
        if self.scan.peek() != b'-' {
            let value = self.scan.number(what, u64::from(ANY))? as u32;
            if value == ANY {
                let message = format!("{ANY} means any, like -1");
                self.mistakes.warning(&Mistake::new(mark, self.scan.since(mark).len(), message));
            }
            return Ok(value);
        }
        self.scan.bump();
        if self.scan.word() == b"1" {
            return Ok(ANY);
        }
        self.scan.rewind(mark);
        Err(self.scan.expected(&format!("{what} or -1")))
    }

    fn attributes(&mut self, op: &mut Op) -> Result<()> {
        let mut given = 0;
        loop {
            self.scan.space();
            let mark = self.scan.mark();
            let word = self.scan.letters();
            let Some(which) = ATTRIBUTES.iter().position(|attribute| *attribute == word) else {
                self.scan.rewind(mark);
                return Ok(());
            };
            let spaced = matches!(self.scan.peek(), b' ' | b'\t');
            self.scan.space();
            let value = spaced && matches!(self.scan.peek(), b'0'..=b'9' | b'-');
            if !value {
                self.scan.rewind(mark);
                if self.starts_statement() {
                    return Ok(());
                }
                self.scan.letters();
            }
            self.attribute(op, which, given, Label { name: word, mark })?;
            given = which + 1;
        }
    }

    /// The value of an attribute, if it may stand here: behind `given` others.
    fn attribute(&mut self, op: &mut Op, which: usize, given: usize, word: Label) -> Result<()> {
        let name = || shown(word.name);
        if op.kind == Kind::Calc && which != 1 {
            return Err(word.mistake(format!("a computation has no {}", name())));
        }
        if which + 1 == given {
            return Err(word.mistake(format!("{} is given a second time", name())));
        }
        if which < given {
            let help = Some("the order is `tag`, `cpu`, `nic`".to_owned());
            return Err(word.mistake(format!("{} stands too late", name())).help(help));
        }
        match which {
            0 => op.tag = self.number_or_any("a tag")?,
            1 => op.cpu = self.scan.number("the index of a CPU", INDEX)? as u8,
            _ => {
                op.nic = self.scan.number("the index of an interface", INDEX)? as u8;
            }
        }
        Ok(())
    }
}

/// Highest index of a CPU or interface.
const INDEX: u64 = u8::MAX as u64;

/// Stands for an operation that could not be read.
const SUBSTITUTE: Op = Op { kind: Kind::Calc, peer: 0, tag: 0, size: 0, cpu: 0, nic: 0 };

/// The operation of a word.
#[inline]
fn operation(word: &[u8]) -> Option<Kind> {
    match word {
        b"send" => Some(Kind::Send),
        b"recv" => Some(Kind::Recv),
        b"calc" => Some(Kind::Calc),
        _ => None,
    }
}

/// Returns whether a word cannot be a label.
fn reserved(word: &[u8]) -> bool {
    operation(word).is_some() || word == RANK || word == NUM_RANKS
}

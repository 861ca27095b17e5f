//! Commands as words, and back.

use crate::Rule;
use calls::{Amount, Collective};

use crate::command::{CollectiveStart, Command, Members, Poll, Shape, Tag, Taken};

/// In the first word of a command: a call ends behind it, with this shape and 1 more.
const CALLED: u32 = 32;

/// Turns commands into words.
#[derive(Debug, Default)]
pub struct Encoder {
    words: Vec<u64>,
    /// The beginning of the last command, if it may say that a call ends behind it.
    last: Option<usize>,
}

impl Encoder {
    fn list(&mut self, values: impl ExactSizeIterator<Item = u64>) {
        self.words.push(values.len() as u64);
        self.words.extend(values);
    }

    fn bytes(&mut self, command: u64, bytes: &[u8]) {
        self.words.extend([command, bytes.len() as u64]);
        self.list(bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
            u64::from_le_bytes(word)
        }));
    }

    fn members(&mut self, members: &Members) {
        match members {
            Members::Range { first, stride, count } => {
                self.words.extend([0, u64::from(*first), u64::from(*stride), u64::from(*count)]);
            }
            Members::List(list) => {
                self.words.push(1);
                self.list(list.iter().map(|rank| u64::from(*rank)));
            }
        }
    }

    fn amount(&mut self, amount: &Amount) {
        match amount {
            Amount::Each(bytes) => self.words.extend([0, *bytes]),
            Amount::List(list) => {
                self.words.push(1);
                self.list(list.iter().copied());
            }
        }
    }

    fn collective(&mut self, part: &CollectiveStart) {
        let root = part.root.map_or(u64::MAX, u64::from);
        let (collective, context) = (part.collective as u64, part.context);
        let commutative = u64::from(part.commutative);
        self.words.extend([4, collective, context, part.number, root, part.element, commutative]);
        self.amount(&part.sends);
        self.amount(&part.receives);
        self.words.push(part.contents);
    }

    fn tag(&mut self, tag: Tag) {
        let any = u64::from(tag.tag.is_none()) << 32;
        self.words.extend([tag.context, any | u64::from(tag.tag.unwrap_or(0))]);
    }

    /// The words; they are taken out.
    pub fn take(&mut self) -> Vec<u64> {
        self.last = None;
        std::mem::take(&mut self.words)
    }

    /// Gives back the room that words had.
    pub fn reuse(&mut self, mut words: Vec<u64>) {
        words.clear();
        (self.words, self.last) = (words, None);
    }

    /// Adds a command.
    #[inline(always)]
    pub fn add(&mut self, command: &Command) {
        let (here, last) = (self.words.len(), self.last.take());
        if let (Command::Called(shape), Some(last)) = (command, last)
            && let Some(word) = self.words.get_mut(last)
        {
            *word |= (1 + *shape as u64) << CALLED;
            return;
        }
        self.add_whole(command);
        self.last = Some(here);
    }

    // Long because it lists the commands.
    #[inline(always)]
    fn add_whole(&mut self, command: &Command) {
        match command {
            Command::Compute(time) => self.words.extend([0, *time]),
            Command::Sleep(time) => self.words.extend([1, *time]),
            Command::Send { to, tag, bytes, contents, synchronous } => {
                let synchronous = u64::from(*synchronous);
                self.words.extend([2, u64::from(*to), *bytes, *contents, synchronous]);
                self.tag(*tag);
            }
            Command::Receive { from, tag, room, at_once, probes, before } => {
                let before = before.map_or(0, |found| 1 << 2 | u64::from(found) << 32);
                let how = u64::from(*at_once) | u64::from(*probes) << 1 | before;
                self.words.extend([3, u64::from(*from), *room, how]);
                self.tag(*tag);
            }
            Command::Collective(collective) => self.collective(collective),
            Command::Called(shape) => self.words.extend([5, *shape as u64]),
            Command::Wait { all, tickets } => {
                self.words.extend([6, u64::from(*all)]);
                self.list(tickets.iter().copied().map(u64::from));
            }
            Command::Test { taken, tickets } => {
                self.words.extend([21, *taken as u64]);
                self.list(tickets.iter().copied().map(u64::from));
            }
            Command::Poll(poll) => self.words.extend([7, *poll as u64]),
            Command::Cancel(ticket) => self.words.extend([8, u64::from(*ticket)]),
            Command::Withdraw(ticket) => self.words.extend([19, u64::from(*ticket)]),
            Command::Precedes(one, other) => {
                self.words.extend([25, u64::from(*one), u64::from(*other)]);
            }
            Command::Leave(ticket) => self.words.extend([22, u64::from(*ticket)]),
            Command::Forget(ticket) => self.words.extend([9, u64::from(*ticket)]),
            Command::Communicator { context, me, local, remote, neighbours } => {
                self.words.extend([10, *context, u64::from(*me)]);
                self.members(local);
                self.members(remote);
                self.words.push(u64::from(neighbours.is_some()));
                if let Some((sources, destinations)) = neighbours {
                    self.members(sources);
                    self.members(destinations);
                }
            }
            &Command::Release(context, members) => {
                self.words.extend([11, context, u64::from(members)]);
            }
            &Command::Alarm(at) => self.words.extend([12, at]),
            Command::In(name) => self.bytes(13, name.as_bytes()),
            Command::Place(name) => self.bytes(26, name.as_bytes()),
            Command::At(number) => self.words.extend([27, u64::from(*number)]),
            Command::Start(what) => self.bytes(18, what),
            Command::Exit => self.words.push(14),
            Command::Order => self.words.push(23),
            Command::Computed => self.words.push(24),
            Command::Abort(code) => self.words.extend([20, u64::from(code.cast_unsigned())]),
            Command::Sample { block, rule } => {
                let precision = rule.precision.to_bits();
                self.words.extend([16, *block, u64::from(rule.times), precision]);
            }
            Command::Sampled { block, nanoseconds } => {
                self.words.extend([17, *block, *nanoseconds]);
            }
            Command::Remote { to, bytes, answer } => {
                self.words.extend([15, u64::from(*to), *bytes, *answer]);
            }
        }
    }
}

/// Turns words into commands.
#[derive(Debug)]
pub struct Decoder<'a> {
    words: &'a [u64],
    /// The call that ends behind the last command.
    called: Option<Shape>,
}

impl<'a> Decoder<'a> {
    /// The commands that these words are.
    pub const fn new(words: &'a [u64]) -> Self {
        Self { words, called: None }
    }

    /// Returns whether all words were commands so far, and none is left. What is no command, and
    /// all behind it, stays.
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    #[inline(always)]
    fn word(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    #[inline(always)]
    fn small(&mut self) -> Option<u32> {
        self.word()?.try_into().ok()
    }

    fn list(&mut self) -> Option<&'a [u64]> {
        let length = usize::try_from(self.word()?).ok()?;
        let (list, rest) = self.words.split_at_checked(length)?;
        self.words = rest;
        Some(list)
    }

    fn smalls<L: FromIterator<u32>>(&mut self) -> Option<L> {
        self.list()?.iter().map(|word| u32::try_from(*word).ok()).collect()
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.word()?).ok()?;
        let mut bytes: Vec<u8> = self.list()?.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    fn members(&mut self) -> Option<Members> {
        if self.word()? == 0 {
            let (first, stride, count) = (self.small()?, self.small()?, self.small()?);
            return Some(Members::Range { first, stride, count });
        }
        self.smalls().map(Members::List)
    }

    fn amount(&mut self) -> Option<Amount> {
        Some(match self.word()? {
            0 => Amount::Each(self.word()?),
            _ => Amount::List(self.list()?.to_vec()),
        })
    }

    #[inline(always)]
    fn tag(&mut self) -> Option<Tag> {
        let (context, tag) = (self.word()?, self.word()?);
        Some(Tag { context, tag: (tag >> 32 == 0).then_some(tag as u32) })
    }

    fn collective(&mut self) -> Option<Command> {
        let collective = *Collective::ALL.get(usize::try_from(self.word()?).ok()?)?;
        Some(Command::Collective(CollectiveStart {
            collective,
            context: self.word()?,
            number: self.word()?,
            root: u32::try_from(self.word()?).ok(),
            element: self.word()?,
            commutative: self.word()? != 0,
            sends: self.amount()?,
            receives: self.amount()?,
            contents: self.word()?,
        }))
    }

    fn communicator(&mut self) -> Option<Command> {
        let (context, me) = (self.word()?, self.small()?);
        let (local, remote) = (self.members()?, self.members()?);
        let neighbours =
            if self.word()? == 0 { None } else { Some((self.members()?, self.members()?)) };
        Some(Command::Communicator { context, me, local, remote, neighbours })
    }
}

impl Iterator for Decoder<'_> {
    type Item = Command;

    /// The next command; `None` at the end, or if the words are none: then they stay.
    fn next(&mut self) -> Option<Command> {
        if let Some(shape) = self.called.take() {
            return Some(Command::Called(shape));
        }
        let words = self.words;
        let command = self.command();
        if command.is_none() {
            (self.words, self.called) = (words, None);
        }
        command
    }
}

impl Decoder<'_> {
    // Long because it lists the commands.
    fn command(&mut self) -> Option<Command> {
        let first = self.word()?;
        self.called = match first >> CALLED {
            0 => None,
            1 => Some(Shape::Blocking),
            2 => Some(Shape::Posted),
            _ => return None,
        };
        Some(match first as u32 {
            0 => Command::Compute(self.word()?),
            1 => Command::Sleep(self.word()?),
            2 => {
                let (to, bytes, contents) = (self.small()?, self.word()?, self.word()?);
                let synchronous = self.word()? != 0;
                Command::Send { to, tag: self.tag()?, bytes, contents, synchronous }
            }
            3 => {
                let (from, room, how) = (self.small()?, self.word()?, self.word()?);
                let (at_once, probes) = (how & 1 != 0, how & 2 != 0);
                let before = (how & 4 != 0).then_some((how >> 32) as u32);
                Command::Receive { from, tag: self.tag()?, room, at_once, probes, before }
            }
            4 => self.collective()?,
            5 => match self.word()? {
                0 => Command::Called(Shape::Blocking),
                _ => Command::Called(Shape::Posted),
            },
            6 => Command::Wait { all: self.word()? != 0, tickets: self.smalls()? },
            7 => Command::Poll(match self.word()? {
                0 => Poll::Probe,
                1 => Poll::Time,
                3 => Poll::Turn,
                _ => Poll::Nothing,
            }),
            21 => {
                let taken = match self.word()? {
                    0 => Taken::All,
                    1 => Taken::First,
                    _ => Taken::Each,
                };
                Command::Test { taken, tickets: self.smalls()? }
            }
            8 => Command::Cancel(self.small()?),
            19 => Command::Withdraw(self.small()?),
            25 => Command::Precedes(self.small()?, self.small()?),
            22 => Command::Leave(self.small()?),
            9 => Command::Forget(self.small()?),
            10 => self.communicator()?,
            11 => Command::Release(self.word()?, self.small()?),
            12 => Command::Alarm(self.word()?),
            13 => Command::In(self.text()?),
            26 => Command::Place(self.text()?),
            27 => Command::At(self.small()?),
            14 => Command::Exit,
            23 => Command::Order,
            24 => Command::Computed,
            20 => Command::Abort((self.word()? as u32).cast_signed()),
            15 => Command::Remote { to: self.small()?, bytes: self.word()?, answer: self.word()? },
            16 => {
                let (block, times) = (self.word()?, self.small()?);
                let precision = f64::from_bits(self.word()?);
                Command::Sample { block, rule: Rule { times, precision } }
            }
            17 => Command::Sampled { block: self.word()?, nanoseconds: self.word()? },
            18 => Command::Start(self.bytes()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands come back as they were said: also where a call ends behind one that says so itself,
    /// behind another end of a call, or with nothing before it.
    #[test]
    fn commands_come_back() {
        let tag = Tag { context: 3, tag: Some(4) };
        let send = Command::Send { to: 1, tag, bytes: 8, contents: 64, synchronous: true };
        let said = [
            Command::Called(Shape::Posted),
            send.clone(),
            Command::Called(Shape::Blocking),
            Command::Called(Shape::Posted),
            Command::Forget(7),
            Command::Place("ring.c:42".to_owned()),
            Command::At(3),
            Command::receive(crate::ANY, Tag { tag: None, ..tag }, u64::MAX),
            send,
            Command::Called(Shape::Posted),
            Command::Precedes(7, 8),
            Command::Alarm(u64::MAX),
            Command::Abort(-1),
            Command::Wait { all: true, tickets: vec![7, 8] },
        ];
        let mut encoder = Encoder::default();
        for command in &said {
            encoder.add(command);
        }
        let words = encoder.take();
        let mut decoder = Decoder::new(&words);
        assert_eq!(decoder.by_ref().collect::<Vec<_>>(), said);
        assert!(decoder.is_empty());
        // What is cut off is no command, and is left.
        let mut decoder = Decoder::new(words.get(..words.len() - 1).unwrap_or_default());
        assert_eq!(decoder.by_ref().count(), said.len() - 1);
        assert!(!decoder.is_empty());
    }

    /// An end of a call does not join a command whose words have been taken out.
    #[test]
    fn words_that_were_taken_stay_as_they_are() {
        let mut encoder = Encoder::default();
        encoder.add(&Command::Forget(1));
        let words = encoder.take();
        encoder.add(&Command::Called(Shape::Posted));
        assert_eq!(Decoder::new(&words).collect::<Vec<_>>(), [Command::Forget(1)]);
        encoder.reuse(words);
        encoder.add(&Command::Called(Shape::Blocking));
        assert_eq!(
            Decoder::new(&encoder.take()).collect::<Vec<_>>(),
            [Command::Called(Shape::Blocking)]
        );
    }
}

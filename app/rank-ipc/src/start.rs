//! Programs that a rank starts while it runs (MPI 4.1, section 11.8).

use crate::{Memory, Offset};

/// A program, and the number of processes that run it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Name or path of the executable.
    pub program: Vec<u8>,
    /// Its arguments.
    pub arguments: Vec<Vec<u8>>,
    /// The folder where it runs.
    pub directory: Vec<u8>,
    /// The hosts that its processes may be on, separated by commas; empty for any host.
    pub host: Vec<u8>,
    /// Number of processes.
    pub count: u32,
}

/// Appends a text behind its length.
fn put(into: &mut Vec<u8>, part: &[u8]) {
    into.extend((part.len() as u64).to_le_bytes());
    into.extend(part);
}

fn number(from: &mut &[u8]) -> Option<u64> {
    let (bytes, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(u64::from_le_bytes(*bytes))
}

fn take(from: &mut &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(number(from)?).ok()?;
    let (part, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(part.to_vec())
}

impl Start {
    /// Encodes several programs for [`crate::Command::Start`].
    pub fn encode(all: &[Self]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for start in all {
            bytes.extend(u64::from(start.count).to_le_bytes());
            for part in [&start.program, &start.directory, &start.host] {
                put(&mut bytes, part);
            }
            bytes.extend((start.arguments.len() as u64).to_le_bytes());
            start.arguments.iter().for_each(|part| put(&mut bytes, part));
        }
        bytes
    }

    /// Decodes what [`Start::encode`] made; `None` if it did not make it.
    pub fn decode(mut bytes: &[u8]) -> Option<Vec<Self>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let count = u32::try_from(number(&mut bytes)?).ok()?;
            let (program, directory) = (take(&mut bytes)?, take(&mut bytes)?);
            let host = take(&mut bytes)?;
            let arguments = (0..number(&mut bytes)?).map(|_| take(&mut bytes));
            let arguments = arguments.collect::<Option<_>>()?;
            all.push(Self { program, arguments, directory, host, count });
        }
        Some(all)
    }
}

/// The answer to a request to start programs: the ranks of the processes, or why there are none.
pub type Started = Result<Vec<u32>, String>;

/// Returns the size of a block for the answer, in bytes.
pub fn room(started: &Started) -> u64 {
    16 + started.as_ref().map_or_else(String::len, |ranks| 4 * ranks.len()) as u64
}

/// Writes the answer into a block that has room for it and that nobody else knows yet.
pub fn write(memory: &Memory, place: Offset, started: &Started) {
    let bytes: Vec<u8> = match started {
        Ok(ranks) => ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect(),
        Err(text) => text.as_bytes().to_vec(),
    };
    let words = [u64::from(started.is_err()), bytes.len() as u64];
    for (place, word) in (place..).step_by(8).zip(words) {
        memory.word(place).store(word, std::sync::atomic::Ordering::Relaxed);
    }
    // SAFETY: by contract, there is room behind the two words.
    let body = unsafe { std::slice::from_raw_parts_mut(memory.at(place + 16), bytes.len()) };
    body.copy_from_slice(&bytes);
}

/// Reads the answer from a block that [`write`] has written.
pub fn read(memory: &Memory, place: Offset) -> Started {
    let word = |place| memory.word(place).load(std::sync::atomic::Ordering::Relaxed);
    let length = word(place + 8) as usize;
    // SAFETY: by contract, this many bytes are there.
    let body = unsafe { std::slice::from_raw_parts(memory.at(place + 16), length) };
    if word(place) != 0 {
        return Err(String::from_utf8_lossy(body).into_owned());
    }
    Ok(body.as_chunks().0.iter().map(|rank| u32::from_le_bytes(*rank)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arena;

    #[test]
    fn what_is_said_is_heard() {
        let start = |program: &str, arguments: &[&str]| Start {
            program: program.into(),
            arguments: arguments.iter().map(|text| text.as_bytes().to_vec()).collect(),
            directory: b"/".to_vec(),
            host: Vec::new(),
            count: 3,
        };
        let all = [start("./a b", &[]), start("c", &["", "d\n"])];
        assert_eq!(Start::decode(&Start::encode(&all)).as_deref(), Some(&all[..]));
        assert_eq!(Start::decode(&Start::encode(&all)[1..]), None);
    }

    #[test]
    fn answers() {
        let (memory, _file) = Memory::new(1).expect("memory");
        let mut arena = Arena::new(memory, 1);
        for answer in [Ok(vec![7, 5]), Ok(Vec::new()), Err("no program".to_owned())] {
            let place = arena.allocate(room(&answer)).expect("room");
            write(&memory, place, &answer);
            assert_eq!(read(&memory, place), answer);
        }
    }
}

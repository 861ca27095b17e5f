//! The memory that code takes, and what programs and libraries only read.

use std::ffi::c_void;
use std::fs;

/// The address range of a mapping of a file's contents that nobody writes, if a line of `smaps`
/// begins one.
fn begins(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let is_of_file = words.next().is_some_and(|what| matches!(what, "r-xp" | "r--p"))
        && words.nth(3).is_some_and(|path| path.starts_with('/'));
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some((address(start)?, address(end)?)).filter(|_| is_of_file)
}

/// Mappings of files that are only read.
#[derive(Default)]
pub struct Code(Vec<(usize, usize)>);

impl Code {
    /// The code of the process. One with changes, such as breakpoints, is left out. Best called
    /// before there are thousands of stacks, whose pages the system would look through as well.
    pub fn find() -> Self {
        let text = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let (mut mapping, mut found) = (None, Vec::new());
        for line in text.lines() {
            mapping = begins(line).or(mapping);
            let Some(changed) = line.strip_prefix("Anonymous:") else { continue };
            found.extend(mapping.take().filter(|_| changed.trim() == "0 kB"));
        }
        Self(found)
    }

    /// Gives their pages back to the system, of which the command has used many to read what it is
    /// to do: those that are needed again come back from their files.
    pub fn give_back(self) {
        for (start, end) in self.0 {
            // SAFETY: pages of a file, as they are there. If the system keeps them, nothing is
            // lost.
            unsafe { libc::madvise(start as *mut c_void, end - start, libc::MADV_DONTNEED) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as in proc(5), `smaps`.
    #[test]
    fn mappings_that_are_only_read() {
        let code = "55d0a000-55d0b000 r-xp 00001000 08:02 173521 /usr/bin/program";
        assert_eq!(begins(code), Some((0x55d0_a000, 0x55d0_b000)));
        for other in [
            "55d0a000-55d0b000 rw-p 00001000 08:02 173521 /usr/bin/program",
            "55d0a000-55d0b000 r--p 00000000 00:00 0",
            "55d0a000-55d0b000 r-xp 00000000 00:00 0 [vdso]",
            "Anonymous:             0 kB",
            "",
        ] {
            assert_eq!(begins(other), None, "{other}");
        }
    }

    /// Code runs on after its pages were given back.
    #[test]
    fn pages_come_back() {
        let code = Code::find();
        let here = pages_come_back as fn() as usize;
        assert!(code.0.iter().any(|(start, end)| (*start..*end).contains(&here)));
        code.give_back();
        assert_eq!(begins("no mapping"), None);
    }
}

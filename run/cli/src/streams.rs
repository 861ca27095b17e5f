//! Keeping apart what Heddle prints and what programs print.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::AsFd,
};

/// The destination of the summary.
pub enum Out {
    /// Standard output.
    Shared,
    /// The former standard output, now that the program's output goes elsewhere.
    Own(File),
}

impl Out {
    /// Sends whatever this process and those that it starts write to standard output to standard
    /// error from now on, and keeps standard output for the summary.
    pub fn apart() -> io::Result<Self> {
        let own = io::stdout().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(Self::Own(own.into()))
    }

    /// Writes a text and what is buffered before it.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Shared => {
                let mut out = io::stdout().lock();
                out.write_all(text).and_then(|()| out.flush())
            }
            Self::Own(file) => file.write_all(text),
        }
    }
}

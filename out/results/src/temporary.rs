//! Files and folders that must not stay behind if they are not finished.
//!
//! They are removed when they are dropped, and all together when the process is told to end:
//! [`hold`] keeps everyone else from making, renaming or removing one, and [`Held::remove_all`]
//! then removes all there are.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All of them, in the order in which they were made.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file, or a folder, that is removed when this is dropped; a folder only if it is empty.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes an empty file, in place of one of this name.
    pub fn file(path: &Path) -> io::Result<(Self, File)> {
        let mut held = hold();
        let file = File::create(path)?;
        Ok((held.made(path), file))
    }

    /// Makes a folder and those above it that are missing; the deepest comes first.
    pub fn folders(path: &Path) -> io::Result<Vec<Self>> {
        // Dropped behind `held` if there is an error, as they need the lock.
        let mut made = Vec::new();
        let mut held = hold();
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<_> = path.ancestors().take_while(missing).collect();
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => made.insert(0, held.made(path)),
                // `new/..` exists as soon as `new` does.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if hold().forget(self) {
            remove(&self.0);
        }
    }
}

/// Waits until nobody else makes, renames or removes temporary files, and keeps it so.
pub fn hold() -> Held {
    Held(ALL.lock().unwrap_or_else(PoisonError::into_inner))
}

/// As long as this lives, nobody else makes, renames or removes temporary files.
#[derive(Debug)]
pub struct Held(MutexGuard<'static, Vec<PathBuf>>);

impl Held {
    fn made(&mut self, path: &Path) -> Temporary {
        // It may be removed while the process is in another folder.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.0.push(path.clone());
        Temporary(path)
    }

    /// Whether it was still temporary.
    fn forget(&mut self, temporary: &Temporary) -> bool {
        let place = self.0.iter().rposition(|path| *path == temporary.0);
        place.map(|place| self.0.remove(place)).is_some()
    }

    /// Gives a file its final name, under which it stays.
    pub fn rename(&mut self, file: &Temporary, to: &Path) -> io::Result<()> {
        fs::rename(&file.0, to)?;
        self.forget(file);
        Ok(())
    }

    /// Lets a file or folder stay as it is.
    pub fn keep(&mut self, temporary: &Temporary) {
        self.forget(temporary);
    }

    /// Removes all temporary files and folders, for a process that ends here.
    pub fn remove_all(&mut self) {
        while let Some(path) = self.0.pop() {
            remove(&path);
        }
    }
}

/// Whatever cannot be removed stays; there is nobody to tell.
fn remove(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
}

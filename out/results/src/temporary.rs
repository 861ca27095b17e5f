//! Files and folders that must not stay behind if they are not finished.
//!
//! A result is written under a partial name in the folder where it will be, and gets its own name
//! when it is complete. Partial files are removed when they are dropped, and all together when the
//! process is told to end: [`hold`] keeps everyone else from making, renaming or removing one, and
//! [`Held::remove_all`] then removes all there are.
//!
//! Somebody else may be able to write to the folder. A partial file is therefore made with
//! `O_EXCL`: it neither follows a link nor takes a file that somebody has put there. What a process
//! left behind that was killed is told by its lock, which ended with that process; only regular
//! files and folders of the same user count as such.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::fs::{FlockOperation, OFlags, flock};

/// All of them, in the order in which they were made.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The end of a partial name.
const ENDING: &str = ".partial";

/// A file, or a folder with all that is in it, that is removed when this is dropped. A folder that
/// [`Temporary::folders`] made is removed only if it is empty.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// A folder's lock; that of a file lies with whoever writes it.
    _lock: Option<File>,
}

impl Temporary {
    /// Makes an empty file that will be `path`, in the same folder under a partial name. Partial
    /// files of processes that are gone are removed.
    pub fn file(path: &Path) -> io::Result<(Self, File)> {
        remove_stale(path);
        let partial = partial(path);
        let mut held = hold();
        let file = OpenOptions::new().write(true).create_new(true).open(&partial)?;
        // Without locks nothing is taken for stale.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        Ok((held.made(&partial, None), file))
    }

    /// Makes an empty folder that will be `path`, beside it under a partial name.
    pub fn folder(path: &Path) -> io::Result<Self> {
        remove_stale(path);
        let partial = partial(path);
        let mut held = hold();
        fs::create_dir(&partial)?;
        let lock = File::open(&partial).ok();
        if let Some(folder) = &lock {
            let _ = flock(folder, FlockOperation::NonBlockingLockExclusive);
        }
        Ok(held.made(&partial, lock))
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
                Ok(()) => made.insert(0, held.made(path, None)),
                // `new/..` exists as soon as `new` does.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }

    /// The path that it has now.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if hold().forget(self) {
            remove(&self.path);
        }
    }
}

/// Waits until nobody else makes, renames or removes temporary files, and keeps it so.
pub fn hold() -> Held {
    Held(ALL.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Keeps everybody else from making, renaming or removing temporary files, as long as it lives.
#[derive(Debug)]
pub struct Held(MutexGuard<'static, Vec<PathBuf>>);

impl Held {
    fn made(&mut self, path: &Path, lock: Option<File>) -> Temporary {
        // It may be removed while the process is in another folder.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.0.push(path.clone());
        Temporary { path, _lock: lock }
    }

    /// Takes one off the list; says whether it was still on it.
    fn forget(&mut self, temporary: &Temporary) -> bool {
        let place = self.0.iter().rposition(|path| *path == temporary.path);
        place.map(|place| self.0.remove(place)).is_some()
    }

    /// Gives a file or folder its final name, under which it stays.
    pub fn rename(&mut self, temporary: &Temporary, to: &Path) -> io::Result<()> {
        fs::rename(&temporary.path, to)?;
        self.forget(temporary);
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

/// The name of a file or folder until it is complete, in the same folder.
fn partial(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}{ENDING}", std::process::id()));
    path.with_file_name(name)
}

/// The name of which this is a partial one, of any process.
fn whole(name: &OsStr) -> Option<&str> {
    let (name, process) =
        name.to_str()?.strip_prefix('.')?.strip_suffix(ENDING)?.rsplit_once('.')?;
    let is_number = !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !name.is_empty()).then_some(name)
}

/// Says whether a path is what a process left behind that is gone: a partial file or folder of this
/// user, whose lock is free, for a result whose name `is_ours` accepts.
pub fn is_stale(path: &Path, is_ours: impl Fn(&str) -> bool) -> bool {
    if !path.file_name().and_then(whole).is_some_and(is_ours) {
        return false;
    }
    // A pipe is not waited for.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let Ok(file) = file else { return false };
    let own = rustix::process::geteuid().as_raw();
    let kind = file.metadata();
    kind.is_ok_and(|data| (data.is_file() || data.is_dir()) && data.uid() == own)
        && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Removes what processes that are gone left of a file or folder.
fn remove_stale(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new(".")));
    for entry in entries.into_iter().flatten().flatten() {
        let is_ours = |name: &str| path.file_name() == Some(OsStr::new(name));
        if whole(&entry.file_name()).is_some_and(is_ours) && is_stale(&entry.path(), is_ours) {
            remove(&entry.path());
        }
    }
}

/// Removes a file, a partial folder with all that is in it, or an empty folder. Whatever cannot be
/// removed stays; there is nobody to tell.
pub fn remove(path: &Path) {
    let is_partial = path.file_name().and_then(whole).is_some();
    let folder = || if is_partial { fs::remove_dir_all(path) } else { fs::remove_dir(path) };
    // Somebody may add a file while the folder is emptied, before this process ends.
    for _ in 0..3 {
        if fs::remove_file(path).or_else(|_| folder()).is_ok() || !path.exists() {
            return;
        }
    }
}

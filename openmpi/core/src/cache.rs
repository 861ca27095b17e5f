//! Measured parameters, kept for the next job: a file in the user's cache folder that nobody else
//! can write, and that is believed only if it is whole.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use calibrate::sha256;
use rustix::{fs::OFlags, process::geteuid};

use crate::{Error, rail::Rail};

/// The first line of a cache file.
const FIRST: &str = "heddle rails 2";

/// Nobody keeps longer files in the cache.
const LONGEST: u64 = 64 * 1024;

/// A cache: a folder.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

impl Cache {
    /// The cache in a folder, or else the user's: `heddle` in `$XDG_CACHE_HOME` or `~/.cache`.
    pub fn new(folder: Option<&Path>) -> Result<Self, Error> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let users = || {
            let folder = variable("XDG_CACHE_HOME").map(PathBuf::from);
            folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))
        };
        let folder = folder.map(Path::to_owned).or_else(|| Some(users()?.join("heddle")));
        folder.map(Self).ok_or_else(|| Error::new("there is no HOME to keep a cache in"))
    }

    /// The file of a key: of all that must be the same for the values to hold.
    fn file(&self, key: &str) -> PathBuf {
        self.0.join(format!("rails-{}", &sha256(key.as_bytes())[..32]))
    }

    /// Returns the rails that were kept for a key; `None` if there are none, or only older ones. A
    /// file that cannot be believed is an error, which says why.
    pub fn read(&self, key: &str, age: Duration) -> Result<Option<Vec<Rail>>, Error> {
        let path = self.file(key);
        let doubt = |why: &str| Error::new(format!("{}: {why}", path.display()));
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = match OpenOptions::new().read(true).custom_flags(flags).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(doubt(&error.to_string())),
        };
        let found = file.metadata().map_err(|error| doubt(&error.to_string()))?;
        if !found.is_file() || found.uid() != geteuid().as_raw() {
            return Err(doubt("is not a file of this user's"));
        }
        if found.mode() & 0o077 != 0 {
            return Err(doubt("can be written or read by others"));
        }
        let since =
            found.modified().ok().and_then(|then| SystemTime::now().duration_since(then).ok());
        if since.is_none_or(|since| since > age) {
            return Ok(None);
        }
        let mut text = String::new();
        let read = file.take(LONGEST).read_to_string(&mut text);
        read.map_err(|error| doubt(&error.to_string()))?;
        parse(&text, key).map(Some).ok_or_else(|| doubt("is damaged, or not of this machine"))
    }

    /// Keeps rails for a key. The file is there whole, or not at all.
    pub fn write(&self, key: &str, rails: &[Rail]) -> Result<(), Error> {
        let path = self.file(key);
        let doubt =
            |error: std::io::Error| Error::new(format!("{} is not kept: {error}", path.display()));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0).map_err(doubt)?;
        let folder = fs::symlink_metadata(&self.0).map_err(doubt)?;
        if !folder.is_dir() || folder.uid() != geteuid().as_raw() {
            let why = format!("{} is not a folder of this user's", self.0.display());
            return Err(Error::new(why));
        }
        if folder.mode() & 0o077 != 0 {
            fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700)).map_err(doubt)?;
        }
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let written =
            create(&new).and_then(|mut file| file.write_all(print(key, rails).as_bytes()));
        let renamed = written.and_then(|()| fs::rename(&new, &path));
        if renamed.is_err() {
            let _ = fs::remove_file(&new);
        }
        renamed.map_err(doubt)
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// A file: its first line, its key, a line for each rail, and the hash of all that.
fn print(key: &str, rails: &[Rail]) -> String {
    let mut text = format!("{FIRST}\n{}\n", key.replace('\n', " "));
    for rail in rails {
        let Rail { send_overhead, receive_overhead, latency, gap, gap_per_byte, change, .. } = rail;
        let times = [send_overhead, receive_overhead, latency, gap, gap_per_byte, change];
        for time in times {
            text += &time.to_string();
            text.push(' ');
        }
        text += rail.name();
        text.push('\n');
    }
    let sum = sum(&text);
    text + &sum
}

fn sum(text: &str) -> String {
    sha256(text.as_bytes()) + "\n"
}

fn parse(text: &str, key: &str) -> Option<Vec<Rail>> {
    let end = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (content, given) = text.split_at(end);
    let mut lines = content.lines();
    let is_whole = sum(content) == given && lines.next()? == FIRST;
    if !is_whole || lines.next()? != key.replace('\n', " ") {
        return None;
    }
    let rails: Vec<Rail> = lines.map(rail).collect::<Option<_>>()?;
    (1..=rails::MOST_RAILS).contains(&rails.len()).then_some(rails)
}

fn rail(line: &str) -> Option<Rail> {
    let mut words = line.splitn(7, ' ');
    let mut number = || words.next()?.parse().ok();
    let rail = Rail {
        send_overhead: number()?,
        receive_overhead: number()?,
        latency: number()?,
        gap: number()?,
        gap_per_byte: number()?,
        change: number()?,
        ..Rail::named(words.next()?)
    };
    rail.is_possible().then_some(rail)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const LONG: Duration = Duration::from_secs(1000);

    fn rails() -> Vec<Rail> {
        let rail = Rail { latency: 1 << 20, gap_per_byte: 8_902_410, ..Rail::named("eth 0") };
        vec![rail, Rail::named("eth1")]
    }

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(&folder.path().join("deep/heddle"))).unwrap();
        (folder, cache)
    }

    #[test]
    fn what_was_kept_is_found_by_its_key_only() {
        let (_folder, cache) = cache();
        assert_eq!(cache.read("a", LONG).unwrap(), None);
        cache.write("a", &rails()).unwrap();
        assert_eq!(cache.read("a", LONG).unwrap(), Some(rails()));
        assert_eq!(cache.read("b", LONG).unwrap(), None);
        let file = File::options().append(true).open(cache.file("a")).unwrap();
        file.set_modified(SystemTime::now() - 2 * LONG).unwrap();
        assert_eq!(cache.read("a", LONG).unwrap(), None);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&cache.0), mode(&cache.file("a"))), (0o700, 0o600));
    }

    #[test]
    fn what_others_could_have_written_is_not_believed() {
        let (folder, cache) = cache();
        cache.write("a", &rails()).unwrap();
        let file = cache.file("a");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let error = cache.read("a", LONG).unwrap_err().to_string();
        assert!(error.ends_with("can be written or read by others"), "{error}");
        let other = folder.path().join("other");
        fs::rename(&file, &other).unwrap();
        symlink(&other, &file).unwrap();
        assert!(cache.read("a", LONG).is_err());
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert!(cache.read("a", LONG).is_err());
    }

    /// Every single byte that is changed, and every length that is cut, is noticed.
    #[test]
    fn damage_is_noticed() {
        let whole = print("a", &rails());
        assert!(parse(&whole, "a").is_some());
        assert!(parse(&whole, "b").is_none());
        for place in 0..whole.len() {
            assert!(parse(&whole[..place], "a").is_none(), "cut at {place}");
            let mut bytes = whole.clone().into_bytes();
            bytes[place] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(parse(&changed, "a").is_none(), "changed at {place}");
        }
    }

    #[test]
    fn values_out_of_range_are_not_believed() {
        let rail = Rail { latency: u64::MAX, ..Rail::named("x") };
        assert!(parse(&print("a", &[rail]), "a").is_none());
        assert!(parse(&print("a", &[]), "a").is_none());
    }
}

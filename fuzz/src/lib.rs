//! Helpers that several targets share: a folder for inputs that are read from files, and the
//! compiler of traces behind their readers.

use std::{env, fs, path::PathBuf, process};

use traces::{compile, options::Options, record::Record, source::Traces};

/// Writes files into a folder of this process and returns it. Each call begins with an empty one.
pub fn folder(files: &[(&str, &[u8])]) -> PathBuf {
    let folder = env::temp_dir().join(format!("heddle-fuzz-{}", process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for inputs");
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).expect("room for an input");
    }
    folder
}

/// Reads the traces of these files, called `start`, record by record, and makes a schedule of them.
/// Whatever they hold, that comes to an end.
pub fn compiled(files: &[(&str, &[u8])], start: &str) {
    let Ok(traces) = Traces::find(&folder(files).join(start)) else { return };
    let mut record = Record::default();
    for rank in 0..traces.ranks() {
        let Ok(mut stream) = traces.open(rank) else { return };
        while stream.next(&mut record).is_ok_and(|more| more) {
            assert!(record.enter <= record.leave);
        }
    }
    let options = Options { threads: 1, marks: true, ..Options::default() };
    if let Ok(compiled) = compile(&traces, &options) {
        assert_eq!(schedule::Program::ranks(&compiled.image), traces.ranks());
    }
}

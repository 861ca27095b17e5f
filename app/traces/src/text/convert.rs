//! Writes traces of any format as text.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use super::allprof_writer::AllprofWriter;
use super::independent_writer::IndependentWriter;
use crate::compile::{BEYOND, Error};
use crate::record::Record;
use crate::source::{Form, Stream, Traces};

/// The most errors of a rank that are shown.
const SHOWN: usize = 20;

enum Writer {
    Allprof(AllprofWriter<BufWriter<File>>),
    Independent(IndependentWriter<BufWriter<File>>),
}

/// Writes the traces of all ranks in a form of text into a folder, which must be there. Gives what
/// is odd about the traces; an error is a file that cannot be read or written, or everything that
/// the form has no words for.
pub fn convert(traces: &Traces, form: Form, folder: &Path) -> Result<Vec<String>, Error> {
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let width = traces.ranks().saturating_sub(1).to_string().len();
    let mut names = String::new();
    for rank in 0..traces.ranks() {
        let name = match form {
            Form::Independent => format!("rank-{rank:0width$}.txt"),
            _ => format!("pmpi-trace-rank-{rank:0width$}.txt"),
        };
        let path = folder.join(&name);
        let mut stream = traces.open(rank)?;
        let io = |error| Error::Write { path: path.clone(), error };
        let out = BufWriter::new(File::create(&path).map_err(io)?);
        let mut writer = match form {
            Form::Independent => {
                let writer = IndependentWriter::new(out, rank, traces.ranks(), traces.speed);
                Writer::Independent(writer)
            }
            _ => Writer::Allprof(AllprofWriter::new(out).map_err(io)?),
        };
        errors.extend(rank_of(&mut stream, &mut writer, rank, &path)?);
        match writer {
            Writer::Allprof(writer) => writer.finish().map(drop).map_err(io)?,
            Writer::Independent(writer) => writer.finish().map(drop).map_err(io)?,
        }
        let (wrong, odd) = stream.findings();
        errors.extend(wrong);
        warnings.extend(odd);
        names.push_str(&name);
        names.push('\n');
    }
    if !errors.is_empty() {
        return Err(Error::Traces(errors));
    }
    if form == Form::Independent {
        let path = folder.join("trace.index");
        fs::write(&path, names).map_err(|error| Error::Write { path, error })?;
    }
    Ok(warnings)
}

fn rank_of(
    stream: &mut Stream,
    writer: &mut Writer,
    rank: u32,
    path: &Path,
) -> Result<Vec<String>, Error> {
    let mut record = Record::default();
    let mut errors = Vec::new();
    while stream.next(&mut record)? {
        let written = match writer {
            Writer::Allprof(writer) => {
                // Text tells it with the first call.
                writer.set_start(stream.start());
                writer.call(&record, stream.name(record.id), stream.definitions())
            }
            Writer::Independent(writer) => {
                writer.call(&record, stream.between(), stream.definitions())
            }
        };
        let written = written.map_err(|error| Error::Write { path: path.to_owned(), error })?;
        let written = if record.enter == u64::MAX { Err(BEYOND.to_owned()) } else { written };
        if let Err(reason) = written
            && errors.len() < SHOWN
        {
            let (name, file, place) =
                (stream.name(record.id), stream.path().display(), stream.place());
            errors.push(format!("error: {file}: {place}: {name} on rank {rank}: {reason}\n"));
        }
    }
    Ok(errors)
}

//! Reading one folder of results, or one ladder.

use std::{fs, path::Path};

use results::{Artifact, PointRow, Reader};
use serde_json::{Value, json};
use units::Time;

use crate::{
    Error, Options,
    activity::{self, Chosen},
    anonymous::{self, Names},
    blob::Blobs,
    calls, lines, messages, network, path, ranks,
};

/// The largest file of JSON that is read whole.
const LARGEST: u64 = 64 << 20;
/// Most rows of the table of a study that are shown.
const ROWS: usize = 20_000;

/// Reads a folder of results, or a ladder.
pub fn read(
    path: &Path,
    number: usize,
    options: &Options,
    blobs: &mut Blobs,
) -> Result<Value, Error> {
    let mut run = if path.is_file() {
        ladder(path, options)?
    } else if path.join("study.json").is_file() {
        study(path, options)?
    } else if Artifact::Points.path(path).is_file() {
        traffic(path, options, blobs)?
    } else if path.join(Artifact::Summary.file_name()).is_file() {
        program(path, options, blobs)?
    } else {
        return Err(Error::Nothing(path.to_owned()));
    };
    let name = if options.anonymous { format!("run {}", number + 1) } else { name(path) };
    run["name"] = json!(name);
    Ok(run)
}

/// The name of a folder, whatever way leads to it.
fn name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Reads a file of JSON.
fn json_of(path: &Path) -> Result<Value, Error> {
    let contents = |message: String| Error::Contents { path: path.to_owned(), message };
    let size = fs::metadata(path).map_err(Error::at(path))?.len();
    if size > LARGEST {
        return Err(contents(format!("{size} bytes, more than {LARGEST}: no JSON of Heddle")));
    }
    let text = units::text::bytes(path).map_err(Error::at(path))?;
    serde_json::from_slice(&text).map_err(|error| contents(error.to_string()))
}

/// Reads a file of JSON that may not be there.
fn if_there(folder: &Path, artifact: Artifact) -> Result<Value, Error> {
    let path = folder.join(artifact.file_name());
    if path.is_file() { json_of(&path) } else { Ok(Value::Null) }
}

/// The manifest, and the command that runs it again.
fn manifest(folder: &Path, options: &Options) -> Result<Value, Error> {
    let mut manifest = if_there(folder, Artifact::Manifest)?;
    if options.anonymous
        && let Some(settings) = manifest["experiment"].as_object_mut()
    {
        anonymous::settings(settings);
    }
    if options.anonymous && manifest.get("inputs").is_some() {
        manifest["inputs"] = json!([]);
    }
    Ok(manifest)
}

/// The command that runs a manifest again.
fn again(folder: &Path, options: &Options) -> Value {
    let path = if options.anonymous {
        Path::new("FOLDER").join(Artifact::Manifest.file_name())
    } else {
        folder.join(Artifact::Manifest.file_name())
    };
    let path = path.display().to_string();
    json!(shell_words::join(["heddle", "run", path.as_str(), "-o", "again", "--report"]))
}

/// The command that makes a report with every event of a stretch of time.
fn command(folder: &Path, options: &Options) -> Value {
    let folder = if options.anonymous { "FOLDER".to_owned() } else { folder.display().to_string() };
    json!(shell_words::join(["heddle", "report", folder.as_str(), "-o", "detail.html"]))
}

/// A run of a program: a schedule, traces, a pattern, a live program.
fn program(folder: &Path, options: &Options, blobs: &mut Blobs) -> Result<Value, Error> {
    let mut summary = if_there(folder, Artifact::Summary)?;
    let time = |pointer: &str| summary.pointer(pointer).and_then(Value::as_u64);
    let end = time("/makespan_ps").or_else(|| time("/deadlock/at_ps")).unwrap_or_default();
    let count = time("/ranks").unwrap_or_default();
    let scale = ranks::scale(folder, count, Time::from_ps(end))?;
    let events = time("/events").unwrap_or_default();
    let mut chosen = Chosen {
        all: events <= options.detail,
        windows: options.windows.clone(),
        ..Chosen::default()
    };
    let last = time("/critical_path/rank").unwrap_or(u64::MAX);
    let path = match u32::try_from(last) {
        Ok(rank) if u64::from(rank) < scale.ranks => {
            path::read(folder, &scale, (rank, options.anonymous), &mut chosen, blobs)?
        }
        _ => Value::Null,
    };
    let mut names = Names::new(options.anonymous);
    let windows = options.windows.iter().map(|(from, to)| [from.ps(), to.ps()]);
    let network = network::lanes(folder, &mut names, blobs)?;
    let loads = network::loads(folder, scale.horizon.ps(), &mut names, blobs)?;
    if options.anonymous {
        anonymous::summary(&mut summary);
    }
    let (calls, places) = calls::read(folder, &scale, options.anonymous)?;
    let mut messages = messages::read(folder, &scale, &chosen)?;
    let activity = activity::read(folder, &scale, &chosen, &mut messages.links, blobs)?;
    Ok(json!({
        "kind": "program",
        "summary": summary,
        "manifest": manifest(folder, options)?,
        "again": again(folder, options),
        "command": command(folder, options),
        "horizon_ps": scale.horizon.ps(),
        "detail": { "all": chosen.all, "events": events, "most": options.detail,
            "windows_ps": windows.collect::<Vec<_>>() },
        "ranks": ranks::read(folder, &scale)?,
        "path": path,
        "activity": activity,
        "messages": messages.finish(blobs),
        "calls": calls,
        "places": places,
        "lines": lines::read(folder, &chosen, options.anonymous, blobs)?,
        "network": network,
        "loads": loads,
    }))
}

/// A measurement of traffic.
fn traffic(folder: &Path, options: &Options, blobs: &mut Blobs) -> Result<Value, Error> {
    let path = Artifact::Points.path(folder);
    let mut points = Vec::new();
    for row in Reader::<PointRow>::open(&path)?.take(ROWS) {
        let row = row?;
        points.push(json!({
            "load": row.load,
            "offered": row.offered.0,
            "accepted": row.accepted.0,
            "accepted_half_width": row.accepted_half_width.map(|width| width.0),
            "latency_ps": row.latency_mean.map(|mean| mean.0),
            "latency_half_width_ps": row.latency_half_width.map(|width| width.0),
            "median_ps": row.latency_median,
            "p95_ps": row.latency_p95,
            "p99_ps": row.latency_p99,
            "longest_ps": row.latency_max,
            "messages": row.messages,
            "steady": row.steady,
            "saturated": row.saturated,
            "deadlock_ps": row.deadlock,
        }));
    }
    let saturation = if_there(folder, Artifact::PointsJson)?.get("saturation").cloned();
    let saturation = saturation
        .map(|found| json!({ "between": found["between"], "throughput": found["throughput"] }));
    Ok(json!({
        "kind": "traffic",
        "manifest": manifest(folder, options)?,
        "again": again(folder, options),
        "points": points,
        "saturation": saturation,
        "network": network::lanes(folder, &mut Names::new(options.anonymous), blobs)?,
    }))
}

/// The table of a study.
fn study(folder: &Path, options: &Options) -> Result<Value, Error> {
    let path = results::study_table(folder);
    let contents = |message: String| Error::Contents { path: path.clone(), message };
    if !path.is_file() {
        return Err(contents(
            "not there: `heddle study --resume` carries out what is missing".into(),
        ));
    }
    let mut reader = csv::Reader::from_reader(results::open_table(&path)?);
    let columns = reader.headers().map_err(|error| contents(error.to_string()))?.clone();
    let mut rows = Vec::new();
    let mut total = 0_u64;
    for record in reader.records() {
        let record = record.map_err(|error| contents(error.to_string()))?;
        total += 1;
        if rows.len() < ROWS {
            let cells = record.iter().map(|cell| {
                if options.anonymous { anonymous::text(cell) } else { cell.to_owned() }
            });
            rows.push(cells.collect::<Vec<_>>());
        }
    }
    let description = fs::read_to_string(folder.join("study.json")).unwrap_or_default();
    let description: Value = serde_json::from_str(&description).unwrap_or_default();
    Ok(json!({
        "kind": "study",
        "columns": columns.iter().collect::<Vec<_>>(),
        "varied": description["columns"],
        "rows": rows,
        "total": total,
    }))
}

/// A ladder, or several of them, as `heddle ladder --format json` prints them.
fn ladder(path: &Path, options: &Options) -> Result<Value, Error> {
    let found = json_of(path)?;
    let mut ladders = match found {
        Value::Array(ladders) => ladders,
        one => vec![one],
    };
    let is_ladder = |ladder: &Value| ladder.get("rungs").is_some_and(Value::is_array);
    if ladders.is_empty() || !ladders.iter().all(is_ladder) {
        return Err(Error::Nothing(path.to_owned()));
    }
    let rungs = ladders.iter_mut().filter_map(|ladder| ladder["rungs"].as_array_mut()).flatten();
    for rung in rungs.filter_map(Value::as_object_mut) {
        // The page shows neither, and they grow with ranks and links.
        rung.remove("finish_ps");
        rung.remove("links");
    }
    if options.anonymous {
        for ladder in &mut ladders {
            anonymous::texts(ladder);
        }
    }
    Ok(json!({ "kind": "ladder", "ladders": ladders }))
}

//! Tables as Parquet: what is read is what was written, in either form.

use std::{fs, path::Path};

use results::{
    Artifact, Columns, Fixed, HopRow, LossRow, MessageRow, PointRow, Reader, Row, RunDirectory,
    TableForm, Values, Writer, open_table, table_file,
};
use units::Time;

/// Writes a table in a form into a new folder; returns the file.
fn written<R: Row>(folder: &Path, form: TableForm, rows: impl IntoIterator<Item = R>) -> String {
    let name = format!("{form:?}");
    let mut directory =
        RunDirectory::create(&folder.join(&name), false).expect("a folder").with_tables_as(form);
    let artifact = R::TABLE.artifact;
    directory.write(artifact, |out| Writer::all(out, rows)).expect("written");
    directory.finish().expect("finished");
    artifact.path(&folder.join(name)).display().to_string()
}

/// Every cell of every kind comes back, by rows and by columns: the largest numbers, negative ones,
/// empty cells, texts with commas and line ends.
fn comes_back<R: Row + PartialEq + std::fmt::Debug + Clone>(rows: &[R]) {
    let folder = tempfile::tempdir().expect("a folder");
    let [csv, parquet] = [TableForm::Csv, TableForm::Parquet]
        .map(|form| written(folder.path(), form, rows.iter().cloned()));
    let ends = [&csv, &parquet].map(|file| Path::new(file).extension().expect("an end"));
    assert_eq!(ends, ["csv", "parquet"]);
    let path = Path::new(&parquet);
    let read: Result<Vec<R>, _> = Reader::<R>::open(path).expect("a table").collect();
    assert_eq!(read.expect("rows"), rows);
    assert_eq!(Columns::read(path).expect("columns"), Columns::of(rows.iter().cloned()));
    // As text it is the file that CSV would have been.
    let text = std::io::read_to_string(open_table(path).expect("a table")).expect("text");
    assert_eq!(text, fs::read_to_string(&csv).expect("a file"));
    let copy = std::io::read_to_string(table_file(path).expect("a table")).expect("text");
    assert_eq!(copy, text);
}

#[test]
fn all_kinds_come_back() {
    comes_back::<MessageRow>(&[]);
    let message = |id, tag, matched| MessageRow {
        id,
        source: 1,
        destination: u32::MAX,
        tag,
        size: u64::MAX,
        posted: None,
        injected: Some(Time::ZERO),
        delivered: Some(Time::from_ps(u64::MAX - 1)),
        matched,
    };
    comes_back(&[message(0, -1, None), message(1, i64::MAX, Some(Time::from_ps(7)))]);
    comes_back(&["a,\"b\"\nc", "d", "µ"].map(|device| LossRow {
        device: device.into(),
        discarded: 1,
        resent: 2,
    }));
    comes_back(&[results::DeviceRow {
        device: "h".into(),
        host: true,
        x: Some(Fixed(1.5)),
        y: None,
    }]);
}

/// A table of several groups, each of 2^18 rows.
#[test]
fn groups_follow_each_other() {
    let rows = || (0..600_000_u64).map(|n| HopRow { links: (n % 7) as u32, messages: n * n });
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path(), TableForm::Parquet, rows());
    let mut read = Reader::<HopRow>::open(Path::new(&path)).expect("a table");
    assert!(rows().all(|row| read.next().expect("a row").expect("read") == row));
    assert!(read.next().is_none());
    let columns = Columns::read(Path::new(&path)).expect("columns");
    assert_eq!(columns.rows, 600_000);
    let Values::Unsigned(messages) = &columns.columns[1].values else { panic!("{columns:?}") };
    assert_eq!(messages.iter().sum::<u64>(), (0..600_000_u64).map(|n| n * n).sum::<u64>());
    // Differences and Snappy leave less than the text.
    let text = written(folder.path(), TableForm::Csv, rows());
    let size = |path: &str| fs::metadata(path).expect("a file").len();
    assert!(2 * size(&path) < size(&text), "{} {}", size(&path), size(&text));
}

/// A folder holds a table in one form: that of its last run.
#[test]
fn the_other_form_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let hop = || [HopRow { links: 1, messages: 1 }];
    for form in [TableForm::Csv, TableForm::Parquet, TableForm::Csv] {
        let directory = RunDirectory::create(folder.path(), true).expect("a folder");
        let mut directory = directory.with_tables_as(form);
        directory.write(Artifact::Hops, |out| Writer::all(out, hop())).expect("written");
        directory.finish().expect("finished");
        let name = if form == TableForm::Csv { "hops.csv" } else { "hops.parquet" };
        let names = fs::read_dir(folder.path()).expect("a folder");
        let names: Vec<_> = names.map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(names, [name]);
        assert_eq!(Artifact::Hops.path(folder.path()), folder.path().join(name));
    }
}

#[test]
fn what_is_no_such_table_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("points.parquet");
    fs::write(&path, "load,offered\n").expect("written");
    let error = Columns::read(&path).expect_err("text").to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
    let other = written(folder.path(), TableForm::Parquet, [HopRow { links: 1, messages: 1 }]);
    let error = Reader::<PointRow>::open(Path::new(&other)).err().expect("other columns");
    assert!(error.to_string().contains("expected `load,"), "{error}");
    // A file that was cut off.
    let bytes = fs::read(&other).expect("a file");
    fs::write(&path, &bytes[..bytes.len() - 9]).expect("written");
    assert!(Columns::read(&path).is_err());
}

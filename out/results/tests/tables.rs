//! The schemas of tables: what is written can be read, and the book describes it.

use std::{io::Cursor, path::Path};

use results::{
    CallRow, ComputationRow, Fixed, HopRow, Kind, LaneRow, PointRow, ReadError, Reader, Row,
    TABLES, Writer,
};
use units::Time;

fn written<R: Row>(rows: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::all(&mut out, rows).unwrap();
    out
}

fn read<R: Row>(text: &[u8]) -> Result<Vec<R>, String> {
    let rows = Reader::new(Cursor::new(text), Path::new("t.csv")).and_then(Iterator::collect);
    rows.map_err(|error: ReadError| error.to_string())
}

fn call(name: &str) -> CallRow {
    let (enter, leave) = (Some(Time::from_ps(7)), None);
    CallRow { rank: 3, thread: 1, call: name.to_owned().into(), enter, leave, place: None }
}

/// Names may come from files: RFC 4180 doubles quotation marks within quoted cells.
#[test]
fn text_of_any_kind_comes_back() {
    let names = ["MPI_Send", "", "a,b", "\"", "say \"hello\"", "two\nlines", "\r\n", "é€"];
    let rows: Vec<_> = names.into_iter().map(call).collect();
    let text = written(rows.clone());
    assert_eq!(read::<CallRow>(&text).unwrap(), rows);
    let shown = String::from_utf8(text).unwrap();
    assert!(shown.contains("\n3,1,\"say \"\"hello\"\"\",7,,\n"), "{shown}");
}

#[test]
fn numbers_of_all_kinds_come_back() {
    let row = PointRow {
        load: 0.3,
        offered: Fixed(0.25),
        accepted: Fixed(1.0),
        accepted_half_width: Fixed::finite(f64::INFINITY),
        latency_mean: Fixed::finite(1_500_000.0),
        latency_half_width: None,
        latency_min: Some(u64::MAX),
        latency_median: Some(2),
        latency_p95: Some(3),
        latency_p99: None,
        latency_max: None,
        hops: Some(Fixed(2.5)),
        messages: 10,
        warm_up: 0,
        measured: 20,
        batches: 3,
        steady: true,
        saturated: false,
        deadlock: None,
        stuck: None,
        bound: Some(Fixed(0.5)),
        zero_load: Some(Fixed(100.0)),
    };
    let text = written([row.clone()]);
    assert_eq!(read::<PointRow>(&text).unwrap(), [row]);
    let shown = String::from_utf8(text).unwrap();
    let line = shown.lines().nth(1).unwrap();
    let end = "18446744073709551615,2,3,,,2.500000,10,0,20,3,true,false,,,0.500000,100";
    assert_eq!(line, format!("0.3,0.250000,1.000000,,1500000,,{end}"));
}

#[test]
fn mistakes_are_told_with_line_and_column() {
    let says = |text: &str, expected: &str| {
        let error = read::<ComputationRow>(text.as_bytes()).unwrap_err();
        assert_eq!(error, format!("t.csv:{expected}"));
    };
    says("", "1: expected `rank,cpu_ns`, found ``");
    says("rank,finish\n", "1: expected `rank,cpu_ns`, found `rank,finish`");
    let rows = |rows: &str| format!("rank,cpu_ns\n0,1\n{rows}\n");
    let number = "expected a whole number below 2^32 in column `rank`";
    says(&rows("4294967296,1"), &format!("3: {number}, found `4294967296`"));
    says(&rows("\u{1b}[31m,1"), &format!("3: {number}, found `\\u{{1b}}[31m`"));
    let number = "expected a whole number below 2^64 in column `cpu_ns`";
    says(&rows("0,"), &format!("3: {number}, found ``"));
    says(&rows("0"), "3: expected 2 cells, found `0`");
    says(&rows("0,1,2"), "3: expected 2 cells, found `0,1,2`");
    says(&rows("0,\"1"), "3: expected 2 cells, found `0,\"1\\n`");
}

/// A line that no table has is refused before it fills the memory.
#[test]
fn endless_lines_are_refused() {
    let text = [b"rank,cpu_ns\n".to_vec(), vec![b'1'; 1 << 20]].concat();
    let error = read::<ComputationRow>(&text).unwrap_err();
    assert!(error.starts_with("t.csv:2: expected 2 cells") && error.len() < 200, "{error}");
}

#[test]
fn rows_end_with_the_first_mistake() {
    let text = b"links,messages\n1,2\nx,y\n3,4\n";
    let reader = Reader::<HopRow, _>::new(Cursor::new(text), Path::new("t.csv")).unwrap();
    let rows: Vec<_> = reader.map(Result::ok).collect();
    assert_eq!(rows, [Some(HopRow { links: 1, messages: 2 }), None]);
}

/// Times have their unit in the name of their column and in the schema.
#[test]
fn columns_say_their_units() {
    for table in TABLES {
        let file = table.artifact.file_name();
        let mut names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        for column in table.columns {
            let said = [("_ps", "ps"), ("_ns", "ns"), ("_bytes", "B"), ("_flits", "flit")];
            let said = said.iter().find(|(end, _)| column.name.ends_with(end));
            if let Some((_, unit)) = said {
                assert_eq!(column.unit, *unit, "{file}: {}", column.name);
            }
            assert!(column.kind != Kind::Text || column.unit.is_empty(), "{file}: {}", column.name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table.columns.len(), "{file} has a column twice");
    }
    let device = LaneRow::TABLE.columns[0];
    assert_eq!((device.name, device.kind, device.optional), ("device", Kind::Text, false));
}

/// The page of the book on results has a section for every table, with its columns.
#[test]
fn the_book_describes_every_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/results.md");
    let page = std::fs::read_to_string(page).unwrap();
    for table in TABLES {
        let file = table.artifact.file_name();
        let section = page.split("\n## ").find(|section| section.starts_with(&format!("`{file}`")));
        let expected = table.markdown();
        let section = section.unwrap_or_else(|| {
            let about = table.about;
            panic!("docs/src/results.md lacks the section\n## `{file}`\n\n{about}\n\n{expected}")
        });
        assert!(section.contains(&expected), "docs/src/results.md: `{file}` needs\n{expected}");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(section).contains(&words(table.about)), "`{file}` needs: {}", table.about);
    }
}

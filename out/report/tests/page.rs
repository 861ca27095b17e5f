//! Pages of folders that were written by hand.

use std::{fs, io::Read as _, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::DeflateDecoder;
use report::{Options, window, write};
use serde_json::{Value, json};
use units::Time;

/// Rank 0 computes until 512 ps and sends; the message takes 100 ps, and rank 1, which has waited,
/// receives it and computes until 1024 ps.
const ACTIVITY: &str = "\
rank,cpu,activity,start_ps,end_ps,message,line
0,0,compute,0,512,,3
0,0,send,512,522,0,4
1,0,receive,622,632,0,8
1,0,compute,632,1024,,9
";
const MESSAGES: &str = "\
id,source,destination,tag,size,posted_ps,injected_ps,delivered_ps,matched_ps
0,0,1,-1,300,512,522,622,622
";
const RANKS: &str = "\
rank,finish_ps,cpu_busy_ps,waiting_ps,blocked_ps,sent_messages,sent_bytes,received_messages,\
received_bytes,latency_ps,bandwidth_ps,contention_ps
0,522,522,0,0,1,300,0,0,0,0,0
1,1024,402,622,0,0,0,1,300,100,0,0
";

/// Line 5 is not on the path, as nothing comes from it.
const LINES: &str = "\
line,text,operations,compute_ps,send_ps,receive_ps
3,calc 512,1,512,0,0
4,send 300b to 1,1,0,10,0
5,calc 0,1,0,0,0
8,recv 300b from 0,1,0,0,10
9,\"calc 392, \"\"last\"\"\",1,392,0,0
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let summary = json!({
        "makespan_ps": 1024, "ranks": 2, "messages": 1, "bytes": 300, "events": 4,
        "critical_path": { "rank": 1 },
    });
    for (name, text) in [
        ("activity.csv", ACTIVITY),
        ("lines.csv", LINES),
        ("messages.csv", MESSAGES),
        ("ranks.csv", RANKS),
        ("summary.json", &summary.to_string()),
    ] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// The document of a page, and its text.
fn page(folder: &Path, options: &Options) -> (Value, String) {
    let to = folder.join("page.html");
    write(&[folder.to_owned()], &to, options).expect("a page");
    let page = fs::read_to_string(to).expect("text");
    let (_, rest) = page.split_once("id=\"document\">").expect("a document");
    let (text, _) = rest.split_once("</script>").expect("its end");
    (serde_json::from_str(text).expect("JSON"), page)
}

/// The bytes of a column.
fn column(page: &str, number: &Value) -> Vec<u8> {
    let begin = format!("id=\"c{number}\">");
    let (_, rest) = page.split_once(&begin).expect("a column");
    let (text, _) = rest.split_once('<').expect("its end");
    let mut bytes = Vec::new();
    let packed = STANDARD.decode(text).expect("base64");
    DeflateDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("deflated");
    bytes
}

/// Of 512 intervals of 2 ps, rank 0 computes in 256 and sends in 5; rank 1 receives in 5 from the
/// 311th on, and computes in the 196 after them.
#[test]
fn tiles_are_shares_of_time() {
    let folder = folder();
    // Without a path, so that no period is there by itself: the page would need no tiles.
    fs::write(folder.path().join("summary.json"), r#"{"makespan_ps": 1024, "events": 4}"#)
        .expect("written");
    let options = Options { detail: 0, ..Options::default() };
    let (document, text) = page(folder.path(), &options);
    let level = &document["runs"][0]["activity"]["levels"][0];
    assert_eq!((&level["rows"], &level["columns"]), (&json!(2), &json!(512)));
    let shares = column(&text, &level["shares"]);
    let busy = |row: usize, part: usize| -> Vec<usize> {
        let base = (row * 3 + part) * 512;
        (0..512).filter(|place| shares[base + place] == 255).collect()
    };
    assert_eq!(busy(0, 0), (0..256).collect::<Vec<_>>());
    assert_eq!(busy(0, 1), (256..261).collect::<Vec<_>>());
    assert_eq!(busy(1, 2), (311..316).collect::<Vec<_>>());
    assert_eq!(busy(1, 0), (316..512).collect::<Vec<_>>());
    assert!(shares.iter().all(|share| [0, 255].contains(share)));
}

/// The path leads from rank 1 over the message to rank 0, and a page without detail has its events.
#[test]
fn the_path_leads_over_the_message() {
    let folder = folder();
    let (document, text) = page(folder.path(), &Options { detail: 0, ..Options::default() });
    let run = &document["runs"][0];
    let path = &run["path"];
    // Computation, sending, network, receiving, computation; numbers below 128 are their bytes.
    assert_eq!(column(&text, &path["kinds"]), [0, 1, 3, 2, 0]);
    assert_eq!(column(&text, &path["ranks"]), [0, 0, 1, 1, 1]);
    assert_eq!(column(&text, &path["messages"]), [0, 1, 1, 1, 0]);
    // 512, 10, 100, 10 and 392, of which the first is 4 * 128 and the last 3 * 128 + 8.
    assert_eq!(column(&text, &path["lengths"]), [0x80, 4, 10, 100, 10, 0x88, 3]);
    assert_eq!(run["activity"]["detail"]["count"], 4);
    assert_eq!(run["messages"]["detail"]["count"], 1);
}

/// Lines stand by the time that they take, with their time on the path, whose steps name them.
#[test]
fn lines_take_time_and_are_on_the_path() {
    let folder = folder();
    let (document, text) = page(folder.path(), &Options::default());
    let (path, lines) = (&document["runs"][0]["path"], &document["runs"][0]["lines"]);
    assert_eq!(column(&text, &path["lines"]), [3, 4, 0, 8, 9]);
    let rows = lines["rows"].as_array().expect("rows");
    let order: Vec<_> = rows.iter().map(|row| row["line"].as_u64().expect("a line")).collect();
    // Of equal ones the first in the text stands first.
    assert_eq!(order, [3, 9, 4, 8, 5]);
    let on_path: Vec<_> = rows.iter().map(|row| row["path_ps"].as_u64().expect("a time")).collect();
    assert_eq!(on_path, [512, 392, 10, 10, 0]);
    let texts = column(&text, &lines["texts"]);
    let texts = String::from_utf8(texts).expect("text");
    let all = ["calc 512", "send 300b to 1", "recv 300b from 0", "calc 392, \"last\""];
    assert_eq!(texts.lines().collect::<Vec<_>>(), all);
    // A comment of the text may name a person or a program.
    let options = Options { anonymous: true, ..Options::default() };
    let (document, text) = page(folder.path(), &options);
    let lines = &document["runs"][0]["lines"];
    assert_eq!(column(&text, &lines["texts"]), b"\n\n\n\n");
    assert!(lines["rows"].as_array().expect("rows").iter().all(|row| row["text"] == ""));
}

/// Without a path, a window has what touches it.
#[test]
fn windows_have_what_touches_them() {
    let folder = folder();
    fs::write(folder.path().join("summary.json"), r#"{"makespan_ps": 1024, "events": 4}"#)
        .expect("written");
    let windows = vec![window("600ps..622ps").expect("a window")];
    assert_eq!(windows, [(Time::from_ps(600), Time::from_ps(622))]);
    let (document, _) = page(folder.path(), &Options { detail: 0, windows, anonymous: false });
    let run = &document["runs"][0];
    assert_eq!(run["path"], Value::Null);
    // The receipt begins at the window's end, where the message arrives.
    assert_eq!(run["activity"]["detail"]["count"], 1);
    assert_eq!(run["messages"]["detail"]["count"], 1);
}

/// A table that does not fit the run is an error with its place.
#[test]
fn ranks_that_there_are_not() {
    let folder = folder();
    let text = ACTIVITY.replace("1,0,receive", "4000000000,0,receive");
    fs::write(folder.path().join("activity.csv"), text).expect("written");
    let to = folder.path().join("page.html");
    let error =
        write(&[folder.path().to_owned()], &to, &Options { detail: 0, ..Options::default() });
    let error = error.expect_err("a wrong rank").to_string();
    assert!(error.ends_with("activity.csv: rank 4000000000, but the run has 2 ranks"), "{error}");
    assert!(!to.exists());
}

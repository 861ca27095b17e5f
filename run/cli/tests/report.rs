//! `heddle report` and `--report`: what pages hold, and what a browser shows of them.

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

use common::{Ended, Folder, mpi};
use serde_json::{Value, json};

/// Rank 0 computes for 100 ns and then sends 10 B to rank 1.
const APP: &str = "\
num_ranks 2
rank 0 {
  a: calc 100
  b: send 10b to 1 tag 7
  b requires a
}
rank 1 {
  recv 10b from 0 tag 7
}
";

/// Text that would leave its element, and open a dialog, if a page took it for markup.
const MARKUP: &str = "</script><img src=x onerror=alert(1)>\"'&";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn success(ended: &Ended) {
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
}

/// The document in a page.
fn document(folder: &Folder, page: &str) -> Value {
    let page = String::from_utf8(folder.read(page)).expect("text");
    let (_, rest) = page.split_once("id=\"document\">").expect("a document");
    let (text, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(text).expect("JSON")
}

fn summary(folder: &Folder, run: &str) -> Value {
    serde_json::from_slice(&folder.read(&format!("{run}/summary.json"))).expect("JSON")
}

/// A time with four digits, as pages show it.
fn shown(ps: f64) -> String {
    let units = [(1e12, "s"), (1e9, "ms"), (1e6, "µs"), (1e3, "ns"), (1.0, "ps")];
    let (length, unit) = units.into_iter().find(|(length, _)| ps >= *length).unwrap_or((1.0, "ps"));
    let value = ps / length;
    let decimals = if value >= 100.0 { 1 } else { 2 + usize::from(value < 10.0) };
    let text = format!("{value:.decimals$}");
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A count with thin spaces between thousands.
fn grouped(count: &Value) -> String {
    let digits = count.to_string();
    let places = digits.char_indices().map(|(place, digit)| {
        let split = place > 0 && (digits.len() - place).is_multiple_of(3);
        if split { format!("\u{202f}{digit}") } else { digit.to_string() }
    });
    places.collect()
}

/// The figures of a program's run as its page shows them.
fn figures(summary: &Value) -> Vec<(String, String)> {
    let path = &summary["critical_path"];
    let parts = ["compute", "overhead", "latency", "bandwidth", "contention", "waiting"];
    let parts = parts.map(|part| (part, path[format!("{part}_ps")].as_f64().expect("a time")));
    let used = parts.into_iter().filter(|(_, time)| *time > 0.0).map(|(part, time)| {
        let name = if part == "compute" { "computation" } else { part };
        (format!("[data-path={name}]"), shown(time))
    });
    let makespan = summary["makespan_ps"].as_f64().expect("a time");
    let counts = ["ranks", "messages", "events"];
    let counts = counts.map(|name| (format!("[data-figure={name}]"), grouped(&summary[name])));
    [("[data-figure=makespan]".to_owned(), shown(makespan))]
        .into_iter()
        .chain(counts)
        .chain(used)
        .collect()
}

/// Says so and returns none where the browser or the packages of `web/` are missing.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        |name: &str| std::env::split_paths(&path).map(|at| at.join(name)).find(|at| at.is_file());
    let chromium = found("chromium").or_else(|| found("chromium-browser"));
    let packages = root().join("web/node_modules/playwright-core").is_dir();
    if chromium.is_none() || found("node").is_none() || !packages {
        eprintln!("skipped: Chromium, Node.js or web/node_modules is missing (make setup)");
        return None;
    }
    chromium
}

/// Opens pages in the browser.
fn open(folder: &Folder, chromium: &Path, pages: &[Value]) {
    folder.write("pages.json", &json!(pages).to_string());
    let output = Command::new("node")
        .arg(root().join("web/test/browser.mjs"))
        .arg(chromium)
        .arg(folder.path("pages.json"))
        .output()
        .expect("node runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
}

/// The page of a run whose times are known: 100 ns of computation, overhead o of 1500 ns, L of
/// 2500 ns, and o again, with 9 G of 54 ns, for which the receiver is busy.
fn schedule(folder: &Folder) -> Value {
    folder.write("app.goal", APP);
    success(&folder.heddle(
        "run app.goal --set loggops.L=2500ns --set loggops.o=1500ns --set loggops.G=6ns/B -q \
         -o schedule --report",
    ));
    let mut texts = figures(&summary(folder, "schedule"));
    assert!(texts.contains(&("[data-figure=makespan]".to_owned(), "5.654 µs".to_owned())));
    let sums = "In all: computation 100 ns, sending 1.5 µs, receiving 1.554 µs, network 2.5 µs.";
    texts.push(("[data-sum]".to_owned(), sums.to_owned()));
    texts.push(("#matrix-cell".to_owned(), "rank 0 to rank 1: 1 messages, 10 B".to_owned()));
    // The lines that take longest, and the first step of the path.
    texts.push(("#lines tbody th".to_owned(), "8".to_owned()));
    texts.push(("#lines tbody code".to_owned(), "recv 10b from 0 tag 7".to_owned()));
    texts.push(("#path tbody .line".to_owned(), "3: a: calc 100".to_owned()));
    json!({
        "file": folder.path("schedule/report.html"),
        "texts": texts,
        "canvases": ["#timeline canvas"],
        "steps": 4,
        "message": {
            "id": 0,
            "text": "Message 0: rank 0 to rank 1, 10 B, tag 7. Posted 100 ns, injected 1.6 µs, \
                     delivered 4.1 µs, matched 4.1 µs; in the network for 2.5 µs.",
        },
    })
}

/// A page of a program's run.
fn program(folder: &Folder, command: &str, name: &str, more: &[(&str, &str)]) -> Value {
    success(&folder.heddle(&format!("{command} -q -o {name} --report")));
    let mut texts = figures(&summary(folder, name));
    texts.extend(more.iter().map(|(selector, text)| ((*selector).to_owned(), (*text).to_owned())));
    json!({
        "file": folder.path(&format!("{name}/report.html")),
        "texts": texts,
        "canvases": ["#timeline canvas"],
    })
}

/// Pages of all kinds of runs but live ones, in the browser: their figures, one message, the
/// critical path.
#[test]
#[ignore = "takes minutes in a browser on a busy machine"]
fn seven_kinds_of_run() {
    let Some(chromium) = browser() else { return };
    let folder = Folder::new("report-kinds");
    let machines = root().join("examples/machines");
    let machine = |name: &str| machines.join(name).display().to_string();
    let traces = root().join("validation/traces/ltest");
    let mut pages = vec![schedule(&folder)];
    let calls = [("#calls tbody th", "MPI_Recv")];
    pages.push(program(&folder, &format!("run {}", traces.display()), "traces", &calls));
    let fat_tree = machine("fat-tree-648.toml");
    let all = format!("run pattern:linear-alltoall --ranks 24 --size 16KiB --machine {fat_tree}");
    let mut infiniband = program(&folder, &all, "infiniband", &[]);
    infiniband["canvases"] = json!(["#timeline canvas", "#network canvas"]);
    pages.push(infiniband);
    let graphene = machine("graphene.xml");
    let all = format!("run pattern:linear-alltoall --ranks 16 --size 64KiB --machine {graphene}");
    let mut flow = program(&folder, &all, "flow", &[]);
    flow["canvases"] = json!(["#timeline canvas", "#network canvas"]);
    pages.push(flow);
    pages.push(traffic(&folder));
    pages.push(ladder(&folder));
    pages.push(study(&folder));
    open(&folder, &chromium, &pages);
}

/// The eighth kind: a live program.
#[test]
fn a_live_program() {
    let Some(chromium) = browser() else { return };
    let folder = Folder::new("report-live");
    let program = mpi::compiled("pingpong");
    let command = format!("mpirun -n 2 -q -o live --report {}", program.display());
    success(&folder.heddle(&command));
    let mut texts = figures(&summary(&folder, "live"));
    texts.push(("#calls tbody th".to_owned(), "MPI_Recv".to_owned()));
    let page = json!({
        "file": folder.path("live/report.html"),
        "texts": texts,
        "canvases": ["#timeline canvas"],
    });
    open(&folder, &chromium, &[page, lines_of_a_program(&folder)]);
}

/// The page of a program whose calls take a known time (`live/calls.rs`): with a round of 28 988 ns
/// and sends of 1500 ns, three receives of rank 0 take 27 488 ns each. The page that names nobody
/// has no lines.
fn lines_of_a_program(folder: &Folder) -> Value {
    let program = mpi::compiled("lines");
    let how = "-n 2 --compute-time off -q -o lines --report";
    success(&folder.heddle(&format!("mpirun {how} {}", program.display())));
    success(&folder.heddle("report lines -o nobody.html --anonymous"));
    assert!(!String::from_utf8(folder.read("nobody.html")).expect("text").contains("lines.c"));
    let cells = [
        ("#places caption", "Time in MPI calls by source line, over all ranks".to_owned()),
        ("#places tbody tr:nth-child(1) th code", "lines.c:8".to_owned()),
        ("#places tbody tr:nth-child(1) td:nth-child(2)", "MPI_Recv".to_owned()),
        ("#places tbody tr:nth-child(1) td:nth-child(4)", shown(3.0 * 27_488e3)),
        ("#places tbody tr:nth-child(1) td:nth-child(6)", "3".to_owned()),
        ("#places tbody tr:nth-child(2) th code", "lines.c:13".to_owned()),
        ("#places tbody tr:nth-child(2) td:nth-child(4)", shown(2.0 * 27_488e3 + 11_494e3)),
        ("#places tbody tr:nth-child(3) th code", "lines.c:14".to_owned()),
        ("#places tbody tr:nth-child(4) th code", "lines.c:7".to_owned()),
        ("#path tbody tr:nth-child(1) code", "lines.c:7".to_owned()),
    ];
    json!({ "file": folder.path("lines/report.html"), "texts": cells })
}

fn traffic(folder: &Folder) -> Value {
    success(&folder.heddle(
        "run traffic:uniform --network infiniband --topology torus:dims=3x3 --load 0.2:0.6:0.2 \
         -q -o traffic --report",
    ));
    let points = String::from_utf8(folder.read("traffic/points.csv")).expect("text");
    let first: Vec<_> = points.lines().nth(1).expect("a row").split(',').collect();
    let mean: f64 = first[4].parse().expect("a time");
    json!({
        "file": folder.path("traffic/report.html"),
        "texts": [
            ["#curves .scroll tbody th", "0.2"],
            ["#curves .scroll tbody td:nth-child(5)", shown(mean)],
            ["#curves .scroll tbody td:last-child", "steady"],
        ],
        "canvases": [".plot:nth-of-type(1) canvas", ".plot:nth-of-type(2) canvas"],
    })
}

fn ladder(folder: &Folder) -> Value {
    let machine = root().join("examples/machines/edr-cluster.toml");
    let ended = folder.heddle(&format!(
        "ladder pattern:linear-alltoall --ranks 8 --size 16KiB --machine {} --format json",
        machine.display()
    ));
    success(&ended);
    folder.write("ladder.json", &ended.stdout);
    success(&folder.heddle("report ladder.json -o ladder.html"));
    let rungs = ended.json()["rungs"].clone();
    let makespan = |rung: &Value| {
        let selector = format!("[data-rung=\"{}\"]", rung["model"].as_str().expect("a name"));
        (selector, shown(rung["makespan_ps"].as_f64().expect("a time")))
    };
    let rungs: Vec<_> = rungs.as_array().expect("rungs").iter().map(makespan).collect();
    assert!(rungs.len() > 3, "{rungs:?}");
    json!({ "file": folder.path("ladder.html"), "texts": rungs })
}

fn study(folder: &Folder) -> Value {
    let study = "[workload]\nsource = \"collective:allreduce\"\n\n[study]\nranks = [4, 8]\n\
                 size = [\"8B\", \"1KiB\"]\n";
    folder.write("study.toml", study);
    success(&folder.heddle("study study.toml -o study"));
    success(&folder.heddle("report study -o study.html"));
    let table = String::from_utf8(folder.read("study/runs.csv")).expect("text");
    let head: Vec<_> = table.lines().next().expect("a head").split(',').collect();
    let place = head.iter().position(|name| *name == "makespan_ps").expect("a column");
    let first: Vec<_> = table.lines().nth(1).expect("a row").split(',').collect();
    let makespan: f64 = first[place].parse().expect("a time");
    json!({
        "file": folder.path("study.html"),
        "texts": [
            ["#study caption", "Runs 1 to 4 of 4"],
            ["[data-cell=makespan_ps]", shown(makespan)],
        ],
    })
}

/// A page is a function of its folder, has no markup of names, and makes no request by its policy.
#[test]
fn pages_are_alike_and_closed() {
    let folder = Folder::new("report-alike");
    schedule(&folder);
    success(&folder.heddle("report schedule -o again.html"));
    let (one, other) = (folder.read("schedule/report.html"), folder.read("again.html"));
    assert!(one == other, "the pages of a run and of its folder are the same");
    // The program, its style, its licences, and a run of four events.
    assert!(one.len() < 200_000, "{} bytes", one.len());
    let text = String::from_utf8(one).expect("text");
    assert!(text.contains("default-src 'none'; script-src 'sha256-"));
    assert!(!text.contains("unsafe-inline"));
    // The manifest runs again, with the same report.
    success(&folder.heddle("run schedule/manifest.json -q -o second --report"));
    assert_eq!(
        document(&folder, "second/report.html")["runs"][0]["summary"]["makespan_ps"],
        5_654_000
    );
}

/// Curves of two routings in the same plots, and the setting in which they differ.
#[test]
fn traffic_beside_each_other() {
    let Some(chromium) = browser() else { return };
    let folder = Folder::new("report-traffic");
    let run = "run traffic:uniform --network packet --topology torus:dims=3x3 --load 0.2,0.4 -q \
               --set traffic.time=5us";
    success(&folder.heddle(&format!("{run} -o one")));
    success(&folder.heddle(&format!("{run} --routing adaptive -o other")));
    success(&folder.heddle("report one other -o both.html"));
    let canvases = [1, 2].map(|plot| format!("#compare .plot:nth-of-type({plot}) canvas"));
    let page = json!({
        "file": folder.path("both.html"),
        "texts": [
            ["#compare .plot:nth-of-type(1) .u-series:nth-child(2) .u-label", "one"],
            ["#compare .plot:nth-of-type(1) .u-series:nth-child(5) .u-label", "other"],
            ["#compare .scroll tbody code", "network.routing"],
            ["#compare .scroll tbody td:last-child", "adaptive"],
        ],
        "canvases": canvases,
    });
    open(&folder, &chromium, &[page]);
}

/// Two runs side by side: the second has a higher latency.
#[test]
fn two_runs_beside_each_other() {
    let folder = Folder::new("report-two");
    folder.write("app.goal", APP);
    for (name, latency) in [("near", "1us"), ("far", "5us")] {
        let command = format!("run app.goal --set loggops.L={latency} -q -o {name} --report");
        success(&folder.heddle(&command));
    }
    success(&folder.heddle("report near far -o both.html"));
    let found = document(&folder, "both.html");
    // 100 ns, two overheads of 1500 ns, 9 bytes of 6 ns, and L.
    let makespans = [0, 1].map(|run| found["runs"][run]["summary"]["makespan_ps"].clone());
    assert_eq!(makespans, [4_154_000, 8_154_000]);
    let Some(chromium) = browser() else { return };
    let page = json!({
        "file": folder.path("both.html"),
        "texts": [
            ["[data-compare=near]", "4.154 µs"],
            ["[data-compare=far]", "8.154 µs"],
            ["#compare .versus:nth-of-type(2) span:last-child", "8.154 µs +96.3 %"],
        ],
    });
    open(&folder, &chromium, &[page]);
}

/// Names of everything that has one are markup, in tables that were written by hand.
// Long because it lists the tables.
#[test]
fn names_are_text() {
    let folder = Folder::new("report-names");
    let run = "<img src=x onerror=alert(1)>";
    fs::create_dir_all(folder.path(run)).expect("a folder");
    let cell = format!("\"{}\"", MARKUP.replace('"', "\"\""));
    let write = |name: &str, text: &str| folder.write(&format!("{run}/{name}"), text);
    let summary = json!({
        "makespan_ps": 1000, "ranks": 1, "messages": 0, "bytes": 0, "events": 1,
        "critical_path": { "rank": 0, "compute_ps": 1000 }, "remarks": [MARKUP],
        "parameters": { MARKUP: MARKUP, "workload.source": MARKUP },
    });
    write("summary.json", &summary.to_string());
    let manifest = json!({
        "heddle": MARKUP, "experiment": { MARKUP: MARKUP }, "defaults": [MARKUP],
        "inputs": [{ "path": MARKUP, "sha256": MARKUP }],
    });
    write("manifest.json", &manifest.to_string());
    let head = "rank,finish_ps,cpu_busy_ps,waiting_ps,blocked_ps,sent_messages,sent_bytes,\
                received_messages,received_bytes,latency_ps,bandwidth_ps,contention_ps";
    write("ranks.csv", &format!("{head}\n0,1000,1000,0,0,0,0,0,0,0,0,0\n"));
    let head = "rank,cpu,activity,start_ps,end_ps,message,line";
    write("activity.csv", &format!("{head}\n0,0,compute,0,1000,,1\n"));
    let head = "line,text,operations,compute_ps,send_ps,receive_ps";
    write("lines.csv", &format!("{head}\n1,{cell},1,1000,0,0\n"));
    let head = "rank,thread,call,enter_ps,return_ps,place";
    write("calls.csv", &format!("{head}\n0,0,{cell},0,1000,{cell}\n"));
    let head = "device,port,lane,start_ps,flits,utilisation,queue_mean_flits,queue_max_flits,\
                stalled_ps,fecn";
    let lane = |start| format!("{cell},1,0,{start},1,0.5,0,0,0,0\n");
    write("lanes.csv", &format!("{head}\n{}{}", lane(0), lane(500)));
    write("devices.csv", &format!("device,host,x,y\n{cell},true,10,10\n"));
    write("loads.csv", &format!("link,bandwidth,time_ps,load\n{cell},10,0,5\n"));
    folder.write(
        "ladder.json",
        &json!({
            "over": MARKUP,
            "rungs": [{ "model": MARKUP, "makespan_ps": 5, "communication": 0, "events": 1,
                "calls": [{ "call": MARKUP, "time_ps": 1 }] }],
            "missing": [{ "model": MARKUP, "missing": MARKUP }],
        })
        .to_string(),
    );
    fs::create_dir_all(folder.path("study")).expect("a folder");
    folder.write("study/study.json", &json!({ "name": MARKUP }).to_string());
    folder.write("study/runs.csv", &format!("run,{cell},makespan_ps\n0,{cell},5\n"));
    let mut pages = Vec::new();
    for (source, to) in [(run, "run.html"), ("ladder.json", "ladder.html"), ("study", "study.html")]
    {
        let arguments = [&["report"], &[source], &["-o", to][..]].concat();
        let ended = Command::new(env!("CARGO_BIN_EXE_heddle"))
            .args(arguments)
            .current_dir(folder.path("."))
            .output()
            .expect("heddle runs");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let page = String::from_utf8(folder.read(to)).expect("text");
        assert!(!page.contains("<img"), "{to}");
        pages.push(json!({ "file": folder.path(to), "texts": [] }));
    }
    pages[0]["texts"] = json!([
        ["h1", run],
        ["#calls tbody th", MARKUP],
        ["#places tbody code", MARKUP],
        ["#lines tbody code", MARKUP],
        ["#path tbody code", MARKUP]
    ]);
    pages[1]["texts"] = json!([["#ladder-0 tbody th", MARKUP]]);
    let Some(chromium) = browser() else { return };
    open(&folder, &chromium, &pages);
}

/// Names of hosts and files are not in an anonymous page.
#[test]
fn anonymous_pages() {
    let folder = Folder::new("report-anonymous");
    folder.write("secret-project.goal", APP);
    success(&folder.heddle("run secret-project.goal -q -o private-folder --report"));
    success(&folder.heddle("report private-folder -o page.html --anonymous"));
    let page = String::from_utf8(folder.read("page.html")).expect("text");
    for name in ["secret-project", "private-folder"] {
        assert!(!page.contains(name), "{name}");
    }
    let found = document(&folder, "page.html");
    assert_eq!(found["runs"][0]["name"], "run 1");
    assert_eq!(found["runs"][0]["summary"]["makespan_ps"], 5_654_000);
}

/// With fewer events than the run has, a page has those of the critical path and of windows, and
/// says which command shows the others.
#[test]
fn detail_ends_somewhere() {
    let folder = Folder::new("report-detail");
    success(&folder.heddle("run pattern:allreduce-ring --ranks 64 --size 1KiB -q -o run --report"));
    let count = |page: &str, part: &str| {
        document(&folder, page)["runs"][0][part]["detail"]["count"].as_u64().expect("a count")
    };
    let [slices, messages] = ["activity", "messages"].map(|part| count("run/report.html", part));
    success(&folder.heddle("report run -o some.html --report-detail 10"));
    let found = document(&folder, "some.html")["runs"][0].clone();
    assert_eq!(found["detail"]["all"], false);
    let levels = found["activity"]["levels"].as_array().expect("levels").len();
    assert_eq!(levels, 2);
    // A window from the start to the end has all again.
    let window = "report run -o window.html --report-detail 10 --report-window 0s..1s";
    success(&folder.heddle(window));
    let [all, every] = ["activity", "messages"].map(|part| count("window.html", part));
    assert_eq!((all, every), (slices, messages));
    assert!(count("some.html", "activity") <= slices);
    let wrong = folder.heddle("report run -o wrong.html --report-window 2us..1us");
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("expected two times"), "{}", wrong.stderr);
}

/// A folder without results is refused with its name.
/// Each busy period has its line, and each line the time of its periods: the same times as those
/// of the page of [`APP`].
#[test]
fn lines_of_a_schedule() {
    let folder = Folder::new("report-lines");
    folder.write("app.goal", APP);
    let run = "--set loggops.L=2500ns --set loggops.o=1500ns --set loggops.G=6ns/B -q --force";
    success(&folder.heddle(&format!("run app.goal {run} -o run --tables activity,lines")));
    let lines = String::from_utf8(folder.read("run/lines.csv")).expect("text");
    let expected = "line,text,operations,compute_ps,send_ps,receive_ps\n\
         3,a: calc 100,1,100000,0,0\n\
         4,b: send 10b to 1 tag 7,1,0,1500000,0\n\
         8,recv 10b from 0 tag 7,1,0,0,1554000\n";
    assert_eq!(lines, expected);
    let activity = String::from_utf8(folder.read("run/activity.csv")).expect("text");
    let expected = "rank,cpu,activity,start_ps,end_ps,message,line\n\
         0,0,compute,0,100000,,3\n0,0,send,100000,1600000,0,4\n1,0,receive,4100000,5654000,0,8\n";
    assert_eq!(activity, expected);
    // Threads, the other engines and the form of tables change nothing.
    success(&folder.heddle(&format!("run app.goal {run} --threads 2 -o run --tables lines")));
    assert_eq!(String::from_utf8(folder.read("run/lines.csv")).expect("text"), lines);
    let compat = "--set loggops.compat=loggopsim -o run --tables lines";
    success(&folder.heddle(&format!("run app.goal {run} {compat}")));
    let compat = String::from_utf8(folder.read("run/lines.csv")).expect("text");
    assert_eq!(compat.lines().count(), 4, "{compat}");
    // A binary schedule has no lines, and neither have patterns.
    success(&folder.heddle("convert app.goal app.bin"));
    let ended = folder.heddle(&format!("run app.bin {run} -o run --tables lines"));
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("a binary schedule has no lines"), "{}", ended.stderr);
    success(&folder.heddle(&format!("run app.bin {run} -o run --report")));
    let ended = folder.heddle("run pattern:gather --ranks 4 -o run --force --tables lines");
    assert!(ended.stderr.contains("a table of lines needs a schedule"), "{}", ended.stderr);
}

/// The line of a call of a trace in text is that of all that it posts.
#[test]
fn lines_of_traces() {
    let folder = Folder::new("report-lines-of-traces");
    let trace = "0 init\n0 compute 1e6\n0 send 1 7 1000 6\n0 finalize\n\
                 1 init\n1 recv 0 7 1000 6\n1 finalize\n";
    folder.write("t.ti", trace);
    folder.write("t.index", "t.ti\n");
    success(&folder.heddle("run t.index -q -o run --tables activity"));
    let activity = String::from_utf8(folder.read("run/activity.csv")).expect("text");
    let found: Vec<(&str, &str, &str)> = activity
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<_> = row.split(',').collect();
            (cells[0], cells[2], cells[6])
        })
        .filter(|(_, activity, _)| *activity != "compute")
        .collect();
    assert_eq!(found, [("0", "send", "3"), ("1", "receive", "6")], "{activity}");
}

#[test]
fn folders_without_results() {
    let folder = Folder::new("report-nothing");
    fs::create_dir_all(folder.path("empty")).expect("a folder");
    let ended = folder.heddle("report empty -o page.html");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.starts_with("error: empty: no results of Heddle"), "{}", ended.stderr);
    folder.write("no.json", "[]");
    assert_eq!(folder.heddle("report no.json -o page.html").code, 1);
    // A page goes to a page's name, so that it cannot replace a table or a summary.
    let ended = folder.heddle("report empty -o empty/summary.json");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("end it in .html"), "{}", ended.stderr);
    assert_eq!(folder.names("."), ["empty", "no.json"]);
    let ended = folder.heddle("run pattern:allreduce-ring --ranks 4 --report");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("`output.report` needs a folder"), "{}", ended.stderr);
}

/// The program of pages is what its sources make.
#[test]
fn bundle_is_made_of_its_sources() {
    if !root().join("web/node_modules/vite").is_dir() {
        eprintln!("skipped: web/node_modules is missing (make setup)");
        return;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_nanos();
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-bundle-{now}"));
    let output = Command::new("npx")
        .args(["vite", "build", "--logLevel", "error"])
        .env("HEDDLE_BUNDLE", &made)
        .current_dir(root().join("web"))
        .output()
        .expect("npx runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["report.js", "report.css", "LICENCES.txt"] {
        let kept = fs::read(root().join("out/report/bundle").join(name)).expect("the bundle");
        let new = fs::read(made.join(name)).expect("a new bundle");
        assert!(kept == new, "{name} is not what web/ makes; `make web` makes it anew");
    }
    fs::remove_dir_all(made).expect("removed");
}

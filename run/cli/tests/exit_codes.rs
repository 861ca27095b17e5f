//! The exit codes of the book: 1 for a wrong input, 2 for a wrong command line, 4 for a result that
//! cannot be written.

#![cfg(target_os = "linux")]

mod common;

use std::process::{Command, Stdio};

use common::Folder;

const TRACE: &str = "0 init\n0 compute 1e6\n0 finalize\n";

/// A platform of two hosts that says this of SimGrid's configuration.
fn platform(config: &str) -> String {
    format!(
        "<platform version=\"4.1\">\n\
         <config><prop id=\"network/crosstraffic\" value=\"{config}\"/></config>\n\
         <cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" bw=\"1GBps\" \
         lat=\"1us\"/>\n</platform>\n"
    )
}

/// A platform in TOML that says this of SimGrid's configuration.
fn table(config: &str) -> String {
    format!(
        "[platform.config]\n\"network/crosstraffic\" = {config}\n[platform.cluster]\nid = \"c\"\n\
         prefix = \"h\"\nsuffix = \"\"\nradical = \"0-1\"\nspeed = \"1 Gflop/s\"\nbw = \"1 GB/s\"\n\
         lat = \"1 us\"\n"
    )
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("t.txt", TRACE);
    folder.write("t.index", "t.txt\n");
    folder
}

/// It makes no difference whether the file is named on the command line or in an experiment file.
#[test]
fn wrong_inputs() {
    let folder = folder("exit-inputs");
    folder.write("p.xml", &platform("maybe"));
    folder.write("p.toml", &table("\"maybe\""));
    folder.write("empty.txt", "# nothing\n");
    folder.write("map.txt", "0\nx\n");
    let simulate = "run pattern:gather --ranks 2";
    let config = "network/crosstraffic: expected yes or no, found `maybe`";
    for (arguments, wanted) in [
        (format!("{simulate} --machine p.xml"), format!("p.xml: line 2, column 9: {config}")),
        (format!("{simulate} --machine p.toml"), format!("p.toml: line 2, column 1: {config}")),
        (format!("{simulate} --set noise.trace=no.txt"), "no.txt: No such file".to_owned()),
        (format!("{simulate} --set noise.trace=empty.txt"), "empty.txt: a noise trace".to_owned()),
        ("run t.index --set traces.map=map.txt".to_owned(), "map.txt: line 2: ".to_owned()),
        ("run t.index --set traces.map=no.txt".to_owned(), "no.txt: No such file".to_owned()),
    ] {
        let ended = folder.heddle(&arguments);
        assert_eq!(ended.code, 1, "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(&wanted), "{arguments}: {}", ended.stderr);
    }
}

#[test]
fn wrong_command_lines() {
    let folder = folder("exit-usage");
    folder.write("p.xml", &platform("no"));
    let simulate = "run pattern:gather --ranks 2";
    let network = "--network infiniband --topology star:hosts=2";
    for (arguments, wanted) in [
        (format!("{simulate} --gantt --format json"), "--gantt draws"),
        (format!("{simulate} --machine p.xml --set placement.hosts=no"), "placement.hosts=no: "),
        (format!("{simulate} {network} --set placement.hosts=no"), "placement.hosts=no: "),
        (
            format!("{simulate} --machine p.xml --set traces.speed=5"),
            "is not used by this workload",
        ),
        (
            format!("{simulate} --machine p.xml --set host.speed=1Gf"),
            "is not used by this workload",
        ),
    ] {
        let ended = folder.heddle(&arguments);
        assert_eq!(ended.code, 2, "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(wanted), "{arguments}: {}", ended.stderr);
    }
}

/// SimGrid's yes and no in either case, and the truth values of TOML.
#[test]
fn switches_of_platforms() {
    let folder = Folder::new("exit-switches");
    let run = |machine: &str| {
        let ended = folder.heddle(&format!(
            "run pattern:linear-alltoall --ranks 2 --size 1MB --machine {machine} --format json"
        ));
        assert_eq!(ended.code, 0, "{machine}: {}", ended.stderr);
        ended.json()["makespan_ps"].as_u64().expect("a time")
    };
    let mut found = Vec::new();
    for words in [["yes", "YES", "On", "1", "true"], ["no", "NO", "Off", "0", "false"]] {
        let mut times = Vec::new();
        for word in words {
            folder.write("p.xml", &platform(word));
            times.push(run("p.xml"));
        }
        folder.write("p.toml", &table(words[4]));
        times.push(run("p.toml"));
        times.dedup();
        assert_eq!(times.len(), 1, "{times:?}");
        found.extend(times);
    }
    assert!(found[0] > found[1], "{found:?}");
}

/// A platform is known as XML by its first character, whatever its name.
#[test]
fn platforms_of_any_name() {
    let folder = Folder::new("exit-names");
    for (name, text) in [("p.XML", platform("no")), ("p", format!("\u{feff}\n{}", platform("no")))]
    {
        folder.write(name, &text);
        let ended = folder.heddle(&format!("run pattern:gather --ranks 2 -q --machine {name}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{name}");
    }
}

/// Runs heddle in a shell that does `before`.
fn limited(folder: &Folder, before: &str, arguments: &str) -> (i32, String) {
    let line = format!("{before}; exec {} {arguments}", env!("CARGO_BIN_EXE_heddle"));
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path("."))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    (output.status.code().expect("no signal"), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn results_that_cannot_be_written() {
    let folder = folder("exit-outputs");
    assert_eq!(limited(&folder, "exec > /dev/full", "--help").0, 4);
    assert_eq!(limited(&folder, "exec > /dev/full", "run --help").0, 4);
    assert_eq!(limited(&folder, ":", "--version").0, 0);
    let many = "0 compute 1000\n0 barrier\n".repeat(4000);
    folder.write("long.txt", &TRACE.replace("0 compute 1e6\n", &many));
    folder.write("long.index", "long.txt\n");
    assert_eq!(folder.heddle("run long.index -q -o out --tables calls").code, 0);
    let (code, said) = limited(&folder, ":", "compare out out --timeline /dev/full");
    assert_eq!((code, said.as_str()), (4, "error: /dev/full: No space left on device\n"));
    // Files of at most one block.
    let small = "trap '' XFSZ; ulimit -f 1";
    let (code, said) = limited(&folder, small, "convert long.index text --format ti");
    assert_eq!((code, said.as_str()), (4, "error: text/rank-0.txt: File too large\n"));
    assert!(!folder.names(".").iter().any(|name| name.contains("partial")));
    for command in ["record -o out -- true", "run long.index -o out"] {
        let ended = folder.heddle(command);
        assert_eq!(ended.code, 4, "{command}: {}", ended.stderr);
    }
}

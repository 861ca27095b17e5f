//! A manifest runs the same again.

mod common;

use std::{fs, os::unix::fs::chown, path::Path, process::Command, thread};

use common::Folder;
use serde_json::{Value, json};

const SCHEDULE: &str = "\
num_ranks 3
rank 0 { a: calc 1000  b: send 100000b to 1  b requires a  c: recv 1b from -1 }
rank 1 { a: recv 100000b from 0  b: send 1b to 0  b requires a }
rank 2 { a: calc 2000000 }
";

const EXPERIMENT: &str = "\
[workload]
source = \"../app.goal\"
time-unit = \"10 ns\"
[loggops]
L = \"1 us\"
o-send = \"700 ns\"
G = \"100 Gb/s\"
[loggops.large]
G = \"25 Gb/s\"
[protocol]
rendezvous = \"rts-cts\"
[noise]
interval = \"50 us\"
duration = \"1 us\"
distribution = \"exponential\"
[run]
seed = 11
[output]
tables = [\"ranks\", \"messages\"]
timeline = \"paje\"
";

const TABLES: [&str; 4] = ["ranks.csv", "messages.csv", "summary.json", "timeline.paje"];

/// A folder with a run in `out`.
fn ran(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir(folder.path("sub")).expect("a folder");
    folder.write("app.goal", SCHEDULE);
    folder.write("sub/e.toml", EXPERIMENT);
    let ended = folder.heddle("run sub/e.toml -q -o out");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    folder
}

#[test]
fn the_same_tables_on_any_number_of_threads() {
    let folder = ran("manifest-same");
    for threads in [1, 2, 7] {
        let ended = folder
            .heddle(&format!("run out/manifest.json -q -o again{threads} --threads {threads}"));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        for table in TABLES {
            let (first, again) = (format!("out/{table}"), format!("again{threads}/{table}"));
            assert!(folder.read(&first) == folder.read(&again), "{again}");
        }
    }
    // With the same flags, the manifest is the same too, and so is one made from it.
    assert_eq!(folder.read("out/manifest.json"), folder.read("again1/manifest.json"));
    // Another seed gives other noise, so that the identity above means something.
    assert_eq!(folder.heddle("run out/manifest.json -q -o other --seed 12").code, 0);
    assert_ne!(folder.read("out/ranks.csv"), folder.read("other/ranks.csv"));
}

/// A setting that follows another one by default follows it also in a manifest.
#[test]
fn settings_override_a_manifest() {
    let folder = ran("manifest-set");
    let print = |arguments: &str| folder.heddle(&format!("run {arguments} --print-config")).stdout;
    let printed = print("out/manifest.json --set loggops.o=2us --set loggops.L=3us");
    for line in [
        "L = \"3 us\"                         # --set loggops.L=3us",
        "G = \"80 ps/B\"                      # out/manifest.json",
        "o-send = \"700 ns\"                  # out/manifest.json",
        "# o-recv = \"2 us\"                  # as loggops.o",
        "time-unit = \"10 ns\"                # out/manifest.json",
        "source = \"out/../app.goal\"         # out/manifest.json",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
}

#[test]
fn it_does_not_overwrite_itself() {
    let folder = ran("manifest-itself");
    let before = folder.read("out/manifest.json");
    let ended = folder.heddle("run out/manifest.json -o out");
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.starts_with("error: out is not empty; --force"), "{}", ended.stderr);
    // Without a folder it prints the summary and writes nothing.
    let ended = folder.heddle("run out/manifest.json");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.starts_with("makespan "));
    assert_eq!(folder.names("."), ["app.goal", "out", "sub"]);
    assert_eq!(folder.heddle("run out/manifest.json -q -o out --force").code, 0);
    assert_eq!(folder.read("out/manifest.json"), before);
}

#[test]
fn an_input_that_has_changed() {
    let folder = ran("manifest-changed");
    folder.write("app.goal", &SCHEDULE.replace("calc 1000 ", "calc 1001 "));
    let ended = folder.heddle("run out/manifest.json");
    let expected = "\
error: out/../app.goal has changed since out/manifest.json was written
  help: --force runs it with the file as it is now
";
    assert_eq!((ended.code, ended.stderr.as_str()), (1, expected));
    let ended = folder.heddle("run out/manifest.json --force -q");
    let expected = "warning: out/../app.goal has changed since out/manifest.json was written\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (0, expected));
    fs::remove_file(folder.path("app.goal")).expect("removed");
    let ended = folder.heddle("run out/manifest.json");
    let expected = "error: out/manifest.json: `workload.source`: out/../app.goal: No such file or \
                    directory\n";
    assert_eq!((ended.code, ended.stderr.as_str()), (1, expected));
}

/// The hash is SHA-256, as `sha256sum` of the GNU core utilities computes it.
#[test]
fn hashes_are_sha_256() {
    let folder = Folder::new("manifest-hash");
    folder.write("n.txt", "#abc\n0 1\n");
    assert_eq!(folder.heddle("run pattern:gather --set noise.trace=n.txt -q -o out").code, 0);
    let manifest: Value = serde_json::from_slice(&folder.read("out/manifest.json")).expect("JSON");
    // printf '#abc\n0 1\n' | sha256sum
    let hash = "048f56ecfe3861c58e72d9515d937a5ce479b27ac6a17063d3d66a2e50fac448";
    assert_eq!(manifest["inputs"], serde_json::json!([{ "path": "../n.txt", "sha256": hash }]));
    assert_eq!(manifest["experiment"]["noise.trace"], "../n.txt");
    assert_eq!(manifest["heddle"], env!("CARGO_PKG_VERSION"));
}

/// A schedule from standard input is the same as from a file, but a manifest cannot lead back to
/// it.
#[test]
fn a_schedule_from_standard_input() {
    let folder = Folder::new("manifest-stdin");
    let text = "num_ranks 1\nrank 0 { calc 5 }\n";
    folder.write("app.goal", text);
    assert_eq!(folder.heddle("run app.goal -q -o file").code, 0);
    assert_eq!(folder.heddle("convert app.goal app.bin").code, 0);
    for (bytes, out) in [(text.as_bytes(), "text"), (&folder.read("app.bin"), "binary")] {
        let ended = folder.heddle_with(&format!("run - -q -o {out}"), bytes);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        assert_eq!(folder.read("file/ranks.csv"), folder.read(&format!("{out}/ranks.csv")));
    }
    let manifest: Value = serde_json::from_slice(&folder.read("text/manifest.json")).expect("JSON");
    // printf 'num_ranks 1\nrank 0 { calc 5 }\n' | sha256sum
    let hash = "c33b2411a51d713b128d6b359dae051d9c47ea3e707345a1dc82d06142dbd221";
    let note =
        "standard input, which is not kept: to run this again, add --set workload.source=FILE";
    let input = serde_json::json!([{ "path": "-", "sha256": hash, "note": note }]);
    assert_eq!(
        (&manifest["experiment"]["workload.source"], &manifest["inputs"]),
        (&"-".into(), &input)
    );
    let ended = folder.heddle_with("run text/manifest.json", text.as_bytes());
    let expected = "\
error: text/manifest.json: the schedule came from standard input, which a manifest does not keep
  help: give it again: --set workload.source=FILE
";
    assert_eq!((ended.code, ended.stderr.as_str()), (1, expected));
    for source in ["app.bin", "-"] {
        let run =
            format!("run text/manifest.json --set workload.source={source} -q -o again --force");
        assert_eq!(folder.heddle_with(&run, text.as_bytes()).code, 0);
        assert_eq!(folder.read("file/ranks.csv"), folder.read("again/ranks.csv"));
    }
}

/// A pipe is read once: results, lines and the manifest need no second time.
#[test]
fn a_schedule_from_a_pipe() {
    let folder = Folder::new("manifest-pipe");
    let text = "num_ranks 1\nrank 0 {\ncalc 5\n}\n";
    let made = Command::new("mkfifo").arg(folder.path("app.goal")).status();
    assert!(made.expect("mkfifo runs").success());
    let pipe = folder.path("app.goal");
    let writer = thread::spawn(move || fs::write(pipe, text));
    let ended = folder.heddle("run app.goal -q -o out --tables ranks,lines");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    writer.join().expect("no panic").expect("all is read");
    let lines = String::from_utf8(folder.read("out/lines.csv")).expect("text");
    assert_eq!(lines.lines().nth(1), Some("3,calc 5,1,5000,0,0"));
    let manifest: Value = serde_json::from_slice(&folder.read("out/manifest.json")).expect("JSON");
    let note = "a pipe, which is not kept: to run this again, name a file in its place";
    let input = serde_json::json!([{ "path": "app.goal", "sha256": "", "note": note }]);
    assert_eq!(manifest["inputs"], input);
}

#[test]
fn broken_manifests() {
    let folder = Folder::new("manifest-broken");
    for (text, expected) in [
        (
            "{\n  \"heddle\": 1\n}\n",
            "\
error: invalid type: integer `1`, expected a string
 --> m.json:2:13
  |
2 |   \"heddle\": 1
  |             ^
  |
  = help: this is not a manifest as `heddle run -o` writes it
",
        ),
        (
            "{\"heddle\":\"9.0.0\",\"experiment\":{\"loggops.Z\":1},\"inputs\":[]}",
            "\
error: m.json: unknown key `loggops.Z`
  help: the manifest was written by heddle 9.0.0, this is heddle 0.1.0
",
        ),
        (
            "{\"heddle\":\"0.1.0\",\"experiment\":{\"loggops.L\":1,\"run.seed\":-1},\"inputs\":[]}",
            "\
error: m.json: `loggops.L`: a bare number has no unit: write \"1 ns\" (units of time: ps, ns, us, \
ms, s, min, h)
error: m.json: `run.seed`: expected a whole number, at least 0, found -1
",
        ),
    ] {
        folder.write("m.json", text);
        let ended = folder.heddle("run m.json");
        assert_eq!((ended.code, ended.stderr.as_str()), (1, expected));
    }
}

const XML: &str = "<platform version=\"4.1\">\n\
                   <cluster id=\"c\" prefix=\"h\" suffix=\"\" radical=\"0-2\" speed=\"1Gf\" \
                   bw=\"100MBps\" lat=\"10us\"/>\n</platform>\n";

/// A machine beside a manifest takes the place of the manifest's own: the figures are those of a
/// first run on it.
#[test]
fn a_machine_beside_a_manifest() {
    let folder = Folder::new("manifest-machine");
    folder.write("app.goal", SCHEDULE);
    folder.write("first.toml", "[loggops]\nL = \"9 us\"\no = \"3 us\"\n");
    folder.write("second.toml", "[loggops]\nG = \"1 ns/B\"\n[run]\nseed = 5\n");
    folder.write(
        "switches.toml",
        "[network]\nmodel = \"infiniband\"\ntopology = \"star:hosts=3\"\n[flow]\nos = \"0B:1us\"\n",
    );
    folder.write("p.xml", XML);
    let noise = "--set noise.interval=1ms --set noise.duration=1us";
    for (first, more) in [("first.toml", noise), ("switches.toml", ""), ("p.xml", "")] {
        let run = format!("run app.goal -q --force -o out {more} --machine");
        assert_eq!(folder.heddle(&format!("{run} {first}")).code, 0);
        for other in ["second.toml", "switches.toml", "p.xml"] {
            // What runs and how stays as in the manifest; the model flow knows no noise.
            if !more.is_empty() && other == "p.xml" {
                continue;
            }
            let again = format!("run out/manifest.json -q --force -o again --machine {other}");
            let ended = folder.heddle(&again);
            assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{first}, {other}");
            let fresh = format!("run app.goal -q --force -o fresh {more} --machine {other}");
            assert_eq!(folder.heddle(&fresh).code, 0);
            for table in ["manifest.json", "ranks.csv", "summary.json"] {
                let (again, fresh) = (format!("again/{table}"), format!("fresh/{table}"));
                assert!(folder.read(&again) == folder.read(&fresh), "{first}, {other}: {table}");
            }
        }
    }
}

/// A file that starts a program says which one, with what could trouble a terminal escaped. One
/// that belongs to another user starts nothing unless it is trusted; only root can make one here.
#[cfg(unix)]
#[test]
fn programs_of_other_users_need_trust() {
    let folder = Folder::new("manifest-foreign");
    let touch = folder.path("touched").display().to_string();
    folder.write(
        "p.toml",
        &format!("[workload]\nsource = \"program:-n 2 touch {touch} \\u001b2J\"\n"),
    );
    let own = folder.heddle("run p.toml");
    let note = own.stderr.lines().next().unwrap_or_default();
    assert!(note.starts_with("note: p.toml starts 2 ranks of `"), "{}", own.stderr);
    assert!(
        note.contains("touched \\u{1b}2J`") && !own.stderr.contains('\u{1b}'),
        "{}",
        own.stderr
    );
    let _ = fs::remove_file(&touch);
    if chown(folder.path("p.toml"), Some(65_534), None).is_err() {
        return;
    }
    let refused = folder.heddle("run p.toml");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("belongs to another user"), "{}", refused.stderr);
    assert!(refused.stderr.contains("help: ") && refused.stderr.contains("--trust"));
    assert!(!folder.path("touched").exists());
    let trusted = folder.heddle("run p.toml --trust");
    assert!(!trusted.stderr.contains("belongs to another user"), "{}", trusted.stderr);
}

/// The summary holds what distinguishes the run, and the same again for its manifest: neither where
/// results go nor how many threads work.
#[test]
fn the_summary_holds_what_varied() {
    let folder = Folder::new("manifest-parameters");
    let run = "run pattern:gather --ranks 5 --size 9B --set loggops.L=7us --threads 2 -q -o out";
    assert_eq!(folder.heddle(run).code, 0);
    let summary: Value = serde_json::from_slice(&folder.read("out/summary.json")).unwrap();
    let expected = json!({
        "workload.source": "pattern:gather", "workload.ranks": 5, "workload.size": "9 B",
        "loggops.L": "7 us",
    });
    assert_eq!(summary["parameters"], expected);
    assert_eq!(folder.heddle("run out -q -o again").code, 0);
    assert_eq!(folder.read("again/summary.json"), folder.read("out/summary.json"));
}

/// A machine file may serve several models: the manifest of a run over any of them runs again, with
/// the same tables, and a ladder climbs from it as from the machine.
#[test]
fn every_machine_over_every_network_it_has() {
    let folder = Folder::new("manifest-machines");
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/machines");
    let mut runs = 0;
    for entry in fs::read_dir(machines).expect("machines") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        // A larger one of another, whose routes take seconds to set up.
        if name == "nsim-torus-64x32x32.toml" {
            continue;
        }
        // Traffic at thousands of hosts or in small flits takes minutes.
        let workloads = if name.starts_with("nsim") || name.starts_with("fsin") { 1 } else { 2 };
        for network in ["loggops", "infiniband", "flow", "packet"] {
            let machine = format!("--machine {} --network {network}", path.display());
            for workload in
                ["pattern:pairwise-alltoall --ranks 2 --size 3000B", "traffic:uniform --load 0.2"]
                    .into_iter()
                    .take(workloads)
            {
                let out = format!("{name}-{network}-{}", &workload[..7]);
                let first = folder.heddle(&format!("run {workload} {machine} -q -o {out}"));
                if first.code != 0 {
                    continue;
                }
                let again = folder.heddle(&format!("run {out}/manifest.json -q -o {out}-again"));
                assert_eq!(
                    (again.code, again.stderr.as_str()),
                    (0, first.stderr.as_str()),
                    "{out}"
                );
                assert_eq!(folder.names(&out), folder.names(&format!("{out}-again")));
                for table in folder.names(&out) {
                    if table != "performance.json" && table != "manifest.json" {
                        let same = folder.read(&format!("{out}/{table}"))
                            == folder.read(&format!("{out}-again/{table}"));
                        assert!(same, "{out}/{table}");
                    }
                }
                runs += 1;
            }
        }
    }
    // Each of the three TOML machines with a topology over three networks, with traffic over one of
    // them, the platforms over flows, and NSIM's and FSIN's over two networks at least.
    assert!(runs >= 21, "{runs}");
}

/// The makespans of a ladder, which is climbed from a machine and from a manifest of one of its
/// models.
#[test]
fn a_ladder_climbs_from_a_manifest() {
    let folder = Folder::new("manifest-ladder");
    let machine =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/machines/edr-cluster.toml");
    let workload = "pattern:pairwise-alltoall --ranks 8 --size 3000B";
    let machine = format!("--machine {}", machine.display());
    assert_eq!(
        folder.heddle(&format!("run {workload} {machine} --network infiniband -q -o out")).code,
        0
    );
    let makespans = |command: String| {
        let ladder = folder.heddle(&command);
        assert_eq!(ladder.code, 0, "{command}: {}", ladder.stderr);
        let json: Value = serde_json::from_str(&ladder.stdout).expect("JSON");
        json.to_string()
            .split("makespan_ps\":")
            .skip(1)
            .map(|text| text.chars().take_while(char::is_ascii_digit).collect())
            .collect::<Vec<String>>()
    };
    let first = makespans(format!("ladder {workload} {machine} --format json"));
    assert_eq!(first.len(), 6);
    assert_eq!(first, makespans("ladder out/manifest.json --format json".to_owned()));
}

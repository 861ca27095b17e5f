//! `heddle plot`: tables of runs and of studies as drawings.

mod common;

use std::fs;

use common::Folder;

/// A study of four makespans, of which two belong to each of two topologies.
const STUDY: &str = "\
[workload]
source = \"pattern:gather\"
ranks = 4
[network]
model = \"infiniband\"
[study]
network.topology = [\"star:hosts=4\", \"torus:dims=2x2\"]
size = [\"1KiB\", \"64KiB\"]
";

fn studied(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("study.toml", STUDY);
    assert_eq!(folder.heddle("study study.toml -o study").code, 0);
    folder
}

fn drawn(folder: &Folder, arguments: &str) -> String {
    let ended = folder.heddle(&format!("plot {arguments} -o figure.svg"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{arguments}");
    String::from_utf8(folder.read("figure.svg")).expect("text")
}

/// A column that varies stands apart though nobody asked for it; where two of them do, a warning
/// names them. The file that is written without a name is named.
#[test]
fn what_varies_is_not_mixed() {
    let folder = studied("plot-mixed");
    let apart = drawn(&folder, "study --x size --y makespan --by topology");
    fs::remove_file(folder.path("figure.svg")).expect("the figure");
    let ended = folder.heddle("plot study --x size --y makespan");
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "figure.svg\n", ""));
    assert_eq!(String::from_utf8(folder.read("figure.svg")).expect("text"), apart);
    let ended = folder.heddle("plot study --x messages --y makespan -o figure.svg");
    assert_eq!(ended.code, 0);
    let expected = "several values of network.topology and workload.size\n";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}

/// Columns are found by the end of their names, times have a unit that suits them, and each
/// topology has a line, a group of bars, boxes, or a row.
#[test]
fn a_study_in_four_ways() {
    let folder = studied("plot-study");
    let columns = "study --x size --y makespan --by topology";
    for (kind, shape, count) in [
        ("line", "<circle", 4),
        ("bar", "fill=\"#0072b2\"/>", 3),
        // A box of one value is a line.
        ("box", "stroke-width=\"3\"", 4),
        ("heat", "height=\"40.0\"", 4),
    ] {
        let svg = drawn(&folder, &format!("{columns} --kind {kind} --title T&T"));
        assert_eq!(svg.matches(shape).count(), count, "{kind}: {svg}");
        assert!(svg.contains("makespan, us"), "{kind}: {svg}");
        assert!(svg.contains("torus:dims=2x2") && svg.contains(">64KiB<"), "{kind}: {svg}");
        assert!(svg.contains("T&amp;T"), "{kind}: {svg}");
    }
    // The largest value reaches the height that its number says: the heat map writes it.
    let runs = String::from_utf8(folder.read("study/runs.csv")).expect("text");
    let mut rows = runs.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let place = rows.next().expect("names").iter().position(|name| *name == "makespan_ps");
    let place = place.expect("a makespan");
    let values = rows.map(|row| row[place].parse::<f64>().expect("a number") * 1e-6);
    let most = values.fold(0.0, f64::max);
    let digits = [10.0, 100.0, 1000.0].into_iter().filter(|power| most < *power).count();
    let shown = format!("{most:.digits$}");
    let shown = shown.trim_end_matches('0').trim_end_matches('.');
    let svg = drawn(&folder, &format!("{columns} --kind heat"));
    assert!(svg.contains(&format!(">{shown}<")), "{shown}: {svg}");
}

/// Numbers along the horizontal axis have their place by value.
#[test]
fn a_table_of_a_run() {
    let folder = Folder::new("plot-run");
    let run = "run pattern:linear-alltoall --ranks 4 -q -o out --tables ranks,messages";
    assert_eq!(folder.heddle(run).code, 0);
    let svg = drawn(&folder, "out/ranks.csv --x rank --y finish");
    assert!(svg.contains(">rank<") && svg.contains("finish, us"), "{svg}");
    let several = folder.heddle("plot out --x rank --y finish");
    assert_eq!(several.code, 2);
    assert!(several.stderr.contains("out/messages.csv, out/ranks.csv"), "{}", several.stderr);
}

/// Places and groups that are numbers or quantities stand in their order, others in that of the
/// table. The values go with them: of four bars in steps of 1, the last is four times as high as
/// the first.
#[test]
fn numbers_and_quantities_stand_in_their_order() {
    let folder = Folder::new("plot-order");
    for (name, values, ordered) in [
        ("numbers", ["10", "9", "-2", "1.5"], ["-2", "1.5", "9", "10"]),
        ("sizes", ["1MiB", "64B", "2 KiB", "1 KiB"], ["64B", "1 KiB", "2 KiB", "1MiB"]),
        ("times", ["1ms", "10us", "2us", "999ns"], ["999ns", "2us", "10us", "1ms"]),
        ("texts", ["10", "9", "none", "1"], ["10", "9", "none", "1"]),
    ] {
        let place = |value: &str| ordered.iter().position(|known| *known == value);
        let row = |value: &&str| format!("{value},{}\n", place(value).expect("a place") + 1);
        let rows: String = values.iter().map(row).collect();
        folder.write("table.csv", &format!("a,b\n{rows}"));
        for kind in ["bar", "box", "heat"] {
            let svg = drawn(&folder, &format!("table.csv --x a --y b --kind {kind}"));
            // Values of the axis are texts too, but left of the plot.
            let names = svg.match_indices("text-anchor=\"middle\" fill=\"#444\">");
            let names = names.filter_map(|(at, found)| svg[at + found.len()..].split('<').next());
            assert_eq!(names.collect::<Vec<_>>(), ordered, "{name}, {kind}: {svg}");
        }
        let svg = drawn(&folder, "table.csv --x a --y b --kind bar");
        let bars = svg.split("<rect x=").skip(1).filter_map(|bar| bar.split('"').nth(7));
        let heights: Vec<f64> = bars.map(|height| height.parse().expect("a number")).collect();
        assert!(heights.is_sorted() && heights.len() == 4, "{name}: {svg}");
        let svg = drawn(&folder, "table.csv --x b --y b --by a --kind heat");
        let names = svg.match_indices("text-anchor=\"end\" fill=\"#444\">");
        let names = names.filter_map(|(at, found)| svg[at + found.len()..].split('<').next());
        assert_eq!(names.collect::<Vec<_>>(), ordered, "{name}, rows: {svg}");
    }
}

/// Values below zero are drawn, in a unit that suits them.
#[test]
fn negative_values() {
    let folder = Folder::new("plot-negative");
    folder.write("table.csv", "a,gain_ns\n1,-5000\n2,-2000\n3,1000\n");
    for kind in ["line", "bar", "box"] {
        let svg = drawn(&folder, &format!("table.csv --x a --y gain --kind {kind}"));
        assert!(svg.contains(">-5<") && svg.contains(">1<"), "{kind}: {svg}");
        assert!(svg.contains("gain, us"), "{kind}: {svg}");
        assert!(svg.contains("stroke=\"#888\""), "{kind}: {svg}");
    }
}

/// A figure that is named is replaced, one that is not named is kept.
/// Nodes and times of several decades are seen on logarithmic axes; what is not above zero is told,
/// and drawings without such axes are refused.
#[test]
fn logarithmic_axes() {
    let folder = Folder::new("plot-logarithmic");
    folder.write("t.csv", "nodes,seconds\n1,0.01\n100,100\n10000,1\n");
    let svg = drawn(&folder, "t.csv --x nodes --y seconds --log-x --log-y");
    assert!(svg.contains("points=\"60.0,315.0 342.5,30.0 625.0,172.5\""), "{svg}");
    folder.write("t.csv", "nodes,seconds,kind\n0,0.01,a\n100,0,b\n10000,1,a\n");
    let ended = folder.heddle("plot t.csv --x nodes --y seconds --log-x --log-y -o figure.svg");
    assert_eq!(ended.code, 0);
    for column in ["nodes", "seconds"] {
        let expected = format!("1 value of `{column}` is not above 0, and is not drawn");
        assert!(ended.stderr.contains(&expected), "{}", ended.stderr);
    }
    for (arguments, expected) in [
        ("--x nodes --log-y --kind bar", "--log-y: only lines have logarithmic axes"),
        ("--x kind --log-x", "--log-x: `kind` is no column of numbers"),
    ] {
        let ended = folder.heddle(&format!("plot t.csv --y seconds {arguments} -o figure.svg"));
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
}

#[test]
fn a_figure_is_replaced_if_it_is_named() {
    let folder = studied("plot-again");
    let columns = "plot study --x size --y makespan --by topology";
    assert_eq!(folder.heddle(columns).code, 0);
    let first = folder.read("figure.svg");
    let again = folder.heddle(&format!("{columns} --kind bar"));
    let expected = "error: figure.svg exists already\n  help: -o figure.svg replaces it\n";
    assert_eq!((again.code, again.stderr.as_str()), (4, expected));
    assert_eq!(folder.read("figure.svg"), first);
    assert_eq!(folder.heddle(&format!("{columns} --kind bar -o figure.svg")).code, 0);
    assert_ne!(folder.read("figure.svg"), first);
}

/// The axis of a ladder has the unit of the greatest time, which is some microseconds. Models that
/// give the same times lie on one another and show dashes.
#[test]
fn ladders_have_units_and_show_all_models() {
    let folder = Folder::new("plot-ladder");
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/machines/edr-cluster.toml");
    let command = format!("ladder pattern:linear-alltoall --ranks 8 --machine {machine}");
    assert_eq!(folder.heddle(&format!("{command} --size 64B --plot bars.svg")).code, 0);
    let svg = String::from_utf8(folder.read("bars.svg")).expect("text");
    assert!(svg.contains(">makespan, us<") && !svg.contains(">0.00"), "{svg}");
    let over = "--over workload.size=64B,128B --absolute --plot lines.svg";
    assert_eq!(folder.heddle(&format!("{command} {over}")).code, 0);
    let svg = String::from_utf8(folder.read("lines.svg")).expect("text");
    assert!(svg.contains(">makespan, us<") && svg.contains("stroke-dasharray=\"8 "), "{svg}");
}

/// A name in `.png` is written as PNG, with two pixels for each unit of the drawing, by all that
/// draws.
#[test]
fn drawings_as_pixels() {
    let folder = studied("plot-png");
    let size = |name: &str| {
        let bytes = folder.read(name);
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        // The header has width and height behind signature, length and name of the chunk.
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four"));
        (number(16), number(20))
    };
    for (command, name) in [
        ("plot study --x size --y makespan --by topology -o", "plot"),
        ("topology torus:dims=4x4 --draw", "topology"),
        ("ladder pattern:gather --ranks 4 --plot", "ladder"),
        (
            "run traffic:uniform --network packet --topology star:hosts=4 --load 0.2 -q --plot",
            "load",
        ),
    ] {
        for end in ["svg", "png"] {
            let ended = folder.heddle(&format!("{command} {name}.{end}"));
            assert_eq!(ended.code, 0, "{command}: {}", ended.stderr);
        }
        let svg = String::from_utf8(folder.read(&format!("{name}.svg"))).expect("text");
        let sides = svg.split('"').nth(3).expect("a view box").split(' ').skip(2);
        let sides = sides.map(|side| 2.0 * side.parse::<f64>().expect("a number"));
        #[expect(clippy::cast_sign_loss, reason = "a length")]
        let sides: Vec<_> = sides.map(|side| side.ceil() as u32).collect();
        let (width, height) = size(&format!("{name}.png"));
        assert_eq!([width, height], *sides, "{name}");
    }
}

/// Folders of Parquet are drawn, compared and reported as those of CSV.
#[test]
fn tables_as_parquet() {
    let folder = Folder::new("plot-parquet");
    folder.write("study.toml", STUDY);
    let mut found = Vec::new();
    for form in ["csv", "parquet"] {
        let run =
            "run pattern:halo2d --ranks 16 --size 1KiB --compute 1us --report -q --force -o r";
        let commands = [
            format!("{run} --tables-format {form}"),
            format!("study study.toml -o study-{form} --tables-format {form}"),
            format!("plot r/messages.{form} --x id --y delivered -o messages.svg"),
            format!("plot study-{form} --x size --y makespan -o study.svg"),
        ];
        for command in &commands {
            let ended = folder.heddle(command);
            assert_eq!(ended.code, 0, "{command}: {}", ended.stderr);
        }
        let other = if form == "csv" { "parquet" } else { "csv" };
        let names = [folder.names("r"), folder.names(&format!("study-{form}"))].concat();
        assert!(names.iter().any(|name| name == &format!("activity.{form}")), "{names:?}");
        assert!(names.iter().any(|name| name == &format!("runs.{form}")), "{names:?}");
        assert!(!names.iter().any(|name| name.ends_with(other)), "{names:?}");
        // The manifests name the form; the rest of the report does not depend on it.
        if form == "csv" {
            fs::copy(folder.path("r/manifest.json"), folder.path("m.json")).expect("a copy");
        }
        fs::copy(folder.path("m.json"), folder.path("r/manifest.json")).expect("a copy");
        assert_eq!(folder.heddle("report r -o r.html").code, 0);
        found.push(["messages.svg", "study.svg", "r.html"].map(|name| folder.read(name)));
    }
    assert!(found[0] == found[1]);
    let ended = folder.heddle("run pattern:gather --ranks 4 --tables-format parquet");
    assert!(ended.code == 2 && ended.stderr.contains("-o DIR"), "{}", ended.stderr);
}

#[test]
fn mistakes_are_told() {
    let folder = studied("plot-mistakes");
    folder.write("texts.csv", "a,b\nx,y\n");
    for (arguments, code, said) in [
        ("study --x sizee --y makespan", 2, "did you mean `"),
        ("study --x size --y error", 1, "holds no number to draw"),
        ("texts.csv --x a --y b", 1, "column `b` holds no number"),
        ("missing.csv --x a --y b", 1, "missing.csv"),
        ("study --x size --y makespan -o figure.pdf", 2, "drawings are SVG"),
    ] {
        let ended = folder.heddle(&format!("plot {arguments}"));
        assert_eq!(ended.code, code, "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments}: {}", ended.stderr);
    }
}

//! The value that holds, and its origin.

use experiment::{Configuration, Origin, Request};

fn read(set: &[&str]) -> Configuration {
    let set = set.iter().map(|&text| text.to_owned()).collect();
    Configuration::read(&Request { set, ..Request::default() }).expect("no mistakes")
}

/// Expects a value and where it comes from, as `--print-config` says it.
fn check(configuration: &Configuration, name: &str, value: &str, origin: &str) {
    let (found, from) = configuration.get(name).expect("a value");
    assert_eq!((found.to_string().as_str(), from.to_string().as_str()), (value, origin), "{name}");
}

#[test]
fn overheads_follow_the_nearest_setting() {
    let nothing = read(&[]);
    check(&nothing, "loggops.large.o-send", "\"1.5 us\"", "as loggops.o");
    let both = read(&["loggops.o=2us"]);
    check(&both, "loggops.o-recv", "\"2 us\"", "as loggops.o");
    check(&both, "loggops.large.o", "\"2 us\"", "as loggops.o");
    let sender = read(&["loggops.o=2us", "loggops.o-send=3us"]);
    check(&sender, "loggops.o-recv", "\"2 us\"", "as loggops.o");
    check(&sender, "loggops.large.o-send", "\"3 us\"", "as loggops.o-send");
    check(&sender, "loggops.large.o-recv", "\"2 us\"", "as loggops.o");
    let large = read(&["loggops.o-send=3us", "loggops.large.o=4us"]);
    check(&large, "loggops.large.o-send", "\"4 us\"", "as loggops.large.o");
    check(&large, "loggops.large.o-recv", "\"4 us\"", "as loggops.large.o");
    check(&large, "loggops.o-send", "\"3 us\"", "--set loggops.o-send=3us");
}

#[test]
fn setting_some_leaves_the_others() {
    let one = read(&["loggops.L=1us"]);
    check(&one, "loggops.L", "\"1 us\"", "--set loggops.L=1us");
    check(&one, "loggops.o", "\"1.5 us\"", "default");
    check(&one, "loggops.G", "\"6 ns/B\"", "default");
}

#[test]
fn a_file_names_its_lines() {
    let text = "[run]\n\nthreads = 0x10\nseed = 1_000\n[loggops]\nlarge = { G = \"100 Gb/s\" }\n";
    let file = Configuration::from_text("dir/e.toml", text).expect("no mistakes");
    check(&file, "run.threads", "16", "dir/e.toml:3");
    check(&file, "run.seed", "1000", "dir/e.toml:4");
    check(&file, "workload.seed", "1000", "as run.seed");
    check(&file, "loggops.large.G", "\"80 ps/B\"", "dir/e.toml:6");
    assert_eq!(file.get("run.transport").map(|(_, origin)| origin), Some(Origin::Default));
    assert_eq!(file.get("noise.trace"), None);
    assert_eq!(file.get("no.such"), None);
}

#[test]
fn the_last_set_holds() {
    check(&read(&["run.seed=1", "run.seed = 2 "]), "run.seed", "2", "--set run.seed = 2 ");
}

/// The unit in which a schedule counts: a unit is one of it.
#[test]
fn units_of_time() {
    for (text, value) in [("ps", "1 ps"), ("us", "1 us"), ("10 ns", "10 ns"), ("1.5us", "1.5 us")] {
        let unit = read(&[&format!("workload.time-unit={text}")]);
        check(
            &unit,
            "workload.time-unit",
            &format!("\"{value}\""),
            &format!("--set workload.time-unit={text}"),
        );
    }
    for (text, message) in [
        ("0 ns", "a unit of time cannot be zero"),
        ("10", "a bare number has no unit"),
        ("parsec", "unknown unit \"parsec\""),
    ] {
        let request =
            Request { set: vec![format!("workload.time-unit={text}")], ..Request::default() };
        let mistakes = Configuration::read(&request).expect_err("a mistake");
        let all: Vec<_> = mistakes.iter().collect();
        assert!(all.len() == 1 && all[0].message.starts_with(message), "{mistakes}");
    }
}

//! Hosts, links and routes of the platforms in `validation/simgrid/platforms` as SimGrid 3.32
//! prints them. The files in `tests/expected` are written by `validation/simgrid/routes.py --keep`.

use std::{collections::BTreeMap, fs, path::Path};

use platform::{Platform, Sharing};

fn close(a: f64, b: &str) -> bool {
    let b: f64 = b.parse().unwrap();
    (a - b).abs() <= 1e-12 * b.abs()
}

fn check(platform: &Platform, expected: &str) -> usize {
    let host = |name: &str| platform.hosts.iter().position(|host| host.name == name).unwrap();
    let links: BTreeMap<&str, _> =
        platform.links().iter().map(|link| (link.name.as_str(), link)).collect();
    let mut route = Vec::new();
    let facts = expected.lines().filter(|line| !line.starts_with('#'));
    facts
        .inspect(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let same = match fields[0] {
                "host" => {
                    let host = &platform.hosts[host(fields[1])];
                    close(host.speed, fields[2]) && host.cores == fields[3].parse().unwrap()
                }
                "link" => {
                    let link = links[fields[1]];
                    close(link.bandwidth, fields[2])
                        && close(link.latency, fields[3])
                        && (link.sharing == Sharing::FatPipe) == (fields[4] == "FATPIPE")
                }
                _ => {
                    let [from, to] = [fields[1], fields[2]].map(|name| host(name) as u32);
                    match platform.route(from, to, &mut route) {
                        Ok(latency) => {
                            let names =
                                route.iter().map(|&l| platform.links()[l as usize].name.as_str());
                            close(latency, fields[3]) && names.eq(fields[4..].iter().copied())
                        }
                        Err(_) => fields[3] == "none",
                    }
                }
            };
            assert!(same, "{line}");
        })
        .count()
}

#[test]
fn routes_are_those_of_simgrid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut facts = 0;
    let mut files = 0;
    for entry in fs::read_dir(root.join("tests/expected")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let file = root.join(format!("../../validation/simgrid/platforms/{name}.xml"));
        let platform = match Platform::read(&fs::read_to_string(file).unwrap()) {
            Ok(platform) => platform,
            Err(faults) => panic!("{name}: {faults}"),
        };
        facts += check(&platform, &fs::read_to_string(&path).unwrap());
        files += 1;
    }
    // Every platform has its file; they have about 30 facts or more each.
    assert!(files >= 32 && facts > 30 * files, "{files} files, {facts} facts");
}

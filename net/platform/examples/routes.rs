//! Prints what is read from a platform file as `validation/simgrid/routes.cpp` prints what SimGrid
//! reads: `cargo run -p heddle-platform --example routes -- PLATFORM.xml [STRIDE]`.

use std::{
    io::{BufWriter, Write},
    process::ExitCode,
};

use platform::{Platform, Sharing};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: routes PLATFORM.xml [STRIDE]");
        return ExitCode::from(2);
    };
    let stride = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match Platform::read(&text) {
        Ok(platform) => match print(&platform, stride) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(faults) => {
            eprint!("{}", faults.render(&file));
            ExitCode::FAILURE
        }
    }
}

fn print(platform: &Platform, stride: usize) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut hosts: Vec<usize> = (0..platform.hosts.len()).collect();
    hosts.sort_by_key(|&host| &platform.hosts[host].name);
    for &host in &hosts {
        let host = &platform.hosts[host];
        writeln!(out, "host\t{}\t{:?}\t{}", host.name, host.speed, host.cores)?;
    }
    let mut links: Vec<_> = platform.links().iter().collect();
    links.sort_by_key(|link| &link.name);
    for link in links {
        let policy = if link.sharing == Sharing::FatPipe { "FATPIPE" } else { "SHARED" };
        writeln!(out, "link\t{}\t{:?}\t{:?}\t{policy}", link.name, link.bandwidth, link.latency)?;
    }
    let mut links = Vec::new();
    for pair in (0..hosts.len() * hosts.len()).step_by(stride.max(1)) {
        let [from, to] = [hosts[pair / hosts.len()], hosts[pair % hosts.len()]];
        let names = [from, to].map(|host| platform.hosts[host].name.as_str());
        write!(out, "route\t{}\t{}\t", names[0], names[1])?;
        match platform.route(from as u32, to as u32, &mut links) {
            Ok(latency) => write!(out, "{latency:?}")?,
            Err(_) => write!(out, "none")?,
        }
        for &link in &links {
            write!(out, "\t{}", platform.links()[link as usize].name)?;
        }
        writeln!(out)?;
    }
    out.flush()
}

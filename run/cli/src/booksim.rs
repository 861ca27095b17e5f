//! `heddle run booksim:FILE`.

use std::{
    io::{self, Write},
    path::Path,
};

use experiment::{BookSim, BookSimPoints, keys::KEYS};

use crate::{
    arguments::{Format, Run},
    exit::{Ending, Exit, complain, written},
    stop,
};

/// The beginning of a source that is a configuration of BookSim 2.
pub const PREFIX: &str = "booksim:";

/// Measures what a configuration describes and prints it in BookSim's units.
pub fn run(arguments: &Run, file: &str) -> Result<(), Ending> {
    let threads = threads(arguments)?;
    let plan = BookSim::new(Path::new(file), &arguments.booksim, threads)?;
    plan.warnings.iter().for_each(|warning| complain(&format!("warning: {warning}")));
    stop::watch(|| {});
    let measured = plan.run()?;
    if arguments.quiet {
        return Ok(());
    }
    let mut text = Vec::new();
    let shown =
        show(arguments.format, &measured, &mut text).and_then(|()| io::stdout().write_all(&text));
    written(shown, "standard output")
}

/// Refuses `--booksim` for other sources.
pub fn unused(arguments: &Run) -> Result<(), Ending> {
    let Some(first) = arguments.booksim.first() else { return Ok(()) };
    let message = format!(
        "error: --booksim {first}: it belongs to a configuration of BookSim 2\n  \
         help: name it as booksim:FILE"
    );
    Err(Ending::new(Exit::Usage, message))
}

/// The number of threads; everything else is for the configuration to say.
fn threads(arguments: &Run) -> Result<usize, Ending> {
    let refuse = |what: &str| {
        let message = format!(
            "error: {what} does not apply to a configuration of BookSim 2, which describes all \
             of a run\n  help: --booksim KEY=VALUE sets its keys"
        );
        Err(Ending::new(Exit::Usage, message))
    };
    if let Some(set) = arguments.set.first() {
        return refuse(&format!("--set {set}"));
    }
    let others = [
        (arguments.machine.is_some(), "--machine"),
        (arguments.per_rank, "--per-rank"),
        (arguments.print_config, "--print-config"),
        (arguments.plot.is_some(), "--plot"),
        (arguments.uncertainty.is_some(), "--uncertainty"),
        (!arguments.sensitivity.is_empty(), "--sensitivity"),
    ];
    if let Some((_, name)) = others.iter().find(|other| other.0) {
        return refuse(name);
    }
    let mut threads = 1;
    for (key, text) in &arguments.flags.0 {
        if *key != "run.threads" {
            let flag = KEYS.iter().find(|known| known.name == *key).and_then(|known| known.flag);
            return refuse(
                &flag.map_or_else(|| (*key).to_owned(), |flag| format!("--{}", flag.long)),
            );
        }
        threads = text.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
            let message = format!("error: --threads {text}: expected a whole number from 1");
            Ending::new(Exit::Usage, message)
        })?;
    }
    Ok(threads)
}

fn show(format: Format, measured: &BookSimPoints, out: &mut impl Write) -> io::Result<()> {
    if format == Format::Json {
        serde_json::to_writer(&mut *out, measured)?;
        return out.write_all(b"\n");
    }
    writeln!(
        out,
        "{:>8} {:>9} {:>10} {:>10} {:>7}",
        "offered", "accepted", "latency", "network", "hops"
    )?;
    for point in &measured.points {
        let cell = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        let [latency, network, hops] =
            [point.latency_cycles, point.network_latency_cycles, point.hops].map(cell);
        let saturated = if point.saturated { "  saturated" } else { "" };
        let (offered, accepted) = (point.offered, point.accepted);
        writeln!(
            out,
            "{offered:>8.4} {accepted:>9.4} {latency:>10} {network:>10} {hops:>7}{saturated}"
        )?;
    }
    writeln!(out, "\nflits per node and cycle; latency in cycles; hops in routers")
}

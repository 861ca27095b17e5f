//! Makes two hosts joined by rails and forwards frames between them until it is told to end:
//! `heddle-shaper --rail A:1Gb/s:50us --rail B:100Mb/s:200us`.

use std::process::ExitCode;

/// The exit code on machines that cannot have a rig, as test programs say that they are skipped.
const CANNOT: u8 = 77;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("heddle-shaper: missing: Linux (its network namespaces and TAP devices)");
    ExitCode::from(CANNOT)
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use clap::Parser;

    match linux::run(&linux::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("heddle-shaper: {error}");
            let is_missing = matches!(error, shaper::node::Error::Missing(_));
            ExitCode::from(if is_missing { CANNOT } else { 1 })
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        io::{self, Write},
        mem,
        os::unix::net::UnixListener,
        path::PathBuf,
        sync::Arc,
        time::{Duration, Instant},
    };

    use clap::{CommandFactory, Parser, error::ErrorKind};
    use rustix::process::{Signal, set_parent_process_death_signal};
    use shaper::{
        Alarm, CONTROL, Direction, Lane, Patience, Rail, Shared, control,
        node::{Error, Node},
        usual_lateness,
    };
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1},
        iterator::Signals,
    };
    use units::{Bandwidth, Bytes, Time};

    /// Joins two network namespaces by pairs of TAP devices with a rate and a delay each.
    ///
    /// Prints a line of JSON with the folders of the namespaces when they are ready, and one for
    /// each rail and direction on SIGUSR1 and at the end (SIGTERM, SIGINT, SIGHUP): what was
    /// carried, what was dropped, and how late frames were. Exits with 77 where the machine lacks
    /// what it needs: root, /dev/net/tun, ip.
    #[derive(Parser)]
    #[command(name = "heddle-shaper")]
    pub struct Arguments {
        /// A rail: the name of its devices, rate and delay one way
        #[arg(long = "rail", value_name = "NAME:RATE:DELAY", required = true)]
        rails: Vec<Rail>,
        /// Bytes of frames that each direction's queue holds
        #[arg(long, default_value = "256KiB", value_name = "BYTES")]
        queue: Bytes,
        /// Time before a frame is due that is waited for with the processor in use [default: how
        /// late timers are here]
        #[arg(long, value_name = "TIME")]
        spin: Option<Time>,
        /// Time for which frames of a long burst are gathered before the receiver gets them, so
        /// that its programs have the processor in between [default: none]
        #[arg(long, value_name = "TIME")]
        gather: Option<Time>,
        /// The algorithm by which TCP controls congestion
        #[arg(long, default_value = "cubic", value_name = "NAME")]
        congestion: String,
        /// Unix socket that takes commands: rate RAIL RATE, down RAIL, up RAIL, report, reset
        #[arg(long, value_name = "FILE")]
        control: Option<PathBuf>,
        /// End when the process that started this one ends
        #[arg(long)]
        with_parent: bool,
    }

    impl Arguments {
        /// Ends with a message of how this is used if two rails have one name, or if there are more
        /// than addresses.
        fn check(&self) {
            let mut names: Vec<&str> = self.rails.iter().map(|rail| &*rail.name).collect();
            names.sort_unstable();
            let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
            let mistake = match twice {
                Some(pair) => format!("two rails have the name `{}`", pair[0]),
                None if names.len() > 255 => "there are more than 255 rails".to_owned(),
                None => return,
            };
            Self::command().error(ErrorKind::ValueValidation, mistake).exit();
        }
    }

    fn failed(what: &str, error: impl Into<io::Error>) -> Error {
        Error::Failed(what.to_owned(), error.into())
    }

    pub fn run(arguments: &Arguments) -> Result<(), Error> {
        arguments.check();
        if arguments.with_parent {
            set_parent_process_death_signal(Some(Signal::TERM))
                .map_err(|errno| failed("the end with the parent", errno))?;
        }
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGUSR1])
            .map_err(|error| failed("signals", error))?;
        let control = Rail {
            name: CONTROL.to_owned(),
            rate: Bandwidth::from_bits_per_second(100_000_000_000),
            delay: Time::ZERO,
        };
        let rails: Vec<&Rail> = [&control].into_iter().chain(&arguments.rails).collect();
        let devices: Vec<&str> = rails.iter().map(|rail| &*rail.name).collect();
        let congestion = arguments.congestion.as_str();
        let mut nodes = [Node::new(1, &devices, congestion)?, Node::new(2, &devices, congestion)?];
        let spin = match arguments.spin {
            Some(spin) => Ok(Duration::from_nanos(spin.ps() / 1000)),
            None => usual_lateness(&nodes[0].processors),
        };
        let spin = spin.map_err(|error| failed("how late timers are", error))?;
        let gather = arguments.gather.unwrap_or(Time::ZERO);
        let patience = Patience { spin, gather: Duration::from_nanos(gather.ps() / 1000) };
        let directions = join(&mut nodes, &rails, arguments.queue, patience)
            .map_err(|error| failed("the threads that forward", error))?;
        // Nobody asks about the rail that only carries what starts programs.
        let directions: Vec<Direction> =
            directions.into_iter().filter(|each| each.rail != CONTROL).collect();
        if let Some(path) = &arguments.control {
            let listener = UnixListener::bind(path)
                .map_err(|error| failed(&path.display().to_string(), error))?;
            control::listen(listener, directions.clone());
        }
        let [one, two] = nodes.each_ref().map(about);
        let spin = spin.as_nanos() as f64 / 1000.0;
        say(&format!("{{\"nodes\": [{one}, {two}], \"spin_us\": {spin:.3}}}\n"))?;
        for signal in signals.forever() {
            say(&control::report(&directions))?;
            if signal != SIGUSR1 {
                break;
            }
        }
        Ok(())
    }

    /// Returns what programs need to know to run on a node, as JSON.
    fn about(node: &Node) -> String {
        let Node { name, namespaces, processors, .. } = node;
        let namespaces = namespaces.display();
        format!(
            "{{\"name\": \"{name}\", \"namespaces\": \"{namespaces}\", \
             \"processors\": {processors:?}}}"
        )
    }

    /// Starts to forward between the nodes' devices.
    fn join(
        nodes: &mut [Node; 2],
        rails: &[&Rail],
        queue: Bytes,
        patience: Patience,
    ) -> io::Result<Vec<Direction>> {
        let start = Instant::now();
        let devices = nodes
            .each_mut()
            .map(|node| mem::take(&mut node.taps).into_iter().map(Arc::new).collect::<Vec<_>>());
        let alarms = [Arc::new(Alarm::new()?), Arc::new(Alarm::new()?)];
        let mut directions = Vec::new();
        let lanes = [(0, 1), (1, 0)].map(|(from, to)| {
            let ends = devices[from].iter().zip(&devices[to]);
            let lanes = rails.iter().zip(ends).map(|(rail, (input, output))| {
                let alarms = [from, to].map(|node| Arc::clone(&alarms[node]));
                let shared = Arc::new(Shared::new(rail, queue.get(), start, alarms));
                directions.push(Direction {
                    rail: rail.name.clone(),
                    from: nodes[from].name.clone(),
                    to: nodes[to].name.clone(),
                    shared: Arc::clone(&shared),
                });
                Lane { input: Arc::clone(input), output: Arc::clone(output), shared }
            });
            lanes.collect::<Vec<Lane>>()
        });
        for (node, alarm) in alarms.into_iter().enumerate() {
            let (sends, receives) = (lanes[node].clone(), lanes[1 - node].clone());
            shaper::start(sends, receives, alarm, patience, &nodes[node].processors);
        }
        // Both directions of a rail one after the other.
        directions.sort_by_key(|each| rails.iter().position(|rail| rail.name == each.rail));
        Ok(directions)
    }

    fn say(text: &str) -> Result<(), Error> {
        let mut output = io::stdout().lock();
        output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush())
            .map_err(|error| failed("the output", error))
    }
}

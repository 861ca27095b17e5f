//! Several ranks on a host, against runs in which every rank has one of its own.

use host::{
    Error, Outcome, RankTotals, Record, Rendezvous, Settings, TransportKind, simulate,
    simulate_over,
};
use infiniband::{Fabric, Infiniband, preset};
use kernel::{Probe, Silent};
use loggops::Parameters;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use schedule::Program;
use schedule::pattern::{Options, Pattern};
use topology::Routes;
use units::Time;

use crate::oracle::defaults::{PLAIN, TIGHT, WIDE, small_settings};
use crate::oracle::programs::{image, schedules};

/// Keeps what is said of ranks, as text.
#[derive(Default)]
struct Said(Vec<String>);

impl<R: std::fmt::Debug + Copy + Send> Probe<Record<R>> for Said {
    const LISTENS: bool = true;

    fn record(&mut self, record: Record<R>) {
        if !matches!(record, Record::Network { .. }) {
            self.0.push(format!("{record:?}"));
        }
    }
}

type Found = Result<(Outcome, Vec<String>), Error>;

/// Without remarks, which tell of windows.
fn found(result: Result<(Outcome, Vec<Said>), Error>) -> Found {
    result.map(|(outcome, probes)| {
        let mut said: Vec<_> = probes.into_iter().flat_map(|probe| probe.0).collect();
        said.sort();
        (Outcome { remarks: Vec::new(), ..outcome }, said)
    })
}

fn star() -> Infiniband {
    let topology = topology::parse("star:hosts=6").expect("a star");
    let routes = Routes::build(&topology, None).expect("routes");
    let parameters = preset("infiniband-edr").expect("a preset");
    let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
    Infiniband::new(fabric, 0)
}

fn over(network: &Infiniband, hosts: &[u32], program: &impl Program, settings: &Settings) -> Found {
    found(simulate_over(network, Some(hosts), program, settings, Said::default))
}

/// All ranks on one host, by the costs of `settings` within it, are the ranks of plain LogGOPS with
/// these costs.
fn one_host(text: &str, settings: &Settings) -> Result<(), TestCaseError> {
    let program = image(text);
    let local = settings.parameters.small;
    let parameters = Parameters { large: local, local, ..settings.parameters };
    let plain = Settings { parameters, ..settings.clone() };
    let expected = found(simulate(&program, &plain, Said::default));
    // What applies between hosts must not matter.
    let other = Parameters { local, ..Parameters::default() };
    let (eager_limit, inject) = (parameters.eager_limit, parameters.inject);
    let parameters = Parameters { eager_limit, inject, ..other };
    let shared = Settings { parameters, ..settings.clone() };
    let hosts = vec![3; program.ranks() as usize];
    // A rank that is alone takes its own messages at once, which with L + o = 0 decides ties
    // differently.
    if program.ranks() > 1 {
        let result = over(&star(), &hosts, &program, &shared);
        prop_assert_eq!(result, expected);
    }
    Ok(())
}

/// A run that nobody watches may take short ways, and gives the same: with a rank per host, and
/// with several; with CPUs that keep messages waiting, and with idle ones.
#[test]
fn unwatched() {
    for (name, size) in ["dissemination", "linear-alltoall", "pairwise-alltoall", "allreduce-ring"]
        .into_iter()
        .chain(["alltoallv", "gather", "pipelined-ring", "halo2d", "random-bisection"])
        .flat_map(|name| [8, 3000].map(|size| (name, size)))
    {
        let program = Pattern::build(name, &Options::new(12, size)).expect(name);
        let shared: Vec<u32> = (0..12).map(|rank| rank % 3).collect();
        for (hosts, slow) in
            [((0..12).collect(), 0), (shared.clone(), 0), (shared, 1), ((0..12).collect(), 1)]
        {
            let topology = topology::parse("xgft:children=4x3,parents=1x2").expect("a tree");
            let routes = Routes::build(&topology, None).expect("routes");
            let parameters = preset("infiniband-edr").expect("a preset");
            let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
            let network = Infiniband::new(fabric, 0);
            let mut settings = Settings::default();
            settings.parameters.small.send_overhead = Time::from_ps(20_000 + slow * 500_000);
            settings.parameters.small.receive_overhead = Time::from_ps(10_000 + slow * 900_000);
            let hosts: Vec<u32> = hosts;
            let watched = over(&network, &hosts, &program, &settings).map(|found| found.0);
            let alone = simulate_over(&network, Some(&hosts), &program, &settings, || Silent);
            let alone = alone.map(|(outcome, _)| Outcome { remarks: Vec::new(), ..outcome });
            assert_eq!(alone, watched, "{name} {size} {hosts:?}");
        }
    }
}

/// Threads that use each other's bounds a window later ([`kernel::Model::lookahead_across`]) see
/// the same, by rendezvous and eagerly, and however messages travel.
#[test]
fn threads_over_a_tree() {
    let topology = topology::parse("xgft:children=4x3,parents=1x2").expect("a tree");
    let hosts: Vec<u32> = (0..12).collect();
    for (name, size) in
        [("linear-alltoall", 3000), ("linear-alltoall", 70_000), ("allreduce-ring", 70_000)]
    {
        let program = Pattern::build(name, &Options::new(12, size)).expect(name);
        let routes = Routes::build(&topology, None).expect("routes");
        let parameters = preset("infiniband-edr").expect("a preset");
        let fabric = Fabric::new(&topology.graph, routes, parameters).expect("a fabric");
        let network = Infiniband::new(fabric, 0);
        let run = |threads, transport| {
            let rendezvous = Rendezvous::RtsCts;
            let settings = Settings { threads, transport, rendezvous, ..Settings::default() };
            over(&network, &hosts, &program, &settings)
        };
        let expected = run(1, TransportKind::Shared);
        for threads in [2, 3, 7] {
            for transport in [TransportKind::Shared, TransportKind::Serialised] {
                assert_eq!(run(threads, transport), expected, "{name} {size} {threads}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(300)
    })]

    #[test]
    fn one_host_is_plain_loggops(text in schedules(PLAIN), settings in small_settings()) {
        one_host(&text, &settings)?;
    }

    #[test]
    fn one_host_with_tight_receives(text in schedules(TIGHT), settings in small_settings()) {
        one_host(&text, &settings)?;
    }

    #[test]
    fn one_host_with_several_resources(text in schedules(WIDE), settings in small_settings()) {
        one_host(&text, &settings)?;
    }

    /// A second rank that does nothing does not change what the first does over the network.
    #[test]
    fn idle_company(text in schedules(WIDE), settings in small_settings()) {
        let alone = image(&text);
        let ranks = alone.ranks();
        let hosts: Vec<u32> = (0..ranks).collect();
        let network = star();
        let local = Parameters::default().local;
        let parameters = Parameters { local, ..settings.parameters };
        let settings = Settings { parameters, ..settings };
        let expected = over(&network, &hosts, &alone, &settings);
        let line = format!("num_ranks {ranks}\n");
        let company = image(&text.replacen(&line, &format!("num_ranks {}\n", 2 * ranks), 1));
        let result = over(&network, &[&*hosts, &hosts].concat(), &company, &settings);
        let result = result.map(|(mut outcome, said)| {
            let idle = outcome.ranks.split_off(ranks as usize);
            assert!(idle.iter().all(|totals| *totals == RankTotals::default()));
            (outcome, said)
        });
        prop_assert_eq!(result, expected);
    }

    /// Threads, transport, and the numbers that hosts have do not matter.
    #[test]
    fn three_hosts_everyhow(text in schedules(WIDE), settings in small_settings()) {
        let program = image(&text);
        let hosts: Vec<u32> = (0..program.ranks()).map(|rank| rank % 3).collect();
        let network = star();
        let first = over(&network, &hosts, &program, &settings);
        let (shared, serialised) = (TransportKind::Shared, TransportKind::Serialised);
        for (threads, transport) in [(1, serialised), (2, shared), (7, serialised)] {
            let other = Settings { threads, transport, ..settings.clone() };
            let other = over(&network, &hosts, &program, &other);
            prop_assert_eq!(&other, &first);
        }
    }
}

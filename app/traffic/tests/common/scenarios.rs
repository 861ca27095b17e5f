//! An incast with a victim and a parking lot, with and without congestion control.

use infiniband::{Control, Delay, Fabric, Infiniband, Parameters, preset};
use network::Links;
use topology::{Routes, Topology};
use traffic::{Arrivals, Lengths, Observed, Pattern, Settings, Span, Watch, Watched, observe};
use units::Time;

#[path = "even.rs"]
mod even;
pub use even::even;

/// Nine leaf switches of nine hosts under nine others. The first eight hosts of leaves 1 to 4 send
/// to host 0; the ninth of leaf 1 sends to the first host of leaf 5, by the same switch as they do.
pub fn incast() -> (&'static str, Vec<(u32, u32)>) {
    let senders = (9..45).filter(|host| host % 9 < 8).map(|host| (host, 0));
    ("xgft:children=9x9,parents=1x9", senders.chain([(17, 45)]).collect())
}

/// A chain of five switches with a host each; all send to the host of the first.
pub fn parking_lot() -> (&'static str, Vec<(u32, u32)>) {
    ("mesh:dims=5", (1..5).map(|host| (host, 0)).collect())
}

pub struct Seen {
    pub topology: Topology,
    pub network: Infiniband,
    pub observed: Observed<Watch>,
    pub watched: Watched,
}

impl Seen {
    /// The utilisation of each link until the end of the last batch.
    pub fn link_utilisation(&self) -> Vec<f64> {
        let flit_time = |device, port| self.network.flit_time(device, port);
        self.watched.link_utilisation(flit_time, &self.topology.graph, self.observed.span.1)
    }
}

/// Every flow offers all that its link can carry, in full packets, for 4 ms after 2 ms.
pub fn play((spec, flows): (&str, Vec<(u32, u32)>), control: bool, threads: usize) -> Seen {
    let parameters = preset("infiniband-ddr-simula-cc").expect("a preset");
    // With a table of multiples of a packet's time a flow can be slowed down to 1/128, more than
    // the 1/32 of a fair share: that of the preset ends at 1/16. A flow that is marked whenever it
    // sends settles at a packet per timer, so this must exceed 32 packet times, 35 us.
    let table = (0..128).map(|multiplier| Delay { shift: 0, multiplier }).collect();
    let timer = Time::from_ps(60_000_000);
    let slow = |set| Control { table, timer, threshold: 4, ..set };
    let congestion = control.then(|| parameters.congestion.map(slow)).flatten();
    let even = Parameters { congestion, ..even() };
    let topology = topology::parse(spec).expect("a topology");
    let routes = Routes::build(&topology, None).expect("routes");
    let fabric = Fabric::new(&topology.graph, routes, even).expect("a fabric");
    let network = Infiniband::new(fabric, 0);
    let destinations = Pattern::Flows(flows).on(&topology).expect("flows");
    let settings = Settings {
        arrivals: Arrivals::Fixed,
        lengths: Lengths::Fixed(2156),
        span: Span::Batches { warm_up: 10, kept: 20 },
        batch: Some(Time::from_ps(200_000_000)),
        threads,
        ..Settings::new(destinations, 1.0)
    };
    let watch = || Watch::new(Time::from_ps(20_000_000));
    let mut observed = observe(&network, &settings, false, watch).expect("it runs");
    let watched = Watch::merge(std::mem::take(&mut observed.probes));
    Seen { topology, network, observed, watched }
}

//! Systems whose shares and ends can be computed by hand.

use flow::{Flow, FlowId, Fluid, Link, Load, Sharing, Use};
use kernel::Probe;
use units::Time;

const SECOND: u64 = 1_000_000_000_000;

fn shared(bandwidth: f64) -> Link {
    Link { bandwidth, sharing: Sharing::Shared }
}

fn fat(bandwidth: f64) -> Link {
    Link { bandwidth, sharing: Sharing::FatPipe }
}

fn uses(links: &[u32]) -> Vec<Use> {
    links.iter().map(|&link| Use { link, weight: 1.0 }).collect()
}

/// Penalty 1, no bound, no latency, factor 1.
fn plain(uses: &[Use], work: f64) -> Flow<'_> {
    Flow { uses, penalty: 1.0, bound: f64::INFINITY, factor: 1.0, latency: Time::ZERO, work }
}

/// The flows that complete and their times, until all is over.
fn ends<P: Probe<Load>>(fluid: &mut Fluid<P>) -> Vec<(u64, Vec<u32>)> {
    let mut ends = Vec::new();
    while let Some(now) = fluid.next_event() {
        let mut done = Vec::new();
        fluid.advance(now, &mut done);
        if !done.is_empty() {
            ends.push((now.ps(), done));
        }
    }
    ends
}

fn near(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-12 * theirs, "{ours}, not {theirs}");
}

fn starts(fluid: &mut Fluid, flows: &[Flow]) -> Vec<FlowId> {
    (0..).zip(flows).map(|(token, flow)| fluid.start(Time::ZERO, flow, token)).collect()
}

#[test]
fn a_parking_lot_is_shared_evenly_or_by_round_trip_times() {
    // One flow over four links of 12 B/s and one on each. Evenly: 6 and 6. With penalties 4 and 1,
    // as round trips have it: level/4 + level = 12, so 2.4 and 9.6.
    for (penalty, long, short) in [(1.0, 6.0, 6.0), (4.0, 2.4, 9.6)] {
        let mut fluid = Fluid::new([shared(12.0); 4]);
        let (all, each) = (uses(&[0, 1, 2, 3]), [0, 1, 2, 3].map(|link| uses(&[link])));
        let mut flows = vec![Flow { penalty, ..plain(&all, 1.0) }];
        flows.extend(each.iter().map(|uses| plain(uses, 1.0)));
        let ids = starts(&mut fluid, &flows);
        near(fluid.rate(ids[0]), long);
        for &id in &ids[1..] {
            near(fluid.rate(id), short);
        }
        near(fluid.load(2), 12.0);
    }
}

#[test]
fn on_a_dumbbell_a_bound_below_the_fair_share_leaves_the_rest_to_the_others() {
    // Three flows from hosts of 10 B/s through a middle of 3 B/s: 1 each. One bound at 0.5 leaves
    // 1.25 to each other.
    for (bound, rates) in [(f64::INFINITY, [1.0, 1.0, 1.0]), (0.5, [0.5, 1.25, 1.25])] {
        let mut fluid = Fluid::new([10.0, 10.0, 10.0, 3.0, 10.0, 10.0, 10.0].map(shared));
        let ways = [uses(&[0, 3, 4]), uses(&[1, 3, 5]), uses(&[2, 3, 6])];
        let mut flows = ways.each_ref().map(|uses| plain(uses, 1.0));
        flows[0].bound = bound;
        let ids = starts(&mut fluid, &flows);
        for (&id, rate) in ids.iter().zip(rates) {
            near(fluid.rate(id), rate);
        }
    }
}

#[test]
fn an_incast_ends_together_after_the_time_of_all_bytes() {
    // 64 senders of 1e6 B into 1.25e8 B/s: 64e6 / 1.25e8 = 0.512 s.
    let mut fluid = Fluid::new([1.25e8; 65].map(shared));
    let ways: Vec<_> = (0..64).map(|sender| uses(&[sender, 64])).collect();
    let flows: Vec<_> = ways.iter().map(|uses| plain(uses, 1e6)).collect();
    starts(&mut fluid, &flows);
    assert_eq!(ends(&mut fluid), [(SECOND / 1000 * 512, (0..64).collect())]);
}

#[test]
fn shares_are_as_the_inverse_of_the_penalties_and_what_one_leaves_the_other_takes() {
    // 3 B/s, penalties 1 and 2: 2 and 1 B/s. 4 B each: the first ends at 2 s, when the other has 2
    // B left; at 3 B/s they take 2/3 s: 2.666666666667 s, rounded up. Twice the work at a factor of
    // 2 is the same.
    for factor in [1.0, 2.0] {
        let mut fluid = Fluid::new([shared(3.0)]);
        let way = uses(&[0]);
        let one = Flow { factor, ..plain(&way, 4.0 * factor) };
        let ids = starts(&mut fluid, &[one, Flow { penalty: 2.0, ..one }]);
        near(fluid.rate(ids[0]), 2.0);
        near(fluid.rate(ids[1]), 1.0);
        assert_eq!(ends(&mut fluid), [(2 * SECOND, vec![0]), (2_666_666_666_667, vec![1])]);
    }
}

#[test]
fn cross_traffic_of_opposite_flows_takes_five_parts_in_a_hundred_and_five() {
    // Split duplex of 21 B/s. One flow: bound by its own direction, 21, of which 1.05 come back.
    // Two: x + 0.05 x = 21, so 20. Through a link used both ways the weights add: 2 × 1.05 x = 21
    // and x = 10, as one use or two.
    let (there, back) = (uses(&[0]), Use { link: 1, weight: 0.05 });
    let one = [there[0], back];
    let two = [Use { link: 1, weight: 1.0 }, Use { link: 0, weight: 0.05 }];
    let mut fluid = Fluid::new([shared(21.0); 2]);
    let first = fluid.start(Time::ZERO, &plain(&one, 1e9), 0);
    near(fluid.rate(first), 21.0);
    near(fluid.load(1), 1.05);
    let second = fluid.start(Time::ZERO, &plain(&two, 1e9), 1);
    near(fluid.rate(first), 20.0);
    near(fluid.rate(second), 20.0);

    let twice = [Use { link: 0, weight: 1.0 }, Use { link: 0, weight: 0.05 }];
    let once = [Use { link: 0, weight: 1.05 }];
    let mut fluid = Fluid::new([shared(21.0)]);
    let ids = starts(&mut fluid, &[plain(&twice, 1.0), plain(&once, 1.0)]);
    near(fluid.rate(ids[0]), 10.0);
    near(fluid.rate(ids[1]), 10.0);
}

#[test]
fn a_limiter_of_one_and_a_half_gives_an_exchange_one_and_a_half_in_total() {
    // Seed 002, section IV.B: up, down and a limiter of 1.5 times the bandwidth that both
    // directions share.
    let mut fluid = Fluid::new([1.0, 1.0, 1.5].map(shared));
    let (up, down) = (uses(&[0, 2]), uses(&[1, 2]));
    let first = fluid.start(Time::ZERO, &plain(&up, 1e9), 0);
    near(fluid.rate(first), 1.0);
    let second = fluid.start(Time::ZERO, &plain(&down, 1e9), 1);
    near(fluid.rate(first) + fluid.rate(second), 1.5);
}

#[test]
fn a_fat_pipe_gives_each_flow_its_bandwidth_but_stops_them_together() {
    // Equal penalties: 5 B/s each. With penalties 1 and 2 the pipe is full at the level 5, when the
    // other has 2.5. With weights 1 and 2 it is full at 2.5. A repeated link counts once.
    let (one, two) = (uses(&[0]), [Use { link: 0, weight: 2.0 }]);
    let repeated = uses(&[0, 0]);
    let cases = [
        ([plain(&one, 1.0), plain(&repeated, 1.0)], [5.0, 5.0]),
        ([plain(&one, 1.0), Flow { penalty: 2.0, ..plain(&one, 1.0) }], [5.0, 2.5]),
        ([plain(&one, 1.0), plain(&two, 1.0)], [2.5, 2.5]),
        // A bound below the pipe's bandwidth keeps the first from filling it: the second gets to
        // the bandwidth itself.
        (
            [Flow { bound: 1.0, ..plain(&one, 1.0) }, Flow { penalty: 2.0, ..plain(&one, 1.0) }],
            [1.0, 5.0],
        ),
    ];
    for (flows, rates) in cases {
        let mut fluid = Fluid::new([fat(5.0)]);
        let ids = starts(&mut fluid, &flows);
        near(fluid.rate(ids[0]), rates[0]);
        near(fluid.rate(ids[1]), rates[1]);
    }
}

#[test]
fn cores_are_a_link_and_the_speed_of_one_is_a_bound() {
    // Four cores of 1e9 flop/s: three ranks have one each, six have two thirds of one.
    for (ranks, rate, end) in [(3, 1e9, SECOND), (6, 4e9 / 6.0, SECOND / 2 * 3)] {
        let mut fluid = Fluid::new([shared(4e9)]);
        let way = uses(&[0]);
        let flows = vec![Flow { bound: 1e9, ..plain(&way, 1e9) }; ranks];
        for id in starts(&mut fluid, &flows) {
            near(fluid.rate(id), rate);
        }
        assert_eq!(ends(&mut fluid), [(end, (0..ranks as u32).collect())]);
    }
}

#[test]
fn a_latency_phase_uses_nothing() {
    // 2 B/s. The first has 2 B; the second begins at 0.5 s, when 1 B is left of the first: 1 B/s
    // each until 1.5 s, when the second has 1 of its 2 B: at 2 B/s until 2 s.
    let mut fluid = Fluid::new([shared(2.0)]);
    let way = uses(&[0]);
    let late = Flow { latency: Time::from_ps(SECOND / 2), ..plain(&way, 2.0) };
    let ids = starts(&mut fluid, &[plain(&way, 2.0), late]);
    near(fluid.rate(ids[0]), 2.0);
    assert!(fluid.rate(ids[1]) <= 0.0);
    assert_eq!(fluid.next_event(), Some(Time::from_ps(SECOND / 2)));
    assert_eq!(ends(&mut fluid), [(SECOND / 2 * 3, vec![0]), (2 * SECOND, vec![1])]);
}

#[test]
fn what_shares_nothing_takes_its_latency_and_its_bound() {
    let mut fluid = Fluid::new([shared(1.0)]);
    let (way, none) = (uses(&[0]), []);
    let latency = Time::from_ps(70);
    let flows = [
        // Nothing to transfer; nothing to use and no bound; a bound alone, 1e-9 s; no part in the
        // sharing, 2e-9 s.
        Flow { latency, ..plain(&way, 0.0) },
        plain(&none, 5.0),
        Flow { bound: 1e10, latency, ..plain(&none, 10.0) },
        Flow { bound: 1e10, penalty: 0.0, factor: 0.5, ..plain(&way, 10.0) },
    ];
    let ids = starts(&mut fluid, &flows);
    assert!(fluid.load(0) <= 0.0);
    near(fluid.rate(ids[2]), 1e10);
    assert_eq!(ends(&mut fluid), [(0, vec![1]), (70, vec![0]), (1070, vec![2]), (2000, vec![3])]);
}

#[test]
fn ends_that_only_rounding_tells_apart_are_one() {
    // 500 flows with penalties of all sizes on one link, each with as much work as its share: all
    // end after total / bandwidth, here total = sum of 1e9 / penalty. Half of them begin later,
    // with the work for the rest of that time, which changes all rates: until s the first half has
    // everything.
    let penalty = |flow: u32| 1e-6 * 1.017_f64.powf(flow.into());
    let total =
        |flows: &mut dyn Iterator<Item = u32>| flows.map(|flow| 1.0 / penalty(flow)).sum::<f64>();
    let (half, all) = (total(&mut (0..500).step_by(2)), total(&mut (0..500)));
    let bandwidth = 1.25e9;
    // A flow's level is bandwidth / half in the first second and bandwidth / all in the second one.
    let (first, second) = (bandwidth / half, bandwidth / all);
    let mut fluid = Fluid::new([shared(bandwidth)]);
    let way = uses(&[0]);
    let mut done = Vec::new();
    for flow in (0..500).step_by(2) {
        let work = (first + second) / penalty(flow);
        fluid.start(Time::ZERO, &Flow { penalty: penalty(flow), ..plain(&way, work) }, flow);
    }
    assert!(fluid.next_event() > Some(Time::from_ps(SECOND)));
    fluid.advance(Time::from_ps(SECOND), &mut done);
    for flow in (1..500).step_by(2) {
        let work = second / penalty(flow);
        fluid.start(
            Time::from_ps(SECOND),
            &Flow { penalty: penalty(flow), ..plain(&way, work) },
            flow,
        );
    }
    let order: Vec<u32> = (0..500).step_by(2).chain((1..500).step_by(2)).collect();
    assert_eq!(ends(&mut fluid), [(2 * SECOND, order)]);
}

/// Keeps what it is told.
#[derive(Default)]
struct Loads(Vec<Load>);

impl Probe<Load> for Loads {
    const LISTENS: bool = true;

    fn record(&mut self, load: Load) {
        self.0.push(load);
    }
}

#[test]
fn a_probe_hears_what_links_carry() {
    // A flow of 2 B over links of 2 and 4 B/s; another of 3 B on the second link after 0.5 s has 2
    // B/s left, until the first ends at 1 s: then 4 B/s for the 2 B that it still has, until 1.5 s.
    let mut fluid = Fluid::watched([2.0, 4.0].map(shared), Loads::default());
    fluid.start(Time::ZERO, &plain(&uses(&[0, 1]), 2.0), 0);
    let late =
        Flow { latency: Time::from_ps(SECOND / 2), ..plain(&[Use { link: 1, weight: 1.0 }], 3.0) };
    fluid.start(Time::ZERO, &late, 1);
    assert_eq!(ends(&mut fluid), [(SECOND, vec![0]), (SECOND / 2 * 3, vec![1])]);
    let mut steps: Vec<(u64, u32, f64)> = Vec::new();
    for load in fluid.into_probe().0 {
        // Of several at one moment the last one counts.
        steps.retain(|step| (step.0, step.1) != (load.at.ps(), load.link));
        steps.push((load.at.ps(), load.link, load.rate));
    }
    steps.sort_by_key(|step| (step.1, step.0));
    let half = SECOND / 2;
    let wanted = [
        (0, 0, 2.0),
        (SECOND, 0, 0.0),
        (0, 1, 2.0),
        (half, 1, 4.0),
        (SECOND, 1, 4.0),
        (half * 3, 1, 0.0),
    ];
    assert_eq!(steps, wanted);
}

#[test]
fn an_end_beyond_the_range_of_time_is_none_of_the_ends() {
    // 1e9 B at 1 B/s take 1e9 s; times go up to 1.8e7 s. Whether the flow shares a link, is bound
    // by itself, shares nothing or only has that latency: while it is there, nobody may take the
    // network for idle.
    let way = uses(&[0]);
    let flows = [
        plain(&way, 1e9),
        Flow { bound: 0.5, ..plain(&way, 1e9) },
        Flow { bound: 1.0, ..plain(&[], 1e9) },
        Flow { latency: Time::MAX, ..plain(&way, 1.0) },
    ];
    for flow in flows {
        let mut fluid = Fluid::new([shared(1.0)]);
        assert_eq!(fluid.next_event(), None);
        fluid.start(Time::from_ps(5), &flow, 0);
        assert_eq!(fluid.next_event(), Some(Time::MAX));
    }
    // Beside it another of 1 B ends: it has half of the link.
    let mut fluid = Fluid::new([shared(1.0)]);
    starts(&mut fluid, &[plain(&way, 1e9), plain(&way, 1.0)]);
    let mut done = Vec::new();
    fluid.advance(Time::from_ps(2 * SECOND), &mut done);
    assert_eq!((done, fluid.next_event()), (vec![1], Some(Time::MAX)));
}

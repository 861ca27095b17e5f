//! Random systems against naive progressive filling, which knows nothing of the solver: all levels
//! rise together, one event after the other is looked for among all links and all bounds.

use flow::{Flow, FlowId, Fluid, Link, Sharing, Use};
use kernel::Random;
use units::Time;

/// Draws from one stream of random numbers.
struct Dice {
    random: Random,
    draws: u64,
}

impl Dice {
    fn unit(&mut self) -> f64 {
        self.draws += 1;
        self.random.unit(0, self.draws)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.draws += 1;
        self.random.below(0, self.draws, end)
    }

    /// Between two numbers, evenly in the logarithm.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.unit())
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// A flow as the naive solver sees it.
#[derive(Clone)]
struct Plan {
    at: u64,
    uses: Vec<Use>,
    penalty: f64,
    bound: f64,
    factor: f64,
    latency: u64,
    work: f64,
}

impl Plan {
    fn flow(&self) -> Flow<'_> {
        let Self { uses, penalty, bound, factor, work, .. } = self;
        let (penalty, bound, factor, work) = (*penalty, *bound, *factor, *work);
        Flow { uses, penalty, bound, factor, latency: Time::from_ps(self.latency), work }
    }

    /// Bytes on a link per byte of the rate.
    fn weight(&self, link: usize, sharing: Sharing) -> f64 {
        let weights =
            self.uses.iter().filter(|used| used.link as usize == link).map(|used| used.weight);
        match sharing {
            Sharing::Shared => weights.sum(),
            Sharing::FatPipe => weights.fold(0.0, f64::max),
        }
    }
}

/// The rates of flows by progressive filling.
fn fill(links: &[Link], flows: &[&Plan]) -> Vec<f64> {
    let weights: Vec<Vec<f64>> = flows
        .iter()
        .map(|flow| (0..links.len()).map(|l| flow.weight(l, links[l].sharing)).collect())
        .collect();
    let mut levels = vec![f64::INFINITY; flows.len()];
    loop {
        let rising: Vec<usize> = (0..flows.len()).filter(|&f| levels[f].is_infinite()).collect();
        if rising.is_empty() {
            break;
        }
        // The level at which each link would be full.
        let full: Vec<f64> = (0..links.len())
            .map(|l| {
                let shares = rising.iter().map(|&f| weights[f][l] / flows[f].penalty);
                if links[l].sharing == Sharing::FatPipe {
                    return links[l].bandwidth / shares.fold(0.0, f64::max);
                }
                let stopped = (0..flows.len()).filter(|&f| levels[f].is_finite());
                let used: f64 = stopped.map(|f| weights[f][l] * levels[f] / flows[f].penalty).sum();
                let share: f64 = shares.sum();
                if share > 0.0 {
                    (links[l].bandwidth - used).max(0.0) / share
                } else {
                    f64::INFINITY
                }
            })
            .collect();
        let bounds = rising.iter().map(|&f| flows[f].bound * flows[f].penalty);
        let least = full.iter().copied().chain(bounds).fold(f64::INFINITY, f64::min);
        assert!(least.is_finite());
        for &f in &rising {
            let on_full =
                (0..links.len()).any(|l| weights[f][l] > 0.0 && full[l] <= least * (1.0 + 1e-12));
            if on_full || flows[f].bound * flows[f].penalty <= least * (1.0 + 1e-12) {
                levels[f] = least;
            }
        }
    }
    levels.iter().zip(flows).map(|(level, flow)| level / flow.penalty).collect()
}

/// The end of each flow, in picoseconds.
fn run(links: &[Link], flows: &[Plan]) -> Vec<f64> {
    let mut left: Vec<f64> = flows.iter().map(|flow| flow.work).collect();
    let mut ends = vec![f64::NAN; flows.len()];
    let mut now = 0.0;
    while ends.iter().any(|end| end.is_nan()) {
        let begins = |f: usize| (flows[f].at + flows[f].latency) as f64;
        let active: Vec<usize> =
            (0..flows.len()).filter(|&f| ends[f].is_nan() && begins(f) <= now).collect();
        let plans: Vec<&Plan> = active.iter().map(|&f| &flows[f]).collect();
        let rates = fill(links, &plans);
        let speed: Vec<f64> =
            rates.iter().zip(&plans).map(|(rate, plan)| rate * plan.factor / 1e12).collect();
        let spans = active.iter().zip(&speed).map(|(&f, speed)| left[f] / speed);
        let starts = (0..flows.len()).map(begins).filter(|&at| at > now).map(|at| at - now);
        let span = spans.chain(starts.clone()).fold(f64::INFINITY, f64::min);
        for (&f, speed) in active.iter().zip(&speed) {
            left[f] -= speed * span;
            if left[f] <= 1e-12 * flows[f].work {
                ends[f] = now + span;
            }
        }
        // A start is hit exactly.
        let next = starts.fold(f64::INFINITY, f64::min);
        now = if next <= span {
            (0..flows.len()).map(begins).filter(|&at| at > now).fold(f64::INFINITY, f64::min)
        } else {
            now + span
        };
    }
    ends
}

/// A system of a random size, at most `scale` times a small one; times are seconds, so that a
/// picosecond is below the tolerance.
fn system(dice: &mut Dice, scale: u64) -> (Vec<Link>, Vec<Plan>) {
    let links = 1 + dice.below(8 * scale) as usize;
    let even = dice.one_in(3);
    let fat = dice.one_in(2);
    let links: Vec<Link> = (0..links)
        .map(|_| Link {
            bandwidth: if even { 1.0 } else { dice.between(0.1, 10.0) },
            sharing: if fat && dice.one_in(4) { Sharing::FatPipe } else { Sharing::Shared },
        })
        .collect();
    let bursts = 1 + dice.below(4);
    let mut flows: Vec<Plan> = Vec::new();
    for burst in 0..bursts {
        for _ in 0..=dice.below(12 * scale) {
            if !flows.is_empty() && dice.one_in(4) {
                // Identical to an earlier one, but for the time and perhaps the work.
                let mut twin = flows[dice.below(flows.len() as u64) as usize].clone();
                twin.at = burst * 700_000_000_000;
                twin.work *= if dice.one_in(2) { 1.0 } else { dice.between(0.1, 10.0) };
                flows.push(twin);
                continue;
            }
            let uses = (0..=dice.below(5))
                .map(|_| Use {
                    link: dice.below(links.len() as u64) as u32,
                    weight: if dice.one_in(3) { 0.05 } else { 1.0 },
                })
                .collect();
            flows.push(Plan {
                at: burst * 700_000_000_000,
                uses,
                penalty: if even { 1.0 } else { dice.between(0.01, 100.0) },
                bound: if dice.one_in(3) { dice.between(0.01, 10.0) } else { f64::INFINITY },
                factor: if dice.one_in(2) { 1.0 } else { dice.between(0.3, 1.2) },
                latency: if dice.one_in(2) { 0 } else { dice.below(2_000_000_000_000) },
                work: if even { 1.0 } else { dice.between(0.1, 10.0) },
            });
        }
    }
    (links, flows)
}

/// Hosts around a backbone that is full most of the time, messages one after the other; sometimes
/// something else is full, too.
fn cluster(dice: &mut Dice) -> (Vec<Link>, Vec<Plan>) {
    let hosts = 3 + dice.below(8) as u32;
    let slow = dice.one_in(2);
    let shared = |bandwidth| Link { bandwidth, sharing: Sharing::Shared };
    let mut links: Vec<Link> = (0..2 * hosts)
        .map(|_| shared(if slow && dice.one_in(6) { dice.between(0.05, 0.5) } else { 3.0 }))
        .collect();
    links.push(shared(1.0));
    let mut at = 0;
    let flows = (0..20 + dice.below(60)).map(|_| {
        at += if dice.one_in(3) { dice.below(900_000_000_000) } else { 0 };
        let (from, to) = (dice.below(hosts.into()) as u32, dice.below(hosts.into()) as u32);
        let there = [2 * from, 2 * hosts, 2 * to + 1].map(|link| Use { link, weight: 1.0 });
        let back = [2 * to, 2 * hosts, 2 * from + 1].map(|link| Use { link, weight: 0.05 });
        let local = dice.one_in(20);
        Plan {
            at,
            uses: if local { vec![there[0]] } else { there.into_iter().chain(back).collect() },
            penalty: if dice.one_in(4) { 2.0 } else { 1.0 },
            bound: if slow && dice.one_in(5) { dice.between(0.01, 1.0) } else { 3.0 },
            factor: 1.0,
            latency: if dice.one_in(2) { 0 } else { dice.below(2_000_000_000_000) },
            work: dice.between(0.1, 1.0),
        }
    });
    let flows = flows.collect();
    (links, flows)
}

/// Hosts behind two switches, everyone to everyone, one message after the other: each start and
/// each end moves most levels.
fn staggered(dice: &mut Dice) -> (Vec<Link>, Vec<Plan>) {
    let hosts = 10 + 2 * dice.below(2) as u32;
    let shared = |bandwidth| Link { bandwidth, sharing: Sharing::Shared };
    let uneven = dice.one_in(2);
    let mut links: Vec<Link> =
        (0..2 * hosts).map(|_| shared(if uneven { dice.between(0.5, 2.0) } else { 1.0 })).collect();
    // Between the switches, either way.
    let trunk = dice.between(1.0, 8.0);
    links.extend([shared(trunk), shared(trunk)]);
    let bounded = dice.one_in(2);
    let mut flows = Vec::new();
    for step in 1..hosts {
        for from in 0..hosts {
            let to = (from + step) % hosts;
            let (up, down) = (2 * from, 2 * to + 1);
            let side = |host: u32| host / (hosts / 2);
            let mut uses: Vec<Use> = [up, down].map(|link| Use { link, weight: 1.0 }).to_vec();
            let back = [2 * to, 2 * from + 1];
            uses.extend(back.map(|link| Use { link, weight: 0.05 }));
            if side(from) != side(to) {
                uses.push(Use { link: 2 * hosts + side(from), weight: 1.0 });
                uses.push(Use { link: 2 * hosts + side(to), weight: 0.05 });
            }
            flows.push(Plan {
                at: u64::from(step) * 300_000_000_000,
                penalty: if side(from) == side(to) { 1.0 } else { 1.5 },
                uses,
                bound: if bounded && dice.one_in(4) { dice.between(0.02, 1.0) } else { 1.0 },
                factor: 1.0,
                latency: 0,
                work: if uneven { dice.between(0.5, 2.0) } else { 1.0 },
            });
        }
    }
    (links, flows)
}

fn close(ours: f64, theirs: f64) -> bool {
    (ours - theirs).abs() <= 1e-9 * theirs
}

/// Compares the rates after every event, and all ends.
fn compare(seed: u64, draw: impl Fn(&mut Dice) -> (Vec<Link>, Vec<Plan>)) {
    let mut dice = Dice { random: Random::new(seed, 7), draws: 0 };
    let (links, plans) = draw(&mut dice);
    let mut fluid = Fluid::new(links.iter().copied());
    let mut ids: Vec<Option<FlowId>> = vec![None; plans.len()];
    let mut ended = vec![f64::NAN; plans.len()];
    let mut started = 0;
    let mut done = Vec::new();
    loop {
        let post = plans.get(started).map(|plan| Time::from_ps(plan.at));
        let event = fluid.next_event();
        let Some(now) = post.into_iter().chain(event).min() else { break };
        if event == Some(now) {
            done.clear();
            fluid.advance(now, &mut done);
            for &token in &done {
                ended[token as usize] = now.ps() as f64;
                ids[token as usize] = None;
            }
        }
        while let Some(plan) = plans.get(started).filter(|plan| plan.at == now.ps()) {
            ids[started] = Some(fluid.start(now, &plan.flow(), started as u32));
            started += 1;
        }
        let active: Vec<usize> = (0..started)
            .filter(|&f| ids[f].is_some() && plans[f].at + plans[f].latency <= now.ps())
            .collect();
        let rates = fill(&links, &active.iter().map(|&f| &plans[f]).collect::<Vec<_>>());
        let mut loads = vec![0.0; links.len()];
        for (&f, &rate) in active.iter().zip(&rates) {
            let ours = fluid.rate(ids[f].unwrap());
            assert!(close(ours, rate), "seed {seed}, at {now}: flow {f} has {ours}, not {rate}");
            for (link, load) in loads.iter_mut().enumerate() {
                *load += plans[f].weight(link, links[link].sharing) * rate;
            }
        }
        for (link, load) in loads.iter().enumerate() {
            let ours = fluid.load(link as u32);
            assert!(
                (ours - load).abs() <= 1e-9 * links[link].bandwidth,
                "seed {seed}, at {now}: link {link} carries {ours}, not {load}"
            );
        }
    }
    for (flow, (ours, theirs)) in ended.iter().zip(run(&links, &plans)).enumerate() {
        // The end is rounded up to a picosecond.
        assert!(
            (ours - theirs).abs() <= 1e-9 * theirs + 1.0,
            "seed {seed}: flow {flow} ends at {ours}, not {theirs}"
        );
    }
}

#[test]
fn random_systems_are_filled_as_the_naive_solver_fills_them() {
    for seed in 0..3000 {
        compare(seed, |dice| system(dice, 1));
    }
    for seed in 3000..3012 {
        compare(seed, |dice| system(dice, 8));
    }
}

#[test]
fn changes_that_are_confined_to_a_backbone_are_right_as_well() {
    for seed in 0..250 {
        compare(seed, cluster);
    }
}

#[test]
fn changes_that_go_through_most_of_the_system_are_right_as_well() {
    for seed in 0..60 {
        compare(seed, staggered);
    }
}

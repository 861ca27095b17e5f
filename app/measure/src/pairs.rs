//! Measurements between pairs among many hosts: the choice of pairs, the rounds in which they
//! measure, and the session.
//!
//! The pairs of a round are disjoint and measure at the same time. All hosts take part in every
//! run, so that a run has all rounds, one after the other.

use std::{
    collections::BTreeMap,
    str::FromStr,
    time::{Duration, Instant},
};

use kernel::Random;

use crate::{
    plan::{self, CALLS, PAIRS, Plan, Step},
    session::{Error, Extent, Session, header},
};

/// The purpose of the random numbers that choose pairs.
const CHOICE: u32 = 8;

/// The places of two ranks, the smaller first. A rank stands for its host.
pub type Pair = [u32; 2];

/// The steps of a pair with their times and when they began, in nanoseconds.
pub type Times = Vec<(Step, f64, f64)>;

/// The pairs that measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Each host with the next, and the last with the first.
    Ring,
    /// So many pairs at random, in as few rounds as possible.
    Sample(u32),
    /// All of them.
    All,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = |text: &str| text.parse().ok().filter(|count| *count > 0);
        match text.split_once(':') {
            None if text == "ring" => Ok(Self::Ring),
            None if text == "all" => Ok(Self::All),
            Some(("sample", rest)) => count(rest).map(Self::Sample).ok_or_else(|| {
                format!("expected the number of pairs, such as sample:100, found `{rest}`")
            }),
            _ => Err(format!("expected ring, sample:N or all, found `{text}`")),
        }
    }
}

/// Returns the rounds in which the chosen pairs of `hosts` hosts measure.
pub fn rounds(choice: Choice, hosts: u32) -> Vec<Vec<Pair>> {
    match choice {
        Choice::Ring => ring(hosts),
        Choice::All => all(hosts),
        Choice::Sample(count) => sample(count as usize, hosts),
    }
}

fn ordered(one: u32, other: u32) -> Pair {
    [one.min(other), one.max(other)]
}

fn ring(hosts: u32) -> Vec<Vec<Pair>> {
    let (even, odd): (Vec<u32>, Vec<u32>) =
        (0..hosts.saturating_sub(1)).partition(|first| first % 2 == 0);
    let pairs = |firsts: Vec<u32>| firsts.into_iter().map(|first| [first, first + 1]).collect();
    let mut rounds: Vec<Vec<Pair>> = vec![pairs(even), pairs(odd)];
    if hosts > 2 {
        // Of an odd number of hosts, both ends of the last pair measure in both other rounds.
        let last = if hosts.is_multiple_of(2) { 1 } else { 2 };
        rounds.resize_with(last + 1, Vec::new);
        rounds[last].push([0, hosts - 1]);
    }
    rounds.retain(|round| !round.is_empty());
    rounds
}

/// The circle method: one host stays, and the others move on by a place from round to round. With
/// an odd number of hosts, the partner of the one that stays has nothing to do.
fn all(hosts: u32) -> Vec<Vec<Pair>> {
    let others = (hosts.max(1) - 1) | 1;
    let round = |turn: u32| {
        let at = |place: u32| (turn + place) % others;
        let fixed = (others < hosts).then(|| ordered(at(0), others));
        let facing = (1..=others / 2).map(|place| ordered(at(place), at(others - place)));
        fixed.into_iter().chain(facing).collect()
    };
    if hosts < 2 { Vec::new() } else { (0..others).map(round).collect() }
}

/// Rounds of all pairs in a random order of the hosts, up to so many pairs.
fn sample(count: usize, hosts: u32) -> Vec<Vec<Pair>> {
    let random = Random::new(u64::from(hosts), CHOICE);
    let shuffled = |length: usize, entity: u32| {
        let mut order: Vec<usize> = (0..length).collect();
        for place in (1..length).rev() {
            let other = random.below(entity, place as u64, place as u64 + 1) as usize;
            order.swap(place, other);
        }
        order
    };
    let names = shuffled(hosts as usize, 0);
    let name = |host: u32| names[host as usize] as u32;
    let all = all(hosts);
    let mut left = count;
    let mut rounds = Vec::new();
    for turn in shuffled(all.len(), 1) {
        let round: Vec<Pair> = all[turn]
            .iter()
            .take(left)
            .map(|[one, other]| ordered(name(*one), name(*other)))
            .collect();
        left -= round.len();
        if round.is_empty() {
            break;
        }
        rounds.push(round);
    }
    rounds
}

/// Carries out runs between pairs of hosts. Each run is a fresh start of a job.
pub trait PairProber {
    /// Starts the job to learn the names of the hosts, by place.
    fn hosts(&mut self) -> Result<Vec<String>, Error>;
    /// Carries out the steps for all pairs, and returns the name of what carried the messages, and
    /// the times of each pair. A pair begins no repetition but the first when its time is over.
    fn run(
        &mut self,
        steps: &[Step],
        time: Option<Duration>,
        rounds: &[Vec<Pair>],
    ) -> Result<(String, Vec<(Pair, Times)>), Error>;
}

/// The extent of a session as it is known before it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The number of hosts.
    pub hosts: usize,
    /// The number of pairs.
    pub pairs: usize,
    /// The number of rounds.
    pub rounds: usize,
    /// The number of starts of the job, the pilot run and those of one pair alone included.
    pub starts: u32,
    /// The time that all of it is going to take, in seconds: what was asked for each round and for
    /// one pair alone, and starts that take as long as the one that told the hosts.
    pub seconds: f64,
}

/// Measures the chosen pairs in as many runs as were asked for; `extent.seconds` is the time of
/// each round in all runs together. `announce` hears what is going to happen before it does. All
/// pairs measure round trips. Then the pair that `typical` names, from the samples until then,
/// measures by itself in as many further runs what calls cost.
pub fn measure(
    prober: &mut dyn PairProber,
    choice: Choice,
    extent: Extent,
    announce: &mut dyn FnMut(Forecast),
    typical: &mut dyn FnMut(&str) -> Option<[String; 2]>,
) -> Result<Session, Error> {
    let start = Instant::now();
    let hosts = prober.hosts()?;
    let each = start.elapsed().as_secs_f64();
    let count = u32::try_from(hosts.len()).unwrap_or(u32::MAX);
    let rounds = rounds(choice, count);
    if rounds.is_empty() {
        return Err(Error::Alone(hosts.len()));
    }
    let pairs = rounds.iter().map(Vec::len).sum();
    let starts = 2 * extent.runs + 1;
    let seconds = extent.seconds * (rounds.len() + 1) as f64 + f64::from(starts) * each;
    announce(Forecast { hosts: hosts.len(), pairs, rounds: rounds.len(), starts, seconds });
    let (library, pilot) = prober.run(&plan::pilot(), extent.of_pilot(), &rounds)?;
    let length = extent.seconds * 1e9 / f64::from(extent.runs);
    let time = Some(Duration::from_secs_f64(length / 1e9));
    let pilots = || pilot.iter().map(|(_, times)| times.as_slice());
    let plan = Plan::of_pairs(pilots(), PAIRS, length);
    // Hosts are told apart by their places: several ranks may be on one.
    let labels: Vec<String> =
        hosts.iter().enumerate().map(|(place, name)| format!("{place}:{name}")).collect();
    let label = |place: u32| labels.get(place as usize).map_or("", String::as_str);
    let mut session = Session {
        samples: header(),
        library,
        repetitions: plan.repetitions,
        largest: plan.largest,
        ..Session::default()
    };
    for run in 0..extent.runs {
        let found: BTreeMap<Pair, Times> =
            prober.run(&plan.run(run), time, &rounds)?.1.into_iter().collect();
        for (pair, times) in found {
            session.planned += u64::from(plan.repetitions);
            session.add(run, &times, pair.map(label));
        }
        session.runs += 1;
    }
    let names = typical(&session.samples);
    let is_typical = |(pair, _): &&(Pair, Times)| {
        names.as_ref().is_some_and(|[one, other]| pair.map(label) == [one, other])
    };
    if let Some((pair, times)) = pilot.iter().find(is_typical) {
        let plan = Plan::of_pairs([times.as_slice()].into_iter(), CALLS, length);
        for run in 0..extent.runs {
            for (pair, times) in prober.run(&plan.run(run), time, &[vec![*pair]])?.1 {
                session.planned += u64::from(plan.repetitions);
                session.add(extent.runs + run, &times, pair.map(label));
            }
        }
    }
    session.leave_out_free_receives();
    Ok(session)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use samples::Operation;

    use super::*;

    /// Each chosen pair measures once, and no host twice in a round.
    fn check(rounds: &[Vec<Pair>]) -> BTreeSet<Pair> {
        let mut pairs = BTreeSet::new();
        for round in rounds {
            let mut busy = BTreeSet::new();
            for pair in round {
                assert!(pair[0] < pair[1], "{pair:?}");
                assert!(pair.iter().all(|host| busy.insert(*host)), "{round:?}");
                assert!(pairs.insert(*pair), "{pair:?} twice");
            }
        }
        pairs
    }

    /// n (n-1) / 2 pairs take n - 1 rounds if n is even, and n if it is odd.
    #[test]
    fn all_pairs_in_the_least_rounds() {
        assert_eq!(all(1), Vec::<Vec<Pair>>::new());
        for hosts in 2..20 {
            let rounds = all(hosts);
            assert_eq!(check(&rounds).len() as u32, hosts * (hosts - 1) / 2);
            assert_eq!(rounds.len() as u32, if hosts % 2 == 0 { hosts - 1 } else { hosts });
        }
    }

    #[test]
    fn rings() {
        assert_eq!(ring(2), [[[0, 1]]]);
        assert_eq!(ring(4), [vec![[0, 1], [2, 3]], vec![[1, 2], [0, 3]]]);
        assert_eq!(ring(3), [vec![[0, 1]], vec![[1, 2]], vec![[0, 2]]]);
        for hosts in 3..20 {
            assert_eq!(check(&ring(hosts)).len() as u32, hosts);
            assert_eq!(ring(hosts).len() as u32, 2 + hosts % 2);
        }
    }

    /// Of 10 hosts, 12 pairs fit into three rounds of at most 5, in which every host measures;
    /// there are 45 pairs and no more.
    #[test]
    fn samples_are_distinct() {
        let rounds = sample(12, 10);
        let pairs = check(&rounds);
        assert_eq!((pairs.len(), rounds.len()), (12, 3));
        assert_eq!(pairs.iter().flatten().collect::<BTreeSet<_>>().len(), 10);
        assert_eq!(check(&sample(1000, 10)).len(), 45);
    }

    #[test]
    fn choices_are_words() {
        assert_eq!("ring".parse(), Ok(Choice::Ring));
        assert_eq!("sample:12".parse(), Ok(Choice::Sample(12)));
        for wrong in ["sample", "sample:0", "sample:x", "every", "all:3"] {
            assert!(wrong.parse::<Choice>().is_err(), "{wrong}");
        }
    }

    /// Hosts whose pairs take 10 us, or 50 us if one of them is host 3.
    struct Far {
        runs: u32,
    }

    impl PairProber for Far {
        fn hosts(&mut self) -> Result<Vec<String>, Error> {
            Ok(["a", "b", "b", "c"].map(str::to_owned).to_vec())
        }

        fn run(
            &mut self,
            steps: &[Step],
            _: Option<Duration>,
            rounds: &[Vec<Pair>],
        ) -> Result<(String, Vec<(Pair, Times)>), Error> {
            self.runs += 1;
            let time = |pair: &Pair, step: &Step| {
                let base = if pair[1] == 3 { 50_000.0 } else { 10_000.0 };
                base + f64::from(step.messages) * step.bytes as f64 + step.wait as f64
            };
            let of = |pair: &Pair| {
                let kept = steps.iter().filter(|step| step.repetition.is_some());
                (*pair, kept.map(|step| (step.clone(), time(pair, step), 0.0)).collect())
            };
            Ok(("simple".to_owned(), rounds.iter().flatten().map(of).collect()))
        }
    }

    /// The course is known before: of 4 hosts there are 6 pairs in 3 rounds of 0.2 s each, and one
    /// of them alone takes as long. Samples name their hosts by place. All pairs have the steps
    /// that fit the slowest. The pair that was named measures calls, in further runs.
    #[test]
    fn a_session_of_pairs() {
        let (mut prober, mut heard) = (Far { runs: 0 }, Vec::new());
        let extent = Extent { runs: 2, seconds: 0.2 };
        let mut typical = |samples: &str| {
            assert!(samples.contains(",0,0,") && !samples.contains("send"));
            Some(["1:b", "2:b"].map(str::to_owned))
        };
        let session =
            measure(&mut prober, Choice::All, extent, &mut |it| heard.push(it), &mut typical)
                .expect("a session");
        let [Forecast { hosts, pairs, rounds, starts, seconds }] = heard[..] else {
            panic!("{heard:?}");
        };
        assert_eq!((hosts, pairs, rounds, starts), (4, 6, 3, 5));
        assert!((0.8..0.9).contains(&seconds), "{seconds}");
        assert_eq!((prober.runs, session.runs), (5, 2));
        assert!(session.samples.starts_with(&header()));
        let lines = |text: &str| session.samples.matches(text).count();
        assert_eq!(lines(",0:a,1:b,"), lines(",2:b,3:c,"));
        assert!(lines(",2:b,3:c,") > 100 && lines(",1:b,0:a,") == 0);
        let is_call = |line: &&str| !line.starts_with("prtt") && !line.starts_with("operation");
        let calls: Vec<&str> = session.samples.lines().filter(is_call).collect();
        assert!(calls.iter().all(|line| line.contains(",1:b,2:b,")), "{calls:?}");
        for operation in CALLS {
            for run in 2..4 {
                let is_it = |line: &&&str| {
                    let mut fields = line.split(',');
                    fields.next() == Some(&operation.to_string())
                        && fields.nth(3) == Some(&run.to_string())
                };
                assert!(calls.iter().filter(is_it).count() > 20, "{operation} {run}");
            }
        }
        // If nothing is typical, there are no calls.
        let session = measure(&mut prober, Choice::Ring, extent, &mut |_| (), &mut |_| None);
        assert!(!session.expect("a session").samples.contains(&Operation::Send.to_string()));
    }
}

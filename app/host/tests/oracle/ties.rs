//! The order of a send and a message that become possible at the same instant: how often
//! the default order ends like LogGOPSim's insertion order, and how often another choice would.

use host::{Rendezvous, SendDone};
use loggops::{Costs, Inject, Parameters};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use schedule::Program;
use units::TimePerByte;

use crate::oracle::loggopsim;
use crate::oracle::programs::{Variety, image, schedules};
use crate::oracle::rules::{self, Rules, ps};

const EAGER: Variety =
    Variety { resources: 1, odd: false, roomy: true, sizes: &[1, 2, 3, 5], steps: 40 };

/// Finish times by the default rules, if a message's cause is the start of its send or the
/// injection.
fn by_default(program: &impl Program, p: loggopsim::Parameters, injection: bool) -> Vec<u64> {
    let rate = |ps| TimePerByte::new(ps, 1).expect("one byte");
    let costs = Costs {
        latency: ps(p.latency),
        send_overhead: ps(p.overhead),
        receive_overhead: ps(p.overhead),
        gap: ps(p.gap),
        gap_per_byte: rate(p.gap_per_byte),
        send_overhead_per_byte: rate(p.overhead_per_byte),
        receive_overhead_per_byte: rate(p.overhead_per_byte),
    };
    let (eager_limit, inject) = (p.eager_limit, Inject::End);
    let rules = Rules {
        parameters: Parameters {
            small: costs,
            large: costs,
            local: costs,
            eager_limit,
            inject,
            ..Parameters::default()
        },
        rendezvous: Rendezvous::Abstract,
        send_done: SendDone::Overhead,
        time_unit: 1,
        noise: &|_, _, _| 0,
        caused_by_injection: injection,
    };
    rules::simulate(program, rules).finish
}

/// Of 10 000 such schedules, 81 % have LogGOPSim's makespan if the start of the send counts, and
/// 77 % if the injection does.
#[test]
fn the_start_of_the_send_is_closer_to_loggopsim_than_the_injection() {
    const CASES: u32 = 1_000;
    let mut runner = TestRunner::deterministic();
    let times = (0..6u64, 0..4u64, 0..5u64, 0..3u64, 0..3u64);
    let strategy = (schedules(EAGER), times);
    let mut equal = [0u32; 2];
    for _ in 0..CASES {
        let case = strategy.new_tree(&mut runner).expect("nothing is rejected").current();
        let (text, (latency, overhead, gap, gap_per_byte, overhead_per_byte)) = case;
        let parameters = loggopsim::Parameters {
            latency,
            overhead,
            gap,
            gap_per_byte,
            overhead_per_byte,
            eager_limit: 100,
        };
        let program = image(&text);
        let literal = loggopsim::simulate(&program, parameters, &|_, _, _| 0).finish;
        for (injection, equal) in [false, true].into_iter().zip(&mut equal) {
            let finish = by_default(&program, parameters, injection);
            *equal += u32::from(finish.iter().max() == literal.iter().max());
        }
    }
    assert!(equal[0] > equal[1] && equal[0] > CASES * 3 / 4, "{equal:?} of {CASES}");
}

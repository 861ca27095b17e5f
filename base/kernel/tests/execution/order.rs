//! Access to what processes have in common, in one order.

use std::sync::Mutex;

use kernel::{
    Config, Event, Model, Next, Outbox, TransportKind, Wire, execute, wait_for_those_before,
};
use units::Time;

#[derive(Clone, Copy)]
pub struct Nothing;

impl Wire for Nothing {
    fn encode(&self, _: &mut Vec<u8>) {}
    fn decode(_: &mut &[u8]) -> Option<Self> {
        Some(Self)
    }
}

const TIMES: u64 = 40;

/// Processes that note, now and again, that they run.
#[derive(Default)]
pub struct Notes(pub Mutex<Vec<(Time, u32)>>);

impl Model for Notes {
    type Process = u64;
    type Message = Nothing;
    type Worker = ();

    fn process(&self, _: u32) -> u64 {
        0
    }

    fn lookahead(&self) -> Time {
        Time::from_ps(10)
    }

    /// The lower its number, the longer a process takes.
    fn run(
        &self,
        id: u32,
        times: &mut u64,
        until: Time,
        _: &[Event<Nothing>],
        (): &mut (),
        _: &mut Outbox<Nothing>,
    ) -> Next {
        let slow = 20_u64.saturating_sub(id.into());
        std::thread::sleep(std::time::Duration::from_micros(10 * slow));
        wait_for_those_before();
        self.0.lock().unwrap().push((until, id));
        *times += 1;
        let next =
            if *times < TIMES { Time::from_ps(*times * (7 + u64::from(id))) } else { Time::MAX };
        Next { time: next.max(until), urgent: false }
    }
}

/// One after the other in each window, in the order of their numbers.
#[test]
fn those_before_run_before() {
    let notes = |workers| {
        let model = Notes::default();
        let config = Config { workers, transport: TransportKind::Shared };
        execute(&model, 13, config, || ()).expect("no overflow");
        model.0.into_inner().unwrap()
    };
    let expected = notes(1);
    assert!(expected.is_sorted());
    assert_eq!(expected.len() as u64, 13 * TIMES);
    for workers in [2, 3, 13] {
        assert_eq!(notes(workers), expected, "{workers}");
    }
}

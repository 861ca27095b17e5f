//! Tests that messages reported as unmatched are unmatched in every order of events.

use proptest::prelude::*;

use super::*;

fn end(source: u32, tag: u32) -> End {
    End { source, tag, index: 0, size: 0 }
}

/// Messages and receives of few sources and tags, so that many could meet.
fn ends(wild_sources: bool) -> impl Strategy<Value = Vec<End>> {
    let sources = if wild_sources { vec![0, 1, ANY] } else { vec![0, 1] };
    let one = (prop::sample::select(sources), prop::sample::select(vec![0, 1, ANY]));
    let sort = |mut ends: Vec<End>| {
        ends.sort_by_key(End::channel);
        ends
    };
    prop::collection::vec(one.prop_map(|(source, tag)| end(source, tag)), 0..8).prop_map(sort)
}

fn can_meet(send: End, receive: End) -> bool {
    (receive.source == ANY || receive.source == send.source)
        && (receive.tag == ANY || send.tag == ANY || receive.tag == send.tag)
}

/// The largest number of pairs, by augmenting paths.
fn pairs(sends: &[End], receives: &[End]) -> usize {
    let mut taken = vec![None; receives.len()];
    let augment = |send, taken: &mut Vec<_>| {
        place(send, sends, receives, &mut vec![false; receives.len()], taken)
    };
    (0..sends.len()).filter(|send| augment(*send, &mut taken)).count()
}

fn place(
    send: usize,
    sends: &[End],
    receives: &[End],
    seen: &mut [bool],
    taken: &mut Vec<Option<usize>>,
) -> bool {
    (0..receives.len()).any(|receive| {
        if seen[receive] || !can_meet(sends[send], receives[receive]) {
            return false;
        }
        seen[receive] = true;
        let free = taken[receive].is_none_or(|other| place(other, sends, receives, seen, taken));
        if free {
            taken[receive] = Some(send);
        }
        free
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn only_what_can_certainly_not_match_is_reported(sends in ends(false), receives in ends(true)) {
        let mut findings = Findings::default();
        let mut destination = Destination::new(0, &sends, &receives, &mut findings);
        destination.check();
        let (lost, starving) = destination.unmatched;
        let matched = pairs(&sends, &receives);
        prop_assert!(lost as usize <= sends.len() - matched);
        prop_assert!(starving as usize <= receives.len() - matched);
    }

    /// Without wildcards the numbers are exact.
    #[test]
    fn without_wildcards_all_is_reported(sends in ends(false), receives in ends(false)) {
        let exact =
            |ends: &[End]| ends.iter().copied().filter(|end| end.tag != ANY).collect::<Vec<_>>();
        let (sends, receives) = (exact(&sends), exact(&receives));
        let mut findings = Findings::default();
        let mut destination = Destination::new(0, &sends, &receives, &mut findings);
        destination.check();
        let matched = pairs(&sends, &receives);
        prop_assert_eq!(destination.unmatched.0 as usize, sends.len() - matched);
        prop_assert_eq!(destination.unmatched.1 as usize, receives.len() - matched);
    }
}

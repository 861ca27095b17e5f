//! Frames leave, arrive and are dropped as computed by hand.
//!
//! A frame of 1514 bytes takes the wire for 1514 + 24 = 1538 bytes: 12.304 us at 1 Gb/s (8 ns per
//! byte), 123.04 us at 100 Mb/s. One of 42 bytes (ARP) is filled up to 60 and takes 84 bytes:
//! 672 ns at 1 Gb/s.

use shaper::{Link, Offer};
use units::{Bandwidth, Time};

const QUEUE: u64 = 256 << 10;

fn ns(ns: u64) -> Time {
    Time::from_ps(ns * 1000)
}

fn rate(text: &str) -> Bandwidth {
    text.parse().expect("a rate")
}

/// A of the rig.
fn fast() -> Link<u32> {
    Link::new(rate("1 Gb/s"), ns(50_000), QUEUE)
}

fn offered(link: &mut Link<u32>, now: u64, length: u64, content: u32) -> Offer {
    link.offer(ns(now), length, content).0
}

#[test]
fn a_frame_takes_the_wire_and_the_delay() {
    let mut link = fast();
    // 1000 + 12 304 + 50 000.
    assert_eq!(offered(&mut link, 1000, 1514, 7), Offer::Arrives(ns(63_304)));
    assert_eq!(link.next_arrival(), Some(ns(63_304)));
    assert_eq!(link.take(ns(63_303)), None);
    assert_eq!(link.take(ns(63_304)), Some((ns(63_304), 7)));
    assert_eq!(link.next_arrival(), None);
}

#[test]
fn a_short_frame_is_filled_up() {
    let mut link = fast();
    assert_eq!(offered(&mut link, 0, 42, 0), Offer::Arrives(ns(50_672)));
    assert_eq!(offered(&mut link, 672, 60, 0), Offer::Arrives(ns(51_344)));
    // 61 + 24 bytes.
    assert_eq!(offered(&mut link, 1344, 61, 0), Offer::Arrives(ns(52_024)));
}

#[test]
fn frames_wait_for_those_before() {
    let mut link = fast();
    assert_eq!(offered(&mut link, 0, 1514, 0), Offer::Arrives(ns(62_304)));
    // It leaves at 2 × 12 304, the next one at 3 × 12 304.
    assert_eq!(offered(&mut link, 5, 1514, 1), Offer::Arrives(ns(74_608)));
    assert_eq!(offered(&mut link, 20_000, 1514, 2), Offer::Arrives(ns(86_912)));
    // The wire has been idle since 36 912.
    assert_eq!(offered(&mut link, 40_000, 1514, 3), Offer::Arrives(ns(102_304)));
    // All arrive in order, however late one looks.
    let taken: Vec<_> = std::iter::from_fn(|| link.take(ns(1_000_000))).collect();
    let due = [62_304, 74_608, 86_912, 102_304].map(ns);
    assert_eq!(taken, due.into_iter().zip(0..).collect::<Vec<_>>());
}

/// 262 144 / 1514 = 173.1: the frame on the wire counts until it has left.
#[test]
fn the_queue_drops_what_does_not_fit() {
    let mut link = fast();
    for frame in 0..173 {
        assert!(matches!(offered(&mut link, 0, 1514, frame), Offer::Arrives(_)), "{frame}");
    }
    // 173 × 1514 = 261 922: 222 bytes fit, no more.
    assert_eq!(link.offer(ns(0), 223, 8), (Offer::Dropped, Some(8)));
    // 173 × 12 304 + (222 + 24) × 8 + 50 000.
    assert_eq!(offered(&mut link, 0, 222, 9), Offer::Arrives(ns(2_180_560)));
    assert_eq!(offered(&mut link, 12_303, 1514, 0), Offer::Dropped);
    // Another frame fits as soon as the first has left, although it has not arrived.
    assert!(matches!(offered(&mut link, 12_304, 1514, 0), Offer::Arrives(_)));
    assert_eq!(offered(&mut link, 12_304, 1514, 0), Offer::Dropped);
}

#[test]
fn a_slower_rate_holds_from_now_on() {
    let mut link = fast();
    for frame in 0..3 {
        offered(&mut link, 0, 1514, frame);
    }
    // The first has left at 12 304 and is under way. Of the second, 8 608 ns are left at 16 000,
    // which become 86 080; the third takes 123 040.
    link.set_rate(ns(16_000), rate("100 Mb/s"));
    let due = [62_304, 16_000 + 86_080 + 50_000, 16_000 + 86_080 + 123_040 + 50_000];
    assert_eq!(link.take(ns(62_304)), Some((ns(due[0]), 0)));
    assert_eq!(link.next_arrival(), Some(ns(due[1])));
    assert_eq!(offered(&mut link, 100_000, 1514, 3), Offer::Arrives(ns(due[2] + 123_040)));
    assert_eq!(link.take(ns(due[1])), Some((ns(due[1]), 1)));
    assert_eq!(link.take(ns(due[2])), Some((ns(due[2]), 2)));
}

#[test]
fn a_faster_rate_holds_from_now_on() {
    let mut link = Link::new(rate("100 Mb/s"), ns(200_000), QUEUE);
    for frame in 0..2 {
        offered(&mut link, 0, 1514, frame);
    }
    // 23 040 ns are left of the first, which become 2304; the second takes 12 304.
    link.set_rate(ns(100_000), rate("1 Gb/s"));
    assert_eq!(link.take(ns(302_304)), Some((ns(302_304), 0)));
    assert_eq!(link.next_arrival(), Some(ns(314_608)));
    // An idle link takes a new rate, too.
    assert_eq!(link.take(ns(400_000)), Some((ns(314_608), 1)));
    link.set_rate(ns(400_000), rate("10 Mb/s"));
    assert_eq!(offered(&mut link, 400_000, 1514, 2), Offer::Arrives(ns(400_000 + 1_430_400)));
}

#[test]
fn a_link_that_is_down_loses_frames() {
    let mut link = fast();
    for frame in 0..3 {
        offered(&mut link, 0, 1514, frame);
    }
    // The first has left; the second is on the wire, the third waits.
    assert_eq!(link.take_down(ns(13_000)), 2);
    assert_eq!(link.offer(ns(14_000), 1514, 4), (Offer::Lost, Some(4)));
    assert_eq!(link.take(ns(62_304)), Some((ns(62_304), 0)));
    assert_eq!(link.next_arrival(), None);
    link.bring_up();
    assert_eq!(offered(&mut link, 70_000, 1514, 5), Offer::Arrives(ns(132_304)));
    // The queue is as empty as at the start.
    for frame in 0..172 {
        assert!(matches!(offered(&mut link, 70_000, 1514, frame), Offer::Arrives(_)), "{frame}");
    }
    assert_eq!(offered(&mut link, 70_000, 1514, 5), Offer::Dropped);
}

/// With TCP's 1448 bytes per frame, a full wire carries 1448 / 12.304 us = 117.69 MB/s.
#[test]
fn a_full_wire_carries_its_rate() {
    let mut link = fast();
    let mut arrival = Time::ZERO;
    for frame in 0..100_000 {
        let now = arrival.saturating_sub(ns(1_000_000));
        if let Offer::Arrives(time) = link.offer(now, 1514, frame).0 {
            arrival = time;
        }
        while link.take(now).is_some() {}
    }
    assert_eq!(arrival, ns(100_000 * 12_304 + 50_000));
}

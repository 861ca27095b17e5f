//! The binary format: what is written is read, and what was cut off is missed, not more.

use calls::{CSV, Field, Neighbours, Table};
use proptest::prelude::*;
use traces::definitions::{Communicator, Group, Offset};
use traces::format::{Header, Reader, Unit, Writer};
use traces::record::Record;

fn header(unit: Unit) -> Header {
    Header {
        unit,
        rank: 3,
        ranks: 8,
        start: 1 << 60,
        wall: 1_700_000_000_000_000_000,
        host: "node3".into(),
        library: "Open MPI 4.1.4".into(),
        command: "./app -n 3".into(),
        recorder: "test".into(),
    }
}

/// Values that a field can have.
fn values(field: Field) -> BoxedStrategy<Vec<i64>> {
    let number = || any::<i64>();
    let list = |width: usize| {
        prop::collection::vec(prop::collection::vec(any::<i64>(), width), 0..5).prop_map(|items| {
            let mut values = vec![items.len().cast_signed() as i64];
            values.extend(items.concat());
            values
        })
    };
    match field {
        Field::Skip | Field::Displacements => Just(Vec::new()).boxed(),
        Field::Datatype | Field::Status => prop::collection::vec(number(), 3).boxed(),
        Field::Datatypes | Field::Statuses => list(3).boxed(),
        Field::Requests | Field::Group | Field::Counts | Field::Indices => list(1).boxed(),
        _ => number().prop_map(|number| vec![number]).boxed(),
    }
}

fn record() -> impl Strategy<Value = Record> {
    let calls = Table::get().calls();
    let call = (0..calls.len()).prop_flat_map(move |index| {
        let fields: Vec<_> = calls[index].fields.iter().map(|field| values(*field)).collect();
        (Just(calls[index].id), fields.prop_map(|values| values.concat()))
    });
    let unlisted = (1024_u32..2000).prop_map(|id| (id, Vec::new()));
    let times = (0_u64..1 << 50, 0_u64..1 << 40, 0_u32..3);
    (prop_oneof![9 => call, 1 => unlisted], times).prop_map(
        |((id, values), (enter, took, thread))| Record {
            id,
            thread,
            enter: enter * 1000,
            leave: (enter + took) * 1000,
            values,
        },
    )
}

fn write(records: &[Record], unit: Unit, flush: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header(unit)).unwrap();
    for (index, record) in records.iter().enumerate() {
        writer.call(record).unwrap();
        if (index + 1) % flush == 0 {
            writer.flush().unwrap();
        }
    }
    writer.finish().unwrap()
}

/// The records that can be read of a file, and the warning.
fn read(bytes: &[u8]) -> (Vec<Record>, Option<String>) {
    let mut reader = Reader::new(bytes).unwrap();
    let (mut records, mut record) = (Vec::new(), Record::default());
    while reader.next(&mut record).unwrap() {
        records.push(record.clone());
    }
    (records, reader.warning().map(ToString::to_string))
}

#[test]
fn every_row_of_the_table_is_understood() {
    assert_eq!(Table::get().calls().len(), CSV.lines().count() - 1);
    let mut ids: Vec<_> = Table::get().calls().iter().map(|call| call.id).collect();
    assert!(
        ids.is_sorted() || {
            ids.sort_unstable();
            true
        }
    );
    ids.dedup();
    assert_eq!(ids.len(), Table::get().calls().len());
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        records in prop::collection::vec(record(), 0..40),
        nanoseconds in any::<bool>(),
        flush in 1_usize..20,
    ) {
        let unit = if nanoseconds { Unit::Nanosecond } else { Unit::Picosecond };
        let bytes = write(&records, unit, flush);
        let (again, warning) = read(&bytes);
        prop_assert_eq!(again, records);
        prop_assert_eq!(warning, None);
    }

    #[test]
    fn a_cut_file_gives_a_prefix_and_a_warning(
        records in prop::collection::vec(record(), 1..40),
        flush in 1_usize..20,
        cut in 0_usize..1000,
    ) {
        let bytes = write(&records, Unit::Nanosecond, flush);
        // The header has 40 fixed bytes and 2 per string; the index 8 + 32 per block + 16.
        let head = 40 + 4 * 2 + "node3Open MPI 4.1.4./app -n 3test".len();
        let index = 8 + 32 * records.len().div_ceil(flush) + 16;
        let end = bytes.len() - index;
        let at = head + (end - head) * cut / 1000;
        let (again, warning) = read(&bytes[..at]);
        prop_assert!(again.len() <= records.len());
        prop_assert_eq!(&again[..], &records[..again.len()]);
        prop_assert!(warning.is_some());
    }

    #[test]
    fn damage_is_no_crash(
        records in prop::collection::vec(record(), 1..20),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = write(&records, Unit::Nanosecond, 7);
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(mut reader) = Reader::new(bytes.as_slice()) {
            let mut record = Record::default();
            while reader.next(&mut record).unwrap() {}
        }
    }
}

/// By the document: header of 40 bytes and four empty strings (8), one block of one `MPI_Send`
/// record: number 32, enter 5 ns after the base 0 (folded 10), duration 3, address 300 (two bytes),
/// count 2 (folded 4), type 1 4 4 (extent folded 8), rank 1 (folded 2), tag -1 (folded 1),
/// communicator 0.
#[test]
fn a_record_has_the_bytes_of_the_document() {
    let header = Header { ranks: 2, ..Header::default() };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let values = vec![300, 2, 1, 4, 4, 1, -1, 0];
    writer.call(&Record { id: 32, thread: 0, enter: 5000, leave: 8000, values }).unwrap();
    let bytes = writer.finish().unwrap();
    assert_eq!(&bytes[48..52], b"HBLK");
    let packed = u32::from_le_bytes(bytes[52..56].try_into().unwrap()) as usize;
    let raw = zstd::decode_all(&bytes[72..72 + packed]).unwrap();
    assert_eq!(raw, [32, 10, 3, 0xac, 2, 4, 1, 4, 8, 2, 1, 0]);
    assert_eq!(&bytes[72 + packed..76 + packed], b"HIDX");
    // Magic, count, four numbers for one block, the index's own place.
    assert_eq!(bytes.len(), 72 + packed + 8 + 32 + 8 + 8);
    assert_eq!(&bytes[bytes.len() - 8..], b"HEDDLEIX");
}

#[test]
fn definitions_are_read() {
    let mut writer = Writer::new(Vec::new(), &header(Unit::Nanosecond)).unwrap();
    let odd = Communicator { local: Group::Ranks(vec![1, 3, 5, 7, 0]), remote: None, me: 1 };
    let inter = Communicator {
        local: Group::Ranks(vec![3, 2]),
        remote: Some(Group::Ranks(vec![4, 5, 6])),
        me: 0,
    };
    let all = Communicator { local: Group::All(8), remote: None, me: 3 };
    let ring = Neighbours { sources: vec![2, -2], destinations: vec![-2, 4] };
    let offset = Offset { at: 77_000, nanoseconds: -5 };
    writer.communicator(10, &odd);
    writer.communicator(18, &inter);
    writer.communicator(26, &all);
    writer.neighbours(10, &ring);
    writer.name(1024, "MPI_Type_commit");
    writer.clock(offset);
    let bytes = writer.finish().unwrap();
    let mut reader = Reader::new(bytes.as_slice()).unwrap();
    assert!(!reader.next(&mut Record::default()).unwrap());
    let definitions = reader.definitions();
    assert_eq!(definitions.communicators[&10], odd);
    assert_eq!(definitions.communicators[&18], inter);
    assert_eq!(definitions.communicators[&26], all);
    // The world and the rank alone need no definition.
    assert_eq!(definitions.communicators[&0].local, Group::All(8));
    assert_eq!(definitions.communicators[&1].local, Group::Ranks(vec![3]));
    assert_eq!(definitions.neighbours[&10], ring);
    assert_eq!(definitions.names[&1024], "MPI_Type_commit");
    assert_eq!(definitions.offsets, [offset]);
    assert_eq!(reader.header(), &header(Unit::Nanosecond));
}

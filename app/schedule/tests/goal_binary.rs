//! The binary form, byte for byte, and what is said about damaged files.

use schedule::goal::{Form, Image, ReadError, read, read_bytes, write_binary};
use schedule::{ANY, Edge, Program};

const TEXT: &str = "num_ranks 2\n\
    rank 0 {\n\
    a: send 10b to 1 tag 7 cpu 1\n\
    b: calc 5\n\
    b requires a\n\
    b irequires a\n\
    }\n\
    rank 1 {\n\
    recv 10b from -1 tag -1 nic 2\n\
    }\n";

/// The binary form of `TEXT`, assembled by hand.
const BINARY: &str = "
    7f10000000000000            # 0    magic number 4223
    02000000                    # 8    2 ranks
    01 02                       # 12   highest CPU 1, highest interface 2
    2600000000000000            # 14   rank 0 starts at 38: 6 bytes of header and 32 of table
    8800000000000000            # 22   and ends at 136: 8 + 1 * 4 + 2 * 39 + 2 * 4 bytes further
    8800000000000000            # 30   rank 1 starts there
    bb00000000000000            # 38   and ends at 187: 8 + 1 * 4 + 1 * 39 bytes further

    02000000 01000000           # 46   rank 0: 2 operations, 1 root
    00000000                    # 54   the root: operation 0
    00000000 01                 # 58   operation 0: no dependencies, a send
    01000000 0a00000000000000   #      to rank 1, 10 bytes
    07000000 01 00              #      tag 7, CPU 1, interface 0
    01000000 00000000           #      1 waits for its end: element 0 of the appendix
    01000000 01000000           #      1 waits for its start: element 1
    02000000 03                 # 97   operation 1: 2 dependencies, a computation
    00000000 0500000000000000   #      no peer, length 5
    00000000 00 00              #      no tag, CPU 0, no interface
    00000000 02000000           #      nobody waits for its end: nothing from element 2 on
    00000000 02000000           #      nor for its start
    01000000 01000000           # 136  appendix: operation 1, operation 1

    01000000 01000000           # 144  rank 1: 1 operation, 1 root
    00000000                    # 152  the root: operation 0
    00000000 02                 # 156  operation 0: no dependencies, a receive
    ffffffff 0a00000000000000   #      from any rank, 10 bytes
    ffffffff 00 02              #      any tag, CPU 0, interface 2
    00000000 00000000           #      nobody waits for its end
    00000000 00000000           #      nor for its start
";

fn binary() -> Vec<u8> {
    let digits = BINARY.lines().filter_map(|line| line.split('#').next());
    let digits: Vec<char> = digits.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn written(image: &Image) -> Vec<u8> {
    let mut out = Vec::new();
    write_binary(image, &mut out).unwrap();
    out
}

#[test]
fn text_compiles_to_the_bytes_of_the_format() {
    let (image, warnings) = Image::from_text(TEXT.as_bytes()).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(image.bytes(), binary());
}

#[test]
fn what_is_read_is_written() {
    let image = Image::from_binary(binary()).unwrap();
    assert_eq!(written(&image), binary());
}

#[test]
fn a_binary_answers_as_a_program() {
    let image = Image::from_binary(binary()).unwrap();
    assert_eq!((image.ranks(), image.cpus(), image.nics()), (2, 2, 3));
    assert_eq!((image.ops(0), image.ops(1)), (2, 1));
    assert_eq!((image.dependencies(0, 0), image.dependencies(0, 1)), (0, 2));
    let mut waiting = Vec::new();
    image.dependents(0, 0, Edge::Done, &mut |op| waiting.push((Edge::Done, op)));
    image.dependents(0, 0, Edge::Started, &mut |op| {
        waiting.push((Edge::Started, op));
    });
    assert_eq!(waiting, [(Edge::Done, 1), (Edge::Started, 1)]);
    let receive = image.op(1, 0);
    assert_eq!((receive.peer, receive.tag, receive.nic), (ANY, ANY, 2));
}

#[test]
fn files_are_told_apart_by_their_first_bytes() {
    let reading = read_bytes(binary()).unwrap();
    assert_eq!((reading.form, reading.image.ops(0)), (Form::Binary, 2));
    let reading = read_bytes(TEXT.into()).unwrap();
    assert_eq!((reading.form, reading.image.bytes()), (Form::Text, &*binary()));
    assert_eq!(Form::of(b""), Some(Form::Text));
    assert_eq!(Form::of(b"\x7f"), Some(Form::Binary));
    assert_eq!(Form::of(&2342_u64.to_le_bytes()), Some(Form::Binary));
}

#[test]
fn what_has_neither_form_is_said_to_be_neither() {
    // In this order, half of them are no UTF-8.
    let noise: Vec<u8> = (1..=255).collect();
    let beheaded = &binary()[1..];
    for bytes in [&noise[..], beheaded, b"num_ranks 1\0", &u64::MAX.to_le_bytes()] {
        let error = read_bytes(bytes.to_vec()).unwrap_err();
        assert!(matches!(error, ReadError::Unknown));
        assert_eq!(
            error.to_string(),
            "neither GOAL text nor its binary form, which starts with the magic number 4223"
        );
    }
    // Text with a comment in Latin-1, and one that is cut within a character where looking ends.
    let latin = b"// Fr\xfchling, M\xe4rz\nnum_ranks 1\nrank 0 {}";
    assert_eq!(read_bytes(latin.to_vec()).unwrap().form, Form::Text);
    let cut = format!("//{}\nnum_ranks 1\nrank 0 {{}}", "-é".repeat(1500));
    assert_eq!(read_bytes(cut.into()).unwrap().form, Form::Text);
}

#[test]
fn files_are_mapped() {
    let path = std::env::temp_dir().join(format!("heddle-goal-{}.bin", std::process::id()));
    std::fs::write(&path, binary()).unwrap();
    let image = Image::open(&path).unwrap();
    assert_eq!(image.bytes(), binary());
    assert_eq!(read(&path).unwrap().form, Form::Binary);
    std::fs::write(&path, "").unwrap();
    let error = Image::open(&path).unwrap_err().to_string();
    assert_eq!(
        error,
        "byte 0: the file ends here, inside the magic number, which reaches to byte 8"
    );
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(read(&path), Err(ReadError::Io(_))));
}

#[track_caller]
fn check_damage(offset: usize, bytes: &[u8], expect: &str) {
    let mut damaged = binary();
    damaged[offset..offset + bytes.len()].copy_from_slice(bytes);
    assert_eq!(Image::from_binary(damaged).unwrap_err().to_string(), expect);
}

#[test]
fn damage_to_the_header() {
    check_damage(
        0,
        &[1],
        "byte 0: not a binary GOAL file: it starts with 4097, expected the magic number 4223",
    );
    check_damage(
        0,
        &2342_u64.to_le_bytes(),
        "byte 0: the file was invalidated by a run of LogGOPSim with --save-mem (magic number \
         2342); convert the text again",
    );
    check_damage(8, &[0], "byte 8: the number of ranks is 0, expected at least 1");
    check_damage(
        8,
        &[0xff; 4],
        // 14 + 16 * (2^32 - 1)
        "byte 195: the file ends here, inside the table of ranks, which reaches to byte \
         68719476734",
    );
    check_damage(14, &[0x27], "byte 14 (rank 0): the start of the rank's part is 39, expected 38");
    check_damage(
        30,
        &[0x89],
        "byte 30 (rank 1): the start of the rank's part is 137, expected 136",
    );
    check_damage(
        22,
        &[0x86],
        "byte 46 (rank 0): a part of 96 bytes cannot hold 2 operations and 1 roots with a whole \
         number of dependents",
    );
    check_damage(
        38,
        &[0xff; 8],
        "byte 195 (rank 1): the file ends here, inside the rank's part, which reaches to byte \
         18446744073709551615",
    );
}

#[test]
fn damage_to_an_operation() {
    check_damage(
        50,
        &[0],
        "byte 54 (rank 0): the list of roots does not have operation 0 where it belongs",
    );
    check_damage(
        54,
        &[1],
        "byte 54 (rank 0): the list of roots does not have operation 0 where it belongs",
    );
    check_damage(
        62,
        &[4],
        "byte 62 (rank 0): the type of operation 0 is 4, expected 1 (send), 2 (recv) or 3 (calc)",
    );
    check_damage(63, &[2], "byte 63 (rank 0): the peer is 2, expected at most 1");
    check_damage(63, &[0xff; 4], "byte 63 (rank 0): the peer is 4294967295, expected at most 1");
    check_damage(79, &[2], "byte 79 (rank 0): the CPU is 2, expected at most 1");
    check_damage(80, &[3], "byte 80 (rank 0): the interface is 3, expected at most 2");
    check_damage(
        102,
        &[1],
        "byte 102 (rank 0): the peer of a computation is 1, expected at most 0",
    );
    check_damage(114, &[1], "byte 114 (rank 0): the tag of a computation is 1, expected at most 0");
    check_damage(
        119,
        &[1],
        "byte 119 (rank 0): the interface of a computation is 1, expected at most 0",
    );
    check_damage(
        97,
        &[3],
        "byte 97 (rank 0): operation 1 counts 3 dependencies, but 2 refer to it",
    );
}

#[test]
fn damage_to_the_lists_of_dependents() {
    check_damage(
        85,
        &[1],
        "byte 85 (rank 0): the index of the list of dependents is 1, expected 0",
    );
    check_damage(81, &[3], "byte 81 (rank 0): the number of dependents is 3, expected at most 2");
    check_damage(89, &[2], "byte 89 (rank 0): the number of dependents is 2, expected at most 1");
    check_damage(136, &[2], "byte 136 (rank 0): a dependent is 2, expected at most 1");
    check_damage(
        136,
        &[0],
        "byte 58 (rank 0): operation 0 counts 0 dependencies, but 1 refer to it",
    );
    // One dependent less at the start, so that the appendix has one too many: the lists behind it
    // move.
    let mut damaged = binary();
    damaged[89] = 0;
    for index in [124, 132] {
        damaged[index] = 1;
    }
    assert_eq!(
        Image::from_binary(damaged).unwrap_err().to_string(),
        "byte 136 (rank 0): the length of the appendix, in dependents, is 2, expected 1"
    );
}

#[test]
fn a_file_cut_anywhere_is_an_error_that_says_where() {
    for length in 0..195 {
        let error = Image::from_binary(binary()[..length].to_vec()).unwrap_err();
        assert_eq!(error.offset, length as u64);
        let (rank, expect) = match length {
            0..8 => (None, "the magic number, which reaches to byte 8"),
            8..14 => (None, "the header, which reaches to byte 14"),
            14..46 => (None, "the table of ranks, which reaches to byte 46"),
            46..144 => (Some(0), "the rank's part, which reaches to byte 144"),
            _ => (Some(1), "the rank's part, which reaches to byte 195"),
        };
        assert_eq!(error.rank, rank);
        assert_eq!(error.problem.to_string(), format!("the file ends here, inside {expect}"));
    }
}

#[test]
fn bytes_behind_the_last_rank_are_an_error() {
    let mut long = binary();
    long.push(0);
    let error = Image::from_binary(long).unwrap_err().to_string();
    assert_eq!(error, "byte 195: the length of the file is 196, expected 195");
}

/// Whatever a single byte is changed to, the file is rejected, or it is the binary form of the
/// program that it is read as.
#[test]
fn changed_bytes_are_rejected_or_read_as_they_are() {
    let mut rejected = 0;
    for offset in 0..binary().len() {
        for value in 0..=u8::MAX {
            let mut changed = binary();
            changed[offset] = value;
            match Image::from_binary(changed.clone()) {
                Ok(image) => assert_eq!(written(&image), changed),
                Err(_) => rejected += 1,
            }
        }
    }
    // Free are: size of the messages and of the computation (8 bytes each), the tag of the messages
    // (4 bytes each); in part the header's maxima, CPUs and interfaces, and peers.
    assert!((40_000..195 * 255 - 32 * 255).contains(&rejected), "{rejected}");
}

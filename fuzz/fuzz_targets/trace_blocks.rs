//! As `trace_binary`, but an input is what the blocks of up to four ranks hold before they are
//! packed, parted by `HBLK`: no change of a packed block gets past its checksum.

#![no_main]

use heddle_fuzz::compiled;
use libfuzzer_sys::fuzz_target;
use traces::format::{BLOCK, Header, Writer};

fuzz_target!(|bytes: &[u8]| {
    let mut parts = vec![bytes];
    while parts.len() < 4
        && let Some(last) = parts.pop()
    {
        let Some(at) = last.windows(BLOCK.len()).position(|window| window == BLOCK) else {
            parts.push(last);
            break;
        };
        parts.extend([&last[..at], &last[at + BLOCK.len()..]]);
    }
    let ranks = parts.len() as u32;
    let file = |(rank, raw): (u32, &&[u8])| {
        let header = Header { rank, ranks, ..Header::default() };
        let mut file = Vec::new();
        drop(Writer::new(&mut file, &header).expect("writing to memory cannot fail"));
        let packed = zstd::encode_all(*raw, 1).expect("packing in memory cannot fail");
        file.extend_from_slice(&BLOCK);
        for number in [packed.len() as u32, raw.len() as u32, 0, 0, 0] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        file.extend_from_slice(&packed);
        file
    };
    let files: Vec<_> = (0..).zip(&parts).map(file).collect();
    let names = ["r-0.hdl", "r-1.hdl", "r-2.hdl", "r-3.hdl"];
    let files = names.into_iter().zip(files.iter().map(Vec::as_slice));
    compiled(&files.collect::<Vec<_>>(), "r-0.hdl");
});

//! A binary GOAL file that is read answers every question and is written as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use schedule::goal::{Image, check, write_binary};
use schedule::{Edge, Program};

fuzz_target!(|bytes: &[u8]| {
    let Ok(image) = Image::from_binary(bytes.to_vec()) else {
        return;
    };
    for rank in 0..image.ranks() {
        let ops = image.ops(rank);
        let (mut declared, mut arriving, mut free, mut roots) = (0, 0, 0, 0);
        for index in 0..ops {
            let op = image.op(rank, index);
            assert!(u32::from(op.cpu) < image.cpus() && u32::from(op.nic) < image.nics());
            let dependencies = image.dependencies(rank, index);
            declared += u64::from(dependencies);
            free += u32::from(dependencies == 0);
            for edge in [Edge::Done, Edge::Started] {
                image.dependents(rank, index, edge, &mut |after| {
                    assert!(after < ops);
                    arriving += 1;
                });
            }
        }
        image.roots(rank, &mut |run| roots += run.count);
        assert_eq!((declared, free), (arriving, roots));
    }
    check(&image);
    let mut written = Vec::new();
    write_binary(&image, &mut written).expect("writing to memory cannot fail");
    assert!(written == bytes);
});

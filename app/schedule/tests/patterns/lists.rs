//! The operations of each pattern at a small number of ranks, worked out by hand from its
//! definition. The notation is that of [`Graph::text`].

use crate::graph::{Graph, build};
use schedule::pattern::Options;

fn check(name: &str, options: &Options, expected: &[(u32, &str)]) {
    let graph = Graph::read(&build(name, options));
    for &(rank, expected) in expected {
        assert_eq!(graph.text(rank), expected, "{name}, rank {rank}");
    }
}

fn ranks(ranks: u32) -> Options {
    Options::new(ranks, 8)
}

#[test]
fn dissemination() {
    // Rank 3 of 5: 3 + 1, + 2, + 4 = 4, 0, 2 and 3 - 1, - 2, - 4 = 2, 1, 4 (mod 5).
    let expected = "s4:8 r2:8 s0:8<1 r1:8 s2:8<3 r4:8";
    check("dissemination", &ranks(5), &[(3, expected)]);
}

#[test]
fn binomial_bcast() {
    let expected = [
        (0, "s1:8 s2:8 s4:8"),
        (1, "r0:8 s3:8<0 s5:8<0"),
        (2, "r0:8"),
        (3, "r1:8"),
        (4, "r0:8"),
        (5, "r1:8"),
    ];
    check("binomial-bcast", &ranks(6), &expected);
    // Ranks 0 and 2 swap.
    let options = Options { root: 2, ..ranks(6) };
    let expected = [(2, "s1:8 s0:8 s4:8"), (0, "r2:8"), (1, "r2:8 s3:8<0 s5:8<0")];
    check("binomial-bcast", &options, &expected);
}

#[test]
fn binomial_reduce() {
    let expected = [
        (0, "r1:8 r2:8 r4:8"),
        (1, "s0:8<1,2 r3:8 r5:8"),
        (2, "s0:8"),
        (3, "s1:8"),
        (4, "s0:8"),
        (5, "s1:8"),
    ];
    check("binomial-reduce", &ranks(6), &expected);
}

#[test]
fn binary_bcast() {
    let expected =
        [(0, "s1:8 s2:8"), (1, "r0:8 s3:8<0 s4:8<0"), (2, "r0:8 s5:8<0"), (3, "r1:8"), (5, "r2:8")];
    check("binary-bcast", &ranks(6), &expected);
    // Ranks 0 and 1 swap: the children of the root are ranks 0 and 2, those of rank 0 are 3 and 4.
    let options = Options { root: 1, ..ranks(6) };
    let expected = [(1, "s0:8 s2:8"), (0, "r1:8 s3:8<0 s4:8<0"), (3, "r0:8")];
    check("binary-bcast", &options, &expected);
}

#[test]
fn nway_dissemination() {
    let nway = |n, ways, expected| {
        let options = Options { ways, ..ranks(n) };
        check("nway-dissemination", &options, &[(0, expected)]);
    };
    nway(4, 1, "s1:8 r3:8 s2:8<1,3 c8<1 r2:8");
    nway(9, 2, "s1:8 s2:8 r8:8 r7:8 s3:8<7 s6:8<6,7 c8<2,3 c8<2 r6:8 r3:8");
    nway(
        16,
        3,
        "s1:8 s2:8 s3:8 r15:8 r14:8 r13:8 \
         s4:8<11 s8:8<11 s12:8<10,11 c8<3,4 c8<5,9 c8<3 r12:8 r8:8 r4:8",
    );
    // Two ways, three ranks more than one round reaches: 2 × 3 = 6 = 2 and 2 × 3 × 2 = 0 (mod 4).
    nway(4, 2, "s1:8 s2:8 r3:8 r2:8 s3:8<7 s2:8<6,7 c8<2,3 c8<2 r1:8 r2:8");
}

#[test]
fn alltoall() {
    check("linear-alltoall", &ranks(4), &[(1, "s2:8 r0:8 s3:8 r3:8 s0:8 r2:8")]);
    let expected = "s0:8 r0:8 s3:8<0,1 r3:8<0,1 s2:8<2,3 r2:8<2,3";
    check("pairwise-alltoall", &ranks(4), &[(1, expected)]);
    check("pairwise-alltoall", &ranks(3), &[(1, "s2:8 r0:8 s0:8<0,1 r2:8<0,1")]);
}

#[test]
fn allreduce_recursive_doubling() {
    let name = "allreduce-recursive-doubling";
    check(name, &ranks(4), &[(1, "s0:8 r0:8 s3:8<1 r3:8")]);
    // Of 6 ranks, 0 and 2 stay out; 1, 3, 4, 5 take part as 0, 1, 2, 3.
    let expected = [
        (0, "s1:8 r1:8"),
        (1, "r0:8 s3:8<0 r3:8 s4:8<2 r4:8 s0:8<4"),
        (2, "s3:8 r3:8"),
        (3, "r2:8 s1:8<0 r1:8 s5:8<2 r5:8 s2:8<4"),
        (4, "s5:8 r5:8 s1:8<1 r1:8"),
        (5, "s4:8 r4:8 s3:8<1 r3:8"),
    ];
    check(name, &ranks(6), &expected);
}

#[test]
fn allreduce_rabenseifner() {
    let name = "allreduce-rabenseifner";
    // 11 / 2 = 5, 5 / 2 = 2, then 2, 4.
    let expected = "s0:5 r0:5 s3:2<1 r3:2 s3:2<3 r3:2 s0:4<5 r0:4";
    check(name, &Options::new(4, 11), &[(1, expected)]);
    let expected = [
        (0, "s1:11 r1:11"),
        (1, "r0:11 s2:5<0 r2:5 s2:5<2 r2:5 s0:11<4"),
        (2, "s1:5 r1:5 s1:5<1 r1:5"),
    ];
    check(name, &Options::new(3, 11), &expected);
    // One byte comes to nothing.
    check(name, &Options::new(2, 1), &[(0, "s1:0 r1:0 s1:0<1 r1:0")]);
}

#[test]
fn allreduce_ring() {
    // 10 / 3 = 3.
    let expected = "s2:3 r0:3 s2:3<1 r0:3 s2:3<3 r0:3 s2:3<5 r0:3";
    check("allreduce-ring", &Options::new(3, 10), &[(1, expected)]);
}

#[test]
fn gather_and_scatter() {
    check("gather", &ranks(4), &[(0, "r1:8 r2:8 r3:8"), (3, "s0:8")]);
    check("scatter", &ranks(4), &[(0, "s1:8 s2:8 s3:8"), (3, "r0:8")]);
    let options = Options { root: 2, ..ranks(4) };
    check("gather", &options, &[(2, "r1:8 r0:8 r3:8"), (0, "s2:8")]);
    check("scatter", &options, &[(2, "s1:8 s0:8 s3:8"), (0, "r2:8")]);
}

#[test]
fn rings() {
    let options = Options { segment: 4, ..Options::new(3, 10) };
    let expected =
        [(0, "s1:4 s1:4 s1:2"), (1, "r0:4 s2:4<0 r0:4 s2:4<2 r0:2 s2:2<4"), (2, "r1:4 r1:4 r1:2")];
    check("pipelined-ring", &options, &expected);
    let expected = [(0, "s1:8 r2:8 s2:8 r1:8"), (1, "s2:8<1 r0:8 s0:8<3 r2:8")];
    check("double-ring", &ranks(3), &expected);
}

#[test]
fn linear_barrier() {
    let expected = [(0, "c0<1,3 r1:1 s1:1<0 r2:1 s2:1<0"), (1, "s0:1 r0:1"), (2, "s0:1 r0:1")];
    check("linear-barrier", &ranks(3), &expected);
}

#[test]
fn bulk_reply() {
    let options = Options { ways: 2, ..ranks(5) };
    let expected = [(2, "s3:8 s3:8 r3:8 r3:8"), (3, "r2:8 r2:8 s2:8<1 s2:8<1"), (4, "")];
    check("bulk-reply", &options, &expected);
}

#[test]
fn halos() {
    let steps = Options { steps: 2, ..ranks(4) };
    let expected = "r0:8 r2:8 s0:8 s2:8 c0<0,1,2,3 r0:8<4 r2:8<4 s0:8<4 s2:8<4";
    check("halo1d", &steps, &[(1, expected)]);
    let computing = Options { compute: 5, ..steps.clone() };
    let expected = "c5 r0:8<0 r2:8<0 s0:8<0 s2:8<0 c5<1,2,3,4 r0:8<5 r2:8<5 s0:8<5 s2:8<5";
    check("halo1d", &computing, &[(1, expected)]);
    let reducing = Options { allreduce: Some(16), ..steps };
    let expected = "r0:8 r2:8 s0:8 s2:8 c0<0,1,2,3 s0:16<4 r0:16<4 s3:16<6 r3:16<4 \
                    c0<5,6,7,8 r0:8<9 r2:8<9 s0:8<9 s2:8<9 c0<10,11,12,13 s0:16<14 r0:16<14 \
                    s3:16<16 r3:16<14";
    check("halo1d", &reducing, &[(1, expected)]);
    // 3 × 2 and 3 × 2 × 2, the last coordinate fastest; with extent 2 both neighbours are one rank.
    check("halo2d", &ranks(6), &[(0, "r4:8 r2:8 r1:8 r1:8 s4:8 s2:8 s1:8 s1:8")]);
    let expected = "r3:8 r11:8 r5:8 r5:8 r6:8 r6:8 s3:8 s11:8 s5:8 s5:8 s6:8 s6:8";
    check("halo3d", &ranks(12), &[(7, expected)]);
    // A grid of one's own: rank 4 is (2, 0) of 3 × 1 × 2.
    let grid = Options { grid: vec![3, 1, 2], ..ranks(6) };
    let expected = "r2:8 r0:8 r5:8 r5:8 s2:8 s0:8 s5:8 s5:8";
    check("halo3d", &grid, &[(4, expected)]);
}

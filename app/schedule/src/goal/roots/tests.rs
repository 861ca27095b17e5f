use super::*;

const fn group(kind: Kind, cpu: u8) -> Group {
    (kind, cpu, 0)
}

fn grouped(ops: &[(u32, Group)]) -> Vec<(u32, u32, u32)> {
    let mut found = Vec::new();
    runs(ops.iter().copied(), &mut |run| found.push((run.first, run.stride, run.count)));
    found
}

/// Runs as (first, stride, count): interleaved groups become runs of stride 2; one that is broken
/// is passed on when it breaks, the others at the end in the order of their groups.
#[test]
fn runs_of_few_groups() {
    let (send, recv, calc) = (group(Kind::Send, 0), group(Kind::Recv, 0), group(Kind::Calc, 0));
    assert_eq!(grouped(&[]), []);
    assert_eq!(grouped(&[(7, calc)]), [(7, 1, 1)]);
    let interleaved = [(0, recv), (1, send), (2, recv), (3, send), (4, recv), (9, calc)];
    assert_eq!(grouped(&interleaved), [(1, 2, 2), (0, 2, 3), (9, 1, 1)]);
    assert_eq!(grouped(&[(0, send), (1, send), (3, send), (5, send)]), [(0, 1, 2), (3, 2, 2)]);
}

/// More groups than the array holds: the same order over both places.
#[test]
fn runs_of_many_groups() {
    let calc = |cpu| group(Kind::Calc, cpu);
    let ops: Vec<_> = (0..10).map(|op| (op, calc(4 - (op % 5) as u8))).collect();
    // CPU 4 has the operations 0 and 5, CPU 3 has 1 and 6, and so on.
    assert_eq!(grouped(&ops), [(4, 5, 2), (3, 5, 2), (2, 5, 2), (1, 5, 2), (0, 5, 2)]);
    // Operations 0, 5 and 6 of a group in the map: the run breaks at 6.
    let broken =
        [(0, calc(9)), (1, calc(8)), (2, calc(7)), (3, calc(6)), (5, calc(6)), (6, calc(6))];
    assert_eq!(grouped(&broken), [(3, 2, 2), (6, 1, 1), (2, 1, 1), (1, 1, 1), (0, 1, 1)]);
}

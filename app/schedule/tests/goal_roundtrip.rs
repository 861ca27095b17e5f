//! Whatever program: its text and its binary form say the same, and reading gives back what was
//! written.

use proptest::prelude::*;
use schedule::goal::{Image, check, write_binary, write_text};
use schedule::{ANY, Edge, Kind, Op, Program};

const RANKS: u32 = 3;

/// A program as it might be built in memory.
#[derive(Clone, Debug)]
struct Model {
    ranks: Vec<Vec<Op>>,
    /// Per rank: (later, earlier, edge), in the order of the lines.
    lines: Vec<Vec<(u32, u32, Edge)>>,
}

impl Model {
    fn lines(&self, rank: u32) -> impl Iterator<Item = &(u32, u32, Edge)> {
        self.lines[rank as usize].iter()
    }
}

impl Program for Model {
    fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    fn cpus(&self) -> u32 {
        self.ranks.iter().flatten().map(|op| u32::from(op.cpu) + 1).max().unwrap_or(1)
    }

    fn nics(&self) -> u32 {
        self.ranks.iter().flatten().map(|op| u32::from(op.nic) + 1).max().unwrap_or(1)
    }

    fn ops(&self, rank: u32) -> u32 {
        self.ranks[rank as usize].len() as u32
    }

    fn op(&self, rank: u32, index: u32) -> Op {
        self.ranks[rank as usize][index as usize]
    }

    fn dependencies(&self, rank: u32, index: u32) -> u32 {
        self.lines(rank).filter(|(after, _, _)| *after == index).count() as u32
    }

    fn dependents(&self, rank: u32, index: u32, edge: Edge, each: &mut impl FnMut(u32)) {
        let lines = self.lines(rank).filter(|(_, before, sort)| (*before, *sort) == (index, edge));
        lines.for_each(|(after, _, _)| each(*after));
    }

    fn roots(&self, rank: u32, each: &mut impl FnMut(schedule::Run)) {
        let roots = (0..self.ops(rank)).filter(|op| self.dependencies(rank, *op) == 0);
        roots.for_each(|op| each(schedule::Run::one(op)));
    }
}

fn op() -> impl Strategy<Value = Op> {
    let tag = prop_oneof![4 => Just(0), 4 => 0..u32::MAX, 1 => Just(ANY)];
    let index = || prop_oneof![4 => Just(0), 1 => any::<u8>()];
    let peer = prop_oneof![6 => 0..RANKS, 1 => Just(ANY)];
    let kind = prop_oneof![Just(Kind::Send), Just(Kind::Recv), Just(Kind::Calc)];
    (kind, peer, tag, any::<u64>(), index(), index()).prop_map(
        |(kind, peer, tag, size, cpu, nic)| {
            let op = Op { kind, peer, tag, size, cpu, nic };
            match kind {
                Kind::Calc => Op { peer: 0, tag: 0, nic: 0, ..op },
                Kind::Send if peer == ANY => Op { peer: 0, ..op },
                _ => op,
            }
        },
    )
}

prop_compose! {
    fn rank()(ops in prop::collection::vec(op(), 0..12))
        (
            lines in prop::collection::vec((any::<u32>(), any::<u32>(), any::<bool>()), 0..24),
            ops in Just(ops)
        )
        -> (Vec<Op>, Vec<(u32, u32, Edge)>) {
        let count = ops.len() as u32;
        let edge = |started| if started { Edge::Started } else { Edge::Done };
        let lines = lines.into_iter().filter(|_| count > 0);
        (
            ops,
            lines.map(
                |(after, before, started)| (after % count, before % count, edge(started))
            ).collect()
        )
    }
}

fn model() -> impl Strategy<Value = Model> {
    prop::collection::vec(rank(), RANKS as usize).prop_map(|ranks| {
        let (ranks, lines) = ranks.into_iter().unzip();
        Model { ranks, lines }
    })
}

fn text(program: &impl Program) -> Vec<u8> {
    let mut out = Vec::new();
    write_text(program, &mut out).unwrap();
    out
}

fn binary(program: &impl Program) -> Vec<u8> {
    let mut out = Vec::new();
    write_binary(program, &mut out).unwrap();
    out
}

/// All that a program answers, without the grouping of its roots.
fn answers(program: &impl Program) -> String {
    let of_op = |rank, index| {
        let mut waiting = Vec::new();
        for edge in [Edge::Done, Edge::Started] {
            program.dependents(rank, index, edge, &mut |op| waiting.push((edge, op)));
        }
        (program.op(rank, index), program.dependencies(rank, index), waiting)
    };
    let of_rank = |rank| {
        let mut roots = Vec::new();
        program.roots(rank, &mut |run| {
            roots.extend((0..run.count).map(|k| run.first + k * run.stride));
        });
        roots.sort_unstable();
        (roots, (0..program.ops(rank)).map(|index| of_op(rank, index)).collect::<Vec<_>>())
    };
    let ranks: Vec<_> = (0..program.ranks()).map(of_rank).collect();
    format!("{:?}", (program.cpus(), program.nics(), ranks))
}

proptest! {
    #[test]
    fn forms_agree(model in model()) {
        let bytes = binary(&model);
        let image = Image::from_binary(bytes.clone()).unwrap();
        prop_assert_eq!(answers(&image), answers(&model));
        let written = text(&model);
        prop_assert_eq!(&written, &text(&image));
        let (read, warnings) = Image::from_text(&written).unwrap();
        prop_assert_eq!(warnings, []);
        prop_assert_eq!(read.bytes(), &bytes[..]);
        prop_assert_eq!(binary(&read), bytes);
    }

    /// The roots are those of `Program::roots`: one kind, CPU and interface per run, ascending over
    /// the runs of a group.
    #[test]
    fn roots_keep_their_contract(model in model()) {
        let image = Image::from_binary(binary(&model)).unwrap();
        for rank in 0..RANKS {
            let mut last = std::collections::BTreeMap::new();
            let mut good = true;
            image.roots(rank, &mut |run| {
                let group = |op: Op| (op.kind, op.cpu, op.nic);
                let first = group(image.op(rank, run.first));
                for k in 0..run.count {
                    let op = run.first + k * run.stride;
                    good &= group(image.op(rank, op)) == first && image.dependencies(rank, op) == 0;
                    good &= last.insert(first, op).is_none_or(|last| last < op);
                }
            });
            prop_assert!(good);
        }
    }

    /// `LogGOPSim` reads a label only where it is defined before; what is written obeys that.
    #[test]
    fn written_dependencies_refer_back(model in model()) {
        let written = String::from_utf8(text(&model)).unwrap();
        let mut defined = Vec::new();
        for line in written.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["rank", ..] => defined.clear(),
                [label, ..] if label.ends_with(':') => defined.push(label.trim_end_matches(':')),
                [after, "requires" | "irequires", before] => {
                    prop_assert!(defined.contains(&after) && defined.contains(&before));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn checking_never_fails(model in model()) {
        let findings = check(&model);
        prop_assert!(findings.is_sorted_by_key(|finding| (finding.rank, finding.index)));
    }

    #[test]
    fn any_text_is_read_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Image::from_text(&bytes);
    }
}

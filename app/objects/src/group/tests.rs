use super::ranges::{members, ranks};
use super::{Group, translate};
use crate::abi;

fn list(group: &Group) -> Vec<u32> {
    group.iter().collect()
}

/// Evenly spaced ranks and others say the same about their members.
#[test]
fn members_of_both_forms() {
    for ranks in [vec![], vec![5], vec![9, 6, 3, 0], vec![2, 3, 4], vec![4, 0, 7], vec![0, 2, 5, 1]]
    {
        let group = Group::of(ranks.clone());
        assert_eq!(group.size() as usize, ranks.len());
        assert_eq!(list(&group), ranks);
        for world in 0..12 {
            let place = ranks.iter().position(|&rank| rank == world).map(|place| place as u32);
            assert_eq!(group.rank_of(world), place, "{world} in {ranks:?}");
        }
        assert_eq!(group.world(ranks.len() as u32), None);
        for number in 0..=ranks.len() {
            assert_eq!(group.first(number as u32), Group::of(ranks[..number].to_vec()));
        }
    }
}

#[test]
fn comparison() {
    let range = Group::range(0, 3);
    assert_eq!(range.compare(&Group::of(vec![0, 1, 2])), abi::IDENT);
    assert_eq!(range.compare(&Group::of(vec![2, 0, 1])), abi::SIMILAR);
    assert_eq!(range.compare(&Group::of(vec![0, 1])), abi::UNEQUAL);
    assert_eq!(range.compare(&Group::of(vec![0, 1, 3])), abi::UNEQUAL);
    assert_eq!(Group::empty().compare(&Group::range(7, 0)), abi::IDENT);
    assert_eq!(range.fingerprint(), Group::of(vec![0, 1, 2]).fingerprint());
    assert_ne!(range.fingerprint(), Group::of(vec![2, 1, 0]).fingerprint());
}

/// A world of a million ranks, its columns and a translation between them cost nothing to speak of.
#[test]
fn large_groups_are_small() {
    let world = Group::range(0, 1 << 20);
    let column = Group::of((0..1024).map(|row| row * 1024 + 7).collect());
    assert_eq!(translate(&column, &[3, abi::PROC_NULL], &world), Ok(vec![3079, abi::PROC_NULL]));
    assert_eq!(translate(&world, &[3079, 8], &column), Ok(vec![3, abi::UNDEFINED]));
    assert_eq!(translate(&column, &[1024], &world).map_err(|error| error.code), Err(abi::ERR_RANK));
}

#[test]
fn lists_are_checked() {
    let group = Group::range(10, 8);
    let code = |result: crate::Result<Vec<u32>>| result.map_err(|error| error.code);
    assert_eq!(code(ranks(&group, &[7, 0])), Ok(vec![7, 0]));
    assert_eq!(code(ranks(&group, &[8])), Err(abi::ERR_RANK));
    assert_eq!(code(ranks(&group, &[-1])), Err(abi::ERR_RANK));
    assert_eq!(code(ranks(&group, &[1, 2, 1])), Err(abi::ERR_RANK));
    // First, last, stride.
    assert_eq!(
        code(members(&group, &[[6, 7, 1], [1, 5, 2], [0, 0, 9]])),
        Ok(vec![6, 7, 1, 3, 5, 0])
    );
    assert_eq!(code(members(&group, &[[6, 2, -2]])), Ok(vec![6, 4, 2]));
    for wrong in [[0, 4, 0], [0, 4, -1], [4, 0, 1], [0, 8, 1], [-1, 3, 1], [0, 3, 1]] {
        let twice = [wrong, [3, 3, 1]];
        assert_eq!(code(members(&group, &twice)), Err(abi::ERR_ARG), "{wrong:?}");
    }
}

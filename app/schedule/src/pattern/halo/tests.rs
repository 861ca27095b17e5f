use super::grid;

#[test]
fn grids_are_as_near_to_a_cube_as_they_can_be() {
    assert_eq!(grid(7, 1), [7]);
    assert_eq!(grid(1, 2), [1, 1]);
    assert_eq!(grid(12, 2), [4, 3]);
    assert_eq!(grid(36, 2), [6, 6]);
    assert_eq!(grid(31, 2), [31, 1]);
    assert_eq!(grid(12, 3), [3, 2, 2]);
    assert_eq!(grid(7, 3), [7, 1, 1]);
    // 7 + 3 + 2 = 12 and 14 + 3 + 1 = 18, 21 + 2 + 1 = 24, 42 + 1 + 1 = 44.
    assert_eq!(grid(42, 3), [7, 3, 2]);
    assert_eq!(grid(64, 3), [4, 4, 4]);
    assert_eq!(grid(1 << 24, 3), [256, 256, 256]);
    assert_eq!(grid(u32::MAX, 2), [65_537, 65_535]);
}

// SAFETY, of all blocks here that say nothing else: what a call takes by address lives until it
// returns.

use std::ffi::{c_char, c_int};

use crate::abi::{self, Handle};
use crate::control::{host, ranks};
use crate::state::alongside;

unsafe extern "C" {
    fn heddle_Init(argc: *mut c_int, argv: *mut usize) -> c_int;
    fn heddle_Finalize() -> c_int;
    fn heddle_Comm_set_errhandler(comm: Handle, errhandler: Handle) -> c_int;
    fn heddle_Comm_group(comm: Handle, group: *mut Handle) -> c_int;
    fn heddle_Group_incl(group: Handle, n: c_int, ranks: *const c_int, new: *mut Handle) -> c_int;
    fn heddle_Comm_dup(comm: Handle, new: *mut Handle) -> c_int;
    fn heddle_Comm_split(comm: Handle, color: c_int, key: c_int, new: *mut Handle) -> c_int;
    fn heddle_Comm_split_type(
        comm: Handle,
        kind: c_int,
        key: c_int,
        info: Handle,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Comm_create(comm: Handle, group: Handle, new: *mut Handle) -> c_int;
    fn heddle_Comm_create_group(comm: Handle, group: Handle, tag: c_int, new: *mut Handle)
    -> c_int;
    fn heddle_Comm_compare(one: Handle, other: Handle, result: *mut c_int) -> c_int;
    fn heddle_Comm_free(comm: *mut Handle) -> c_int;
    fn heddle_Intercomm_create(
        local: Handle,
        leader: c_int,
        peer: Handle,
        remote: c_int,
        tag: c_int,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Intercomm_merge(inter: Handle, high: c_int, new: *mut Handle) -> c_int;
    fn heddle_Comm_remote_size(comm: Handle, size: *mut c_int) -> c_int;
    fn heddle_Comm_create_from_group(
        group: Handle,
        tag: *const c_char,
        info: Handle,
        errhandler: Handle,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Intercomm_create_from_groups(
        local: Handle,
        local_leader: c_int,
        remote: Handle,
        remote_leader: c_int,
        tag: *const c_char,
        info: Handle,
        errhandler: Handle,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Cart_create(
        comm: Handle,
        n: c_int,
        dims: *const c_int,
        periods: *const c_int,
        reorder: c_int,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Cart_sub(comm: Handle, remain: *const c_int, new: *mut Handle) -> c_int;
    fn heddle_Dist_graph_create(
        comm: Handle,
        n: c_int,
        sources: *const c_int,
        degrees: *const c_int,
        destinations: *const c_int,
        weights: *const c_int,
        info: Handle,
        reorder: c_int,
        new: *mut Handle,
    ) -> c_int;
}

/// Calls a function that makes an object and returns the object's handle.
macro_rules! made {
    ($function:ident ( $($argument:expr),* )) => {{
        let mut handle: Handle = 0;
        let code = unsafe { $function($($argument,)* &raw mut handle) };
        assert_eq!(code, abi::SUCCESS, stringify!($function));
        handle
    }};
}

/// A program between `MPI_Init` and `MPI_Finalize`, on each rank of a world.
fn program(size: u32, body: impl Fn(c_int) + Sync) {
    ranks(size, |rank| {
        let started = unsafe { heddle_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(started, abi::SUCCESS);
        unsafe { heddle_Comm_set_errhandler(abi::COMM_WORLD, abi::ERRORS_RETURN) };
        body(rank as c_int);
        assert_eq!(unsafe { heddle_Finalize() }, abi::SUCCESS);
    });
}

/// The ranks of the world in a communicator's groups.
fn groups(handle: Handle) -> (Vec<u32>, Vec<u32>) {
    alongside(|mpi| {
        let comm = mpi.comm(handle).unwrap();
        assert_eq!(comm.local.world(comm.rank()), Some(mpi.comms.me()));
        let remote = comm.remote.iter().flat_map(crate::group::Group::iter).collect();
        (comm.local.iter().collect(), remote)
    })
}

/// The number of a communicator; 0 for the null handle.
fn context(handle: Handle) -> u64 {
    alongside(|mpi| mpi.comm(handle).map_or(0, |comm| comm.context))
}

/// The neighbours of this rank in a communicator with a topology.
fn neighbours(handle: Handle) -> (Vec<c_int>, Vec<c_int>) {
    alongside(|mpi| mpi.comm(handle).unwrap().neighbours().unwrap())
}

/// The contexts that the ranks got, by rank.
fn contexts(size: u32, make: impl Fn(c_int) -> Handle + Sync) -> Vec<u64> {
    let found = std::sync::Mutex::new(vec![0; size as usize]);
    program(size, |rank| {
        let handle = make(rank);
        found.lock().unwrap()[rank as usize] = context(handle);
    });
    found.into_inner().unwrap()
}

#[test]
fn a_copy_has_the_same_ranks_and_another_context() {
    program(3, |_| {
        let copy = made!(heddle_Comm_dup(abi::COMM_WORLD));
        let mut result = 0;
        unsafe { heddle_Comm_compare(abi::COMM_WORLD, copy, &raw mut result) };
        assert_eq!(result, abi::CONGRUENT);
        let mut copy = copy;
        assert_eq!(unsafe { heddle_Comm_free(&raw mut copy) }, abi::SUCCESS);
        assert_eq!(copy, abi::COMM_NULL);
        assert_eq!(unsafe { heddle_Comm_free(&raw mut copy) }, abi::ERR_COMM);
    });
}

/// Colours 0, 1, 2, 0, 1, and none at rank 5; keys fall, so that the order turns.
#[test]
fn split_orders_by_key_and_leaves_out_who_has_no_colour() {
    let make = |rank: c_int| {
        let color = if rank == 5 { abi::UNDEFINED } else { rank % 3 };
        made!(heddle_Comm_split(abi::COMM_WORLD, color, -rank))
    };
    program(6, |rank| {
        let handle = make(rank);
        match rank {
            0 | 3 => assert_eq!(groups(handle).0, [3, 0]),
            1 | 4 => assert_eq!(groups(handle).0, [4, 1]),
            2 => assert_eq!(groups(handle).0, [2]),
            _ => assert_eq!(handle, abi::COMM_NULL),
        }
    });
    let contexts = contexts(6, make);
    assert_eq!((contexts[0], contexts[1]), (contexts[3], contexts[4]));
    assert!(contexts[0] != contexts[1] && contexts[1] != contexts[2] && contexts[2] != contexts[0]);
}

#[test]
fn ranks_of_a_host_share_memory() {
    program(5, |rank| {
        let handle = made!(heddle_Comm_split_type(
            abi::COMM_WORLD,
            abi::COMM_TYPE_SHARED,
            0,
            abi::INFO_NULL
        ));
        let all = 0..5;
        let expected: Vec<u32> = all.filter(|&other| host(other) == host(rank as u32)).collect();
        assert_eq!(groups(handle).0, expected);
        let own =
            made!(heddle_Comm_split_type(handle, abi::COMM_TYPE_HW_UNGUIDED, 0, abi::INFO_NULL));
        assert_eq!(own, abi::COMM_NULL, "a host has no parts");
    });
}

#[test]
fn subsets() {
    program(5, |rank| {
        let world = made!(heddle_Comm_group(abi::COMM_WORLD));
        // Two disjoint groups at once: even ranks backwards, odd ranks.
        let members: &[c_int] = if rank % 2 == 0 { &[4, 2, 0] } else { &[1, 3] };
        let group = made!(heddle_Group_incl(world, members.len() as c_int, members.as_ptr()));
        let subset = made!(heddle_Comm_create(abi::COMM_WORLD, group));
        let expected: Vec<u32> = members.iter().map(|&rank| rank as u32).collect();
        assert_eq!(groups(subset).0, expected);
        // Only the members of the first call the next, twice with the same tag.
        if rank % 2 == 0 {
            let one = made!(heddle_Comm_create_group(abi::COMM_WORLD, group, 7));
            let two = made!(heddle_Comm_create_group(abi::COMM_WORLD, group, 7));
            assert_ne!(context(one), context(two));
            assert_eq!(groups(two).0, [4, 2, 0]);
        }
        // A group that only some are in.
        let group = made!(heddle_Group_incl(world, 2, [1, 3].as_ptr()));
        let subset = made!(heddle_Comm_create(abi::COMM_WORLD, group));
        assert_eq!(subset == abi::COMM_NULL, rank % 2 == 0);
        // A rank that was left out still agrees with the others about what comes next.
        assert_eq!(groups(made!(heddle_Comm_dup(abi::COMM_WORLD))).0, [0, 1, 2, 3, 4]);
    });
}

/// Evens {0, 2, 4} and odds {1, 3}, with leaders 0 and 1.
fn bridge(rank: c_int) -> Handle {
    let half = made!(heddle_Comm_split(abi::COMM_WORLD, rank % 2, rank));
    let other = 1 - rank % 2;
    made!(heddle_Intercomm_create(half, 0, abi::COMM_WORLD, other, 5))
}

#[test]
fn two_groups_are_joined_and_merged() {
    program(5, |rank| {
        let inter = bridge(rank);
        let (even, odd) = (vec![0, 2, 4], vec![1, 3]);
        let expected = if rank % 2 == 0 { (even, odd) } else { (odd, even) };
        assert_eq!(groups(inter), expected);
        let mut size = 0;
        unsafe { heddle_Comm_remote_size(inter, &raw mut size) };
        assert_eq!(size, if rank % 2 == 0 { 2 } else { 3 });
        let merged = made!(heddle_Intercomm_merge(inter, c_int::from(rank % 2 == 0)));
        assert_eq!(groups(merged).0, [1, 3, 0, 2, 4]);
        let copy = made!(heddle_Comm_dup(inter));
        assert_eq!(groups(copy), expected);
        // Colour 0: ranks 0 of both groups. Colour 1: even ranks only, so nobody is there to talk
        // to.
        let color = match rank {
            0 | 1 => 0,
            3 => abi::UNDEFINED,
            _ => 1,
        };
        let part = made!(heddle_Comm_split(inter, color, 0));
        match rank {
            0 => assert_eq!(groups(part), (vec![0], vec![1])),
            1 => assert_eq!(groups(part), (vec![1], vec![0])),
            _ => assert_eq!(part, abi::COMM_NULL),
        }
        // A subset of each side: {4, 0} and {3}.
        let group = made!(heddle_Comm_group(inter));
        let members: &[c_int] = if rank % 2 == 0 { &[2, 0] } else { &[1] };
        let group = made!(heddle_Group_incl(group, members.len() as c_int, members.as_ptr()));
        let part = made!(heddle_Comm_create(inter, group));
        match rank {
            0 | 4 => assert_eq!(groups(part), (vec![4, 0], vec![3])),
            3 => assert_eq!(groups(part), (vec![3], vec![4, 0])),
            _ => assert_eq!(part, abi::COMM_NULL),
        }
    });
    let contexts = contexts(5, bridge);
    assert!(contexts.iter().all(|&context| context == contexts[0]));
}

#[test]
fn communicators_from_groups() {
    let make = |rank: c_int| {
        let world = made!(heddle_Comm_group(abi::COMM_WORLD));
        let (one, other) = if rank < 2 { ([0, 1], [2, 3]) } else { ([2, 3], [0, 1]) };
        let local = made!(heddle_Group_incl(world, 2, one.as_ptr()));
        let remote = made!(heddle_Group_incl(world, 2, other.as_ptr()));
        let tag = c"test".as_ptr();
        let (info, handler) = (abi::INFO_NULL, abi::ERRORS_RETURN);
        let intra = made!(heddle_Comm_create_from_group(local, tag, info, handler));
        assert_eq!(groups(intra).0, one.map(|rank| rank as u32));
        let inter =
            made!(heddle_Intercomm_create_from_groups(local, 0, remote, 0, tag, info, handler));
        assert_eq!(
            groups(inter),
            (one.map(|rank| rank as u32).to_vec(), other.map(|rank| rank as u32).to_vec())
        );
        inter
    };
    let contexts = contexts(4, make);
    assert!(contexts.iter().all(|&context| context == contexts[0]));
}

/// Ranks 0 to 5 in 2 rows of 3 columns, of which only the columns' dimension is a ring; rank 6 is
/// left over.
#[test]
fn grids_and_their_neighbours() {
    program(7, |rank| {
        let grid =
            made!(heddle_Cart_create(abi::COMM_WORLD, 2, [2, 3].as_ptr(), [0, 1].as_ptr(), 0));
        if rank == 6 {
            assert_eq!(grid, abi::COMM_NULL);
            return;
        }
        let (sources, destinations) = neighbours(grid);
        assert_eq!(sources, destinations);
        match rank {
            0 => assert_eq!(sources, [abi::PROC_NULL, 3, 2, 1]),
            5 => assert_eq!(sources, [2, abi::PROC_NULL, 4, 3]),
            _ => {}
        }
        let row = made!(heddle_Cart_sub(grid, [0, 1].as_ptr()));
        let first = (rank / 3 * 3) as u32;
        assert_eq!(groups(row).0, [first, first + 1, first + 2]);
        assert_eq!(neighbours(row).0.len(), 2);
    });
}

/// Rank 0 names a ring of all; each rank then knows its own two edges.
#[test]
fn distributed_graphs() {
    program(4, |rank| {
        let n = if rank == 0 { 4 } else { 0 };
        let weights =
            if rank == 0 { [10, 11, 12, 13].as_ptr() } else { abi::WEIGHTS_EMPTY as *const c_int };
        let graph = made!(heddle_Dist_graph_create(
            abi::COMM_WORLD,
            n,
            [0, 1, 2, 3].as_ptr(),
            [1, 1, 1, 1].as_ptr(),
            [1, 2, 3, 0].as_ptr(),
            weights,
            abi::INFO_NULL,
            0
        ));
        assert_eq!(neighbours(graph), (vec![(rank + 3) % 4], vec![(rank + 1) % 4]));
    });
}

// SAFETY, of all blocks here that say nothing else: what a call takes by address lives until it
// returns.

use std::ffi::c_int;
use std::ptr::null_mut;

use crate::abi::{self, Handle};
use crate::control::ranks;

unsafe extern "C" {
    fn heddle_Init(argc: *mut c_int, argv: *mut usize) -> c_int;
    fn heddle_Comm_set_errhandler(comm: Handle, handler: Handle) -> c_int;
    fn heddle_Cart_create(
        comm: Handle,
        n: c_int,
        dims: *const c_int,
        periods: *const c_int,
        reorder: c_int,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Cart_shift(
        comm: Handle,
        direction: c_int,
        steps: c_int,
        source: *mut c_int,
        destination: *mut c_int,
    ) -> c_int;
    fn heddle_Cart_rank(comm: Handle, coords: *const c_int, rank: *mut c_int) -> c_int;
    fn heddle_Cart_coords(comm: Handle, rank: c_int, room: c_int, coords: *mut c_int) -> c_int;
    fn heddle_Graph_create(
        comm: Handle,
        nodes: c_int,
        index: *const c_int,
        edges: *const c_int,
        reorder: c_int,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Graph_neighbors_count(comm: Handle, rank: c_int, count: *mut c_int) -> c_int;
    fn heddle_Graph_neighbors(comm: Handle, rank: c_int, room: c_int, found: *mut c_int) -> c_int;
    fn heddle_Dist_graph_create_adjacent(
        comm: Handle,
        indegree: c_int,
        sources: *const c_int,
        source_weights: *const c_int,
        outdegree: c_int,
        destinations: *const c_int,
        destination_weights: *const c_int,
        info: Handle,
        reorder: c_int,
        new: *mut Handle,
    ) -> c_int;
    fn heddle_Dist_graph_neighbors_count(
        comm: Handle,
        indegree: *mut c_int,
        outdegree: *mut c_int,
        weighted: *mut c_int,
    ) -> c_int;
    fn heddle_Dist_graph_neighbors(
        comm: Handle,
        indegree: c_int,
        sources: *mut c_int,
        source_weights: *mut c_int,
        outdegree: c_int,
        destinations: *mut c_int,
        destination_weights: *mut c_int,
    ) -> c_int;
    fn heddle_Topo_test(comm: Handle, kind: *mut c_int) -> c_int;
}

fn program(size: u32, body: impl Fn(c_int) + Sync) {
    ranks(size, |rank| {
        unsafe {
            assert_eq!(heddle_Init(null_mut(), null_mut()), abi::SUCCESS);
            heddle_Comm_set_errhandler(abi::COMM_WORLD, abi::ERRORS_RETURN);
        }
        body(rank as c_int);
    });
}

fn kind(comm: Handle) -> c_int {
    let mut kind = 0;
    assert_eq!(unsafe { heddle_Topo_test(comm, &raw mut kind) }, abi::SUCCESS);
    kind
}

/// 2 by 3 places; the second dimension is a ring. Rank 4 is at (1, 1).
#[test]
fn shifts_and_places() {
    program(6, |rank| unsafe {
        let mut grid = 0;
        let code = heddle_Cart_create(
            abi::COMM_WORLD,
            2,
            [2, 3].as_ptr(),
            [0, 1].as_ptr(),
            0,
            &raw mut grid,
        );
        assert_eq!((code, kind(grid)), (abi::SUCCESS, abi::CART));
        let shift = |direction, steps| {
            let (mut source, mut destination) = (0, 0);
            let (from, to) = (&raw mut source, &raw mut destination);
            assert_eq!(heddle_Cart_shift(grid, direction, steps, from, to), abi::SUCCESS);
            (source, destination)
        };
        if rank == 4 {
            assert_eq!(shift(0, 1), (1, abi::PROC_NULL));
            assert_eq!(shift(0, -1), (abi::PROC_NULL, 1));
            assert_eq!(shift(1, 1), (3, 5));
            assert_eq!(shift(1, -2), (3, 5));
            assert_eq!(shift(1, 3), (4, 4));
            assert_eq!(shift(0, 0), (4, 4));
            assert_eq!(shift(0, c_int::MIN), (abi::PROC_NULL, abi::PROC_NULL));
        }
        let (mut found, mut place) = (0, [0; 2]);
        assert_eq!(heddle_Cart_coords(grid, 5, 2, place.as_mut_ptr()), abi::SUCCESS);
        assert_eq!(place, [1, 2]);
        assert_eq!(heddle_Cart_rank(grid, [1, -1].as_ptr(), &raw mut found), abi::SUCCESS);
        assert_eq!(found, 5);
        assert_eq!(heddle_Cart_rank(grid, [2, 0].as_ptr(), &raw mut found), abi::ERR_ARG);
    });
}

/// The graph of four nodes with which the standard explains index and edges: 0 with 1 and 3, 2 with
/// 3.
#[test]
fn graphs_that_all_know() {
    program(5, |rank| unsafe {
        let (mut graph, mut count, mut found) = (0, 0, [-1; 2]);
        let (index, edges) = ([2, 3, 4, 6], [1, 3, 0, 3, 0, 2]);
        let code = heddle_Graph_create(
            abi::COMM_WORLD,
            4,
            index.as_ptr(),
            edges.as_ptr(),
            0,
            &raw mut graph,
        );
        assert_eq!(code, abi::SUCCESS);
        if rank == 4 {
            assert_eq!(graph, abi::COMM_NULL);
            return;
        }
        assert_eq!(kind(graph), abi::GRAPH);
        for (node, expected) in [(0, vec![1, 3]), (1, vec![0]), (2, vec![3]), (3, vec![0, 2])] {
            heddle_Graph_neighbors_count(graph, node, &raw mut count);
            assert_eq!(count as usize, expected.len());
            heddle_Graph_neighbors(graph, node, 2, found.as_mut_ptr());
            assert_eq!(found[..expected.len()], expected);
        }
        assert_eq!(heddle_Graph_neighbors_count(graph, 4, &raw mut count), abi::ERR_RANK);
    });
}

/// Each rank receives from the one before, with its own number as weight, and sends to all, unless
/// it is the last.
#[test]
fn graphs_of_which_a_rank_knows_its_edges() {
    program(3, |rank| unsafe {
        let mut graph = 0;
        let degree = if rank == 2 { 0 } else { 3 };
        let code = heddle_Dist_graph_create_adjacent(
            abi::COMM_WORLD,
            1,
            [(rank + 2) % 3].as_ptr(),
            [rank].as_ptr(),
            degree,
            [0, 1, 2].as_ptr(),
            [7, 8, 9].as_ptr(),
            abi::INFO_NULL,
            1,
            &raw mut graph,
        );
        assert_eq!((code, kind(graph)), (abi::SUCCESS, abi::DIST_GRAPH));
        let mut counts = [0; 3];
        let [into, out, weighted] = &mut counts;
        heddle_Dist_graph_neighbors_count(graph, into, out, weighted);
        assert_eq!(counts, [1, degree, 1]);
        let (mut source, mut weight, mut destinations, mut weights) =
            ([-1], [-1], [-1; 3], [-1; 3]);
        // Room for one destination only.
        let code = heddle_Dist_graph_neighbors(
            graph,
            1,
            source.as_mut_ptr(),
            weight.as_mut_ptr(),
            1,
            destinations.as_mut_ptr(),
            weights.as_mut_ptr(),
        );
        assert_eq!((code, source, weight), (abi::SUCCESS, [(rank + 2) % 3], [rank]));
        let first = if rank == 2 { [-1, -1] } else { [0, 7] };
        assert_eq!((destinations, weights), ([first[0], -1, -1], [first[1], -1, -1]));
    });
}

/* Cartesian, graph and distributed graph topologies, and collectives among neighbours. */
#include "conformance.h"

static void cartesian(void) {
    int dims[2] = {0, 0}, periods[2] = {1, 0}, at[2], got_dims[2], got_periods[2], place, from, to,
        kind, count;
    MPI_Comm grid, row;
    MPI_Dims_create(ranks, 2, dims);
    CHECK(dims[0] * dims[1] == ranks && dims[0] >= dims[1]);
    MPI_Cart_create(WORLD, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &kind);
    CHECK(kind == MPI_CART);
    MPI_Cartdim_get(grid, &count);
    MPI_Cart_get(grid, 2, got_dims, got_periods, at);
    CHECK(count == 2 && got_dims[0] == dims[0] && got_periods[0] && !got_periods[1]);
    CHECK(at[0] == rank / dims[1] && at[1] == rank % dims[1]);
    int beyond[2] = {at[0] + dims[0], at[1]};
    MPI_Cart_rank(grid, beyond, &place);
    CHECK(place == rank);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    CHECK(to == (at[1] + 1 < dims[1] ? rank + 1 : MPI_PROC_NULL));
    CHECK(from == (at[1] > 0 ? rank - 1 : MPI_PROC_NULL));
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    CHECK(to == (rank + dims[1]) % ranks && from == (rank - dims[1] + ranks) % ranks);
    /* Neighbours: dimension by dimension, the lower one first; none beyond an edge. */
    int in[4] = {-1, -1, -1, -1}, out[4];
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, grid);
    CHECK(in[0] == from && in[1] == to);
    CHECK(in[2] == (at[1] > 0 ? rank - 1 : -1) && in[3] == (at[1] + 1 < dims[1] ? rank + 1 : -1));
    for (int i = 0; i < 4; i++) out[i] = 10 * rank + i, in[i] = -1;
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
    /* What comes from below was sent upwards. */
    CHECK(in[2] == (at[1] > 0 ? 10 * (rank - 1) + 3 : -1));
    CHECK(in[3] == (at[1] + 1 < dims[1] ? 10 * (rank + 1) + 2 : -1));
    CHECK(in[0] == 10 * from + 1 && in[1] == 10 * to);
    int keep[2] = {0, 1}, size;
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_size(row, &size);
    MPI_Comm_rank(row, &place);
    CHECK(size == dims[1] && place == at[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    int fixed[3] = {0, 1, 0};
    MPI_Dims_create(12, 3, fixed);
    CHECK(fixed[0] == 4 && fixed[1] == 1 && fixed[2] == 3);
}

/* Each rank sends to the next one, and rank 0 to itself besides. */
static void distributed(void) {
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, count = rank ? 1 : 2, in,
        out, weighted;
    int sources[2] = {previous, 0}, targets[2] = {next, 0}, got[2] = {-1, -1},
        mine[2] = {rank, rank + 50};
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(WORLD, count, sources, MPI_UNWEIGHTED, count, targets,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == count && out == count && !weighted);
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, graph);
    /* A rank alone has two edges to itself, and nothing says which is which. */
    if (ranks > 1) CHECK(got[0] == previous && got[1] == (rank ? -1 : 50));
    int counts[2] = {2, 1}, at[2] = {1, 0}, all[3] = {-1, -1, -1};
    MPI_Request request;
    if (ranks > 1) {
        /* Counts differ: two values along the ring, one to itself. */
        int whole[3] = {rank + 7, rank, rank + 1};
        MPI_Ineighbor_alltoallv(whole, counts, at, MPI_INT, all, counts, at, MPI_INT, graph,
                                &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(all[1] == previous && all[2] == previous + 1 && all[0] == (rank ? -1 : 7));
    }
    MPI_Comm_free(&graph);
    /* Rank 0 says the whole ring, with weights. */
    int *nodes = malloc(3 * ranks * sizeof(int)), *degrees = nodes + ranks, *ends = degrees + ranks;
    int weights[32], got_source[1], got_weight[1], got_target[1], out_weight[1];
    for (int i = 0; i < ranks; i++)
        nodes[i] = i, degrees[i] = 1, ends[i] = (i + 1) % ranks, weights[i] = 5 + i;
    MPI_Dist_graph_create(WORLD, rank ? 0 : ranks, nodes, degrees, ends, weights, MPI_INFO_NULL, 0,
                          &graph);
    MPI_Dist_graph_neighbors(graph, 1, got_source, got_weight, 1, got_target, out_weight);
    CHECK(got_source[0] == previous && got_weight[0] == 5 + previous);
    CHECK(got_target[0] == next && out_weight[0] == 5 + rank);
    MPI_Comm_free(&graph);
    free(nodes);
}

/* Rank 0 is everybody's neighbour. */
static void star(void) {
    int index[32], edges[64], count, found[32], all[32];
    MPI_Comm graph;
    index[0] = ranks - 1;
    for (int i = 1; i < ranks; i++)
        index[i] = index[i - 1] + 1, edges[i - 1] = i, edges[ranks - 2 + i] = 0;
    MPI_Graph_create(WORLD, ranks, index, edges, 0, &graph);
    MPI_Graph_neighbors_count(graph, rank, &count);
    CHECK(count == (rank ? 1 : ranks - 1));
    MPI_Graph_neighbors(graph, rank, 32, found);
    if (rank) CHECK(found[0] == 0);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, graph);
    if (rank) CHECK(all[0] == 0);
    else for (int i = 1; i < ranks; i++) CHECK(all[i - 1] == i);
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    cartesian();
    distributed();
    star();
    MPI_Finalize();
    return 0;
}

/* Communicators of all kinds, and collectives whose counts differ from rank to rank. 4 ranks.
 * Returns 1 if a result is wrong. */
#include <mpi.h>
#include <stdio.h>

static int wrong;

static void check(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "wrong: %s\n", what);
        wrong = 1;
    }
}

int main(int argc, char **argv)
{
    int rank, size, color, counts[4] = {1, 2, 3, 4}, starts[4] = {0, 1, 3, 6}, data[10], got[10];
    int ones[4] = {1, 1, 1, 1}, steps[4] = {0, 4, 8, 12}, indices[4] = {0, 1, 2, 3}, sum = 0;
    MPI_Comm half, copy, later, first, both, merged;
    MPI_Group group, front;
    MPI_Request request;
    MPI_Datatype ints[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    color = rank % 2;
    for (int index = 0; index < 10; index++)
        data[index] = rank;

    /* Ranks 0, 2 and 1, 3, in descending order. */
    MPI_Comm_split(MPI_COMM_WORLD, color, -rank, &half);
    MPI_Comm_dup(half, &copy);
#if MPI_VERSION >= 4
    MPI_Comm_idup_with_info(half, MPI_INFO_NULL, &later, &request);
#else
    MPI_Comm_idup(half, &later, &request);
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, later);
    check(sum == (color ? 4 : 2), "the sum over half of the ranks");
    MPI_Bcast(&sum, 1, MPI_INT, 0, copy);

    /* Ranks 0 to 2 only. */
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 3, indices, &front);
    MPI_Comm_create(MPI_COMM_WORLD, front, &first);
    if (first != MPI_COMM_NULL) {
        MPI_Barrier(first);
        MPI_Comm_free(&first);
    }
    if (rank < 3) {
        MPI_Comm_create_group(MPI_COMM_WORLD, front, 5, &first);
        MPI_Barrier(first);
        MPI_Comm_free(&first);
    }

    /* Both halves face to face. Their leaders are world ranks 2 and 3. */
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, color ? 2 : 3, 7, &both);
    sum = 10 + color;
    MPI_Bcast(&sum, 1, MPI_INT, color ? 0 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL, both);
    check(sum == 10, "a broadcast between groups");
    MPI_Intercomm_merge(both, color, &merged);
    MPI_Barrier(merged);

    MPI_Allgatherv(data, counts[rank], MPI_INT, got, counts, starts, MPI_INT, MPI_COMM_WORLD);
    check(got[9] == 3 && got[5] == 2, "allgatherv");
    MPI_Gatherv(data, counts[rank], MPI_INT, got, counts, starts, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Scatterv(got, counts, starts, MPI_INT, rank == 2 ? MPI_IN_PLACE : got, counts[rank],
                 MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Alltoallv(data, ones, indices, MPI_INT, got, ones, indices, MPI_INT, MPI_COMM_WORLD);
    check(got[3] == 3, "alltoallv");
    MPI_Alltoallw(data, ones, steps, ints, got, ones, steps, ints, MPI_COMM_WORLD);
    MPI_Reduce_scatter(data, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(got[0] == 6, "reduce_scatter");
    /* What others than the root say of the receive buffer has no meaning. */
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, got, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Gather(&rank, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    MPI_Ialltoall(data, 1, MPI_INT, got, 1, MPI_INT, merged, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    MPI_Group_free(&front);
    MPI_Group_free(&group);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
    MPI_Comm_free(&later);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return wrong;
}

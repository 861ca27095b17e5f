/* Collectives that are started and completed later, several at a time, and persistent ones. */
#include "conformance.h"

static void many(void) {
    int sum = -1, last = ranks - 1, value = rank == last ? 9 : 0, all[32], mine = -1, prefix = -1,
        parts[32], out[32];
    MPI_Request requests[7];
    for (int i = 0; i < ranks; i++) out[i] = 100 * rank + i;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD, &requests[0]);
    MPI_Ibcast(&value, 1, MPI_INT, last, WORLD, &requests[1]);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, WORLD, &requests[2]);
    MPI_Iscatter(out, 1, MPI_INT, &mine, 1, MPI_INT, 0, WORLD, &requests[3]);
    MPI_Iscan(&rank, &prefix, 1, MPI_INT, MPI_MAX, WORLD, &requests[4]);
    MPI_Ialltoall(out, 1, MPI_INT, parts, 1, MPI_INT, WORLD, &requests[5]);
    MPI_Ibarrier(WORLD, &requests[6]);
    /* Messages pass between, with any tag. */
    int got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
    CHECK(got == (rank + ranks - 1) % ranks);
    /* Completed in another order than started, and not the same on all ranks. */
    for (int i = 0; i < 7; i++) MPI_Wait(&requests[(i * 3 + rank) % 7], MPI_STATUS_IGNORE);
    CHECK(sum == ranks * (ranks - 1) / 2 && value == 9 && mine == rank && prefix == rank);
    for (int i = 0; i < ranks; i++) CHECK(all[i] == i && parts[i] == 100 * i + rank);
}

static void tested(void) {
    double *values = malloc(100000 * sizeof *values), *sums = malloc(100000 * sizeof *sums);
    int done = 0;
    MPI_Request request;
    for (int i = 0; i < 100000; i++) values[i] = rank + i;
    MPI_Iallreduce(values, sums, 100000, MPI_DOUBLE, MPI_SUM, WORLD, &request);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    CHECK(sums[99999] == ranks * 99999.0 + ranks * (ranks - 1) / 2);
    free(values);
    free(sums);
}

static void persistent(void) {
    int value = 0, sum = -1, all[32];
    MPI_Request requests[3];
    MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Gather_init(&value, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Barrier_init(WORLD, MPI_INFO_NULL, &requests[2]);
    for (int round = 1; round < 4; round++) {
        value = round * (rank + 1);
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        CHECK(sum == round * ranks * (ranks + 1) / 2);
        if (rank == 0) for (int i = 0; i < ranks; i++) CHECK(all[i] == round * (i + 1));
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
}

/* Nothing is empty for those who give nothing. */
static void empty(void) {
    int counts[32] = {0}, at[32] = {0}, all[32], value = 5;
    MPI_Bcast(&value, 0, MPI_INT, 0, WORLD);
    MPI_Allgatherv(NULL, 0, MPI_INT, NULL, counts, at, MPI_INT, WORLD);
    MPI_Alltoallv(&value, counts, at, MPI_INT, all, counts, at, MPI_INT, WORLD);
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, ranks - 1, WORLD);
    counts[0] = 1;
    MPI_Allgatherv(&value, rank == 0, MPI_INT, all, counts, at, MPI_INT, WORLD);
    CHECK(all[0] == 5);
    MPI_Gatherv(&value, rank == 0, MPI_INT, all, counts, at, MPI_INT, ranks - 1, WORLD);
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, WORLD);
    MPI_Sendrecv(NULL, 0, MPI_INT, (rank + 1) % ranks, 3, NULL, 0, MPI_INT,
                 (rank + ranks - 1) % ranks, 3, WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    many();
    tested();
    persistent();
    empty();
    MPI_Finalize();
    return 0;
}

/* What most programs do; each line that it prints is a failure. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

#define CHECK(condition) \
    do { \
        if (!(condition)) printf("rank %d: line %d: %s\n", rank, __LINE__, #condition); \
    } while (0)

static void messages(void) {
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, got = -1, count;
    MPI_Status status;
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 7, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    CHECK(got == from && status.MPI_SOURCE == from && status.MPI_TAG == 7);
    /* Messages of one pair do not overtake each other, whatever is received first by its tag. */
    int values[4] = {10, 11, 12, 13}, first, second;
    MPI_Request requests[2];
    MPI_Isend(&values[0], 1, MPI_INT, to, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&values[1], 1, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(&second, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&first, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(first == 10 && second == 11 && status.MPI_TAG == 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Isend(values, 3, MPI_INT, to, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    int three[3];
    MPI_Recv(three, 3, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(count == 3 && three[2] == 12);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void large(void) {
    int count = 1 << 18, *out = malloc(count * sizeof *out), *in = malloc(count * sizeof *in),
        flag = 0;
    for (int i = 0; i < count; i++) out[i] = rank * 1000 + i;
    MPI_Request requests[2];
    MPI_Irecv(in, count, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, count, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
    while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(in[count - 1] == (rank + 1) % ranks * 1000 + count - 1);
    free(out);
    free(in);
}

static void collectives(void) {
    int sum, all[64], root = ranks - 1, value = rank == root ? 42 : 0, prefix = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * (ranks - 1) / 2);
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == 42);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) CHECK(all[i] == i);
    int to[64], from[64];
    for (int i = 0; i < ranks; i++) to[i] = 100 * rank + i;
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) CHECK(from[i] == 100 * i + rank);
    MPI_Scan(&rank, &prefix, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(prefix == rank * (rank + 1) / 2);
    int mine = -1;
    MPI_Scatter(to, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(mine == rank);
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double both[2] = {rank, 1}, total[2];
    MPI_Ireduce(both, total, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) CHECK(total[0] == sum && total[1] == ranks);
}

static void communicators(void) {
    MPI_Comm half, copy;
    int size, place, sum;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_size(half, &size);
    MPI_Comm_rank(half, &place);
    CHECK(size == (ranks + 1 - rank % 2) / 2 && place == size - 1 - rank / 2);
    MPI_Comm_dup(half, &copy);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
    int expected = 0;
    for (int i = rank % 2; i < ranks; i += 2) expected += i;
    CHECK(sum == expected);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

/* Each rank has its own copy of variables. */
static int counter = 5;
static _Thread_local int local = 6;

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    counter += rank;
    local += rank;
    messages();
    large();
    collectives();
    communicators();
    CHECK(counter == 5 + rank && local == 6 + rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) fprintf(stderr, "%.6f us\n", MPI_Wtime() * 1e6);
    MPI_Finalize();
    return 0;
}

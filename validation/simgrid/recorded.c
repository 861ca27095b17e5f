/* Small MPI programs, one for each way in which SMPI records a call: recorded NAME. Compiled with
 * smpicc and recorded with smpirun -trace-ti. Without a name, it prints all names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL = 200, LARGE = 40000 };

static int rank, ranks, next, last;
static double *out, *in;

static void ring(int count)
{
    MPI_Sendrecv(out, count, MPI_DOUBLE, next, 0, in, count, MPI_DOUBLE, last, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void post(MPI_Request requests[2], int count)
{
    MPI_Irecv(in, count, MPI_DOUBLE, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, count, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[1]);
}

/* ---- Point to point ---- */

static void blocking(void)
{
    for (int count = SMALL; count <= LARGE; count *= 200)
        if (rank % 2 == 0 && rank + 1 < ranks) {
            MPI_Send(out, count, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, count, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank % 2) {
            MPI_Recv(in, count, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, count, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD);
        }
}

static void wait_each(void)
{
    MPI_Request requests[2];
    post(requests, SMALL);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void wait_all(void)
{
    MPI_Request requests[2];
    post(requests, LARGE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    post(requests, SMALL);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void wait_any(void)
{
    MPI_Request requests[2];
    int index;
    post(requests, SMALL);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void test_loop(void)
{
    MPI_Request requests[2];
    int flag = 0;
    post(requests, LARGE);
    while (!flag)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void test_once(void)
{
    MPI_Request requests[2];
    int flag;
    post(requests, SMALL);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void test_three_times(void)
{
    MPI_Request requests[2];
    int flag;
    post(requests, LARGE);
    for (int look = 0; look < 3; look++)
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(in, SMALL, MPI_DOUBLE, last, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, SMALL, MPI_DOUBLE, next, 2, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void persistent_all(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(in, LARGE, MPI_DOUBLE, last, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, LARGE, MPI_DOUBLE, next, 2, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void from_anyone(void)
{
    if (rank == 0)
        for (int other = 1; other < ranks; other++)
            MPI_Recv(in, SMALL, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    else
        MPI_Send(out, SMALL, MPI_DOUBLE, 0, rank, MPI_COMM_WORLD);
}

static void synchronous(void)
{
    MPI_Request request;
    MPI_Irecv(in, SMALL, MPI_DOUBLE, last, 3, MPI_COMM_WORLD, &request);
    MPI_Ssend(out, SMALL, MPI_DOUBLE, next, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void immediate_synchronous(void)
{
    MPI_Request requests[2];
    MPI_Irecv(in, SMALL, MPI_DOUBLE, last, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(out, SMALL, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void exchange(void) { ring(LARGE); }

static void replace(void)
{
    MPI_Sendrecv_replace(out, SMALL, MPI_DOUBLE, next, 4, last, 4, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
}

static void probed(void)
{
    if (rank == 0) {
        MPI_Send(out, SMALL, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Probe(0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, SMALL, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void to_nobody(void)
{
    MPI_Send(out, SMALL, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    ring(SMALL);
}

static void no_bytes(void) { ring(0); }

/* ---- Types ---- */

static void of_type(MPI_Datatype type, int count)
{
    MPI_Sendrecv(out, count, type, next, 6, in, count, type, last, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void made(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    of_type(type, 3);
    MPI_Bcast(out, 2, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

static void contiguous(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(1000, MPI_DOUBLE, &type);
    made(type);
}

static void vector(void)
{
    MPI_Datatype type;
    MPI_Type_vector(100, 3, 7, MPI_DOUBLE, &type);
    made(type);
}

static void indexed(void)
{
    MPI_Datatype type;
    int lengths[] = {5, 1, 30}, places[] = {0, 9, 20};
    MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    made(type);
}

static void structure(void)
{
    MPI_Datatype type, parts[] = {MPI_INT, MPI_DOUBLE};
    int lengths[] = {3, 50};
    MPI_Aint places[] = {0, 16};
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    made(type);
}

static void usual_types(void)
{
    MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE,
                            MPI_BYTE};
    for (int place = 0; place < 7; place++)
        of_type(types[place], 500);
}

static void rare_types(void)
{
    MPI_Datatype types[] = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_LONG_LONG,
                            MPI_UNSIGNED_LONG_LONG, MPI_INT64_T, MPI_UINT8_T, MPI_C_BOOL,
                            MPI_DOUBLE_INT, MPI_2INT};
    for (int place = 0; place < 10; place++)
        of_type(types[place], 300);
}

/* ---- Collectives ---- */

#define WORLD MPI_COMM_WORLD

static int *counts, *places;

static void barrier(void) { MPI_Barrier(WORLD); }
static void bcast(void) { MPI_Bcast(out, LARGE, MPI_DOUBLE, 1, WORLD); }
static void reduce(void) { MPI_Reduce(out, in, LARGE, MPI_DOUBLE, MPI_SUM, 1, WORLD); }
static void allreduce(void) { MPI_Allreduce(out, in, LARGE, MPI_DOUBLE, MPI_MAX, WORLD); }
static void allreduce_small(void) { MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, WORLD); }
static void scan(void) { MPI_Scan(out, in, SMALL, MPI_DOUBLE, MPI_SUM, WORLD); }
static void exscan(void) { MPI_Exscan(out, in, SMALL, MPI_DOUBLE, MPI_SUM, WORLD); }

static void gather(void)
{
    MPI_Gather(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, 0, WORLD);
}

static void gatherv(void)
{
    MPI_Gatherv(out, counts[rank], MPI_DOUBLE, in, counts, places, MPI_DOUBLE, 0, WORLD);
}

static void scatter(void)
{
    MPI_Scatter(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, 1, WORLD);
}

static void scatterv(void)
{
    MPI_Scatterv(out, counts, places, MPI_DOUBLE, in, counts[rank], MPI_DOUBLE, 0, WORLD);
}

static void allgather(void)
{
    MPI_Allgather(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, WORLD);
}

static void allgatherv(void)
{
    MPI_Allgatherv(out, counts[rank], MPI_DOUBLE, in, counts, places, MPI_DOUBLE, WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, WORLD);
}

static void alltoallv(void)
{
    int *same = malloc(sizeof(int) * (size_t)ranks), *at = malloc(sizeof(int) * (size_t)ranks);
    for (int other = 0; other < ranks; other++) {
        same[other] = 10 * (rank + other + 1);
        at[other] = 1000 * other;
    }
    MPI_Alltoallv(out, same, at, MPI_DOUBLE, in, same, at, MPI_DOUBLE, WORLD);
    free(same);
    free(at);
}

static void reduce_scatter(void)
{
    MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void reduce_scatter_block(void)
{
    MPI_Reduce_scatter_block(out, in, SMALL, MPI_DOUBLE, MPI_SUM, WORLD);
}

static void done(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

#define IMMEDIATE(name, ...)                                                                       \
    static void name(void)                                                                         \
    {                                                                                              \
        MPI_Request request;                                                                       \
        __VA_ARGS__;                                                                               \
        done(request);                                                                             \
    }

IMMEDIATE(ibarrier, MPI_Ibarrier(WORLD, &request))
IMMEDIATE(ibcast, MPI_Ibcast(out, LARGE, MPI_DOUBLE, 0, WORLD, &request))
IMMEDIATE(ireduce, MPI_Ireduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, 0, WORLD, &request))
IMMEDIATE(iallreduce, MPI_Iallreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, WORLD, &request))
IMMEDIATE(igather, MPI_Igather(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, 0, WORLD, &request))
IMMEDIATE(iscatter, MPI_Iscatter(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, 0, WORLD, &request))
IMMEDIATE(iallgather,
          MPI_Iallgather(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, WORLD, &request))
IMMEDIATE(ialltoall, MPI_Ialltoall(out, SMALL, MPI_DOUBLE, in, SMALL, MPI_DOUBLE, WORLD, &request))
IMMEDIATE(iscan, MPI_Iscan(out, in, SMALL, MPI_DOUBLE, MPI_SUM, WORLD, &request))

/* ---- Communicators and computation ---- */

static void split(void)
{
    MPI_Comm half;
    MPI_Comm_split(WORLD, rank % 2, rank, &half);
    ring(SMALL);
    MPI_Comm_free(&half);
}

static void dup_of_world(void)
{
    MPI_Comm other;
    MPI_Comm_dup(WORLD, &other);
    MPI_Allreduce(out, in, SMALL, MPI_DOUBLE, MPI_SUM, other);
    MPI_Comm_free(&other);
}

static void clock_read(void)
{
    double start = MPI_Wtime();
    ring(SMALL);
    if (MPI_Wtime() < start)
        MPI_Abort(WORLD, 1);
}

static void slept(void)
{
    if (rank == 1)
        usleep(2000);
    ring(SMALL);
}

static void halo(void)
{
    for (int step = 0; step < 5; step++) {
        MPI_Request requests[4];
        MPI_Irecv(in, 4 * SMALL, MPI_DOUBLE, last, 7, WORLD, &requests[0]);
        MPI_Irecv(in + LARGE, 4 * SMALL, MPI_DOUBLE, next, 8, WORLD, &requests[1]);
        MPI_Isend(out, 4 * SMALL, MPI_DOUBLE, next, 7, WORLD, &requests[2]);
        MPI_Isend(out, 4 * SMALL, MPI_DOUBLE, last, 8, WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, WORLD);
    }
}

#define PROGRAM(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} PROGRAMS[] = {
    PROGRAM(blocking), PROGRAM(wait_each), PROGRAM(wait_all), PROGRAM(wait_any),
    PROGRAM(test_loop), PROGRAM(test_once), PROGRAM(test_three_times), PROGRAM(persistent),
    PROGRAM(persistent_all), PROGRAM(from_anyone), PROGRAM(synchronous),
    PROGRAM(immediate_synchronous), PROGRAM(exchange), PROGRAM(replace), PROGRAM(probed),
    PROGRAM(to_nobody), PROGRAM(no_bytes), PROGRAM(contiguous), PROGRAM(vector), PROGRAM(indexed),
    PROGRAM(structure), PROGRAM(usual_types), PROGRAM(rare_types), PROGRAM(barrier),
    PROGRAM(bcast), PROGRAM(reduce), PROGRAM(allreduce), PROGRAM(allreduce_small), PROGRAM(scan),
    PROGRAM(exscan), PROGRAM(gather), PROGRAM(gatherv), PROGRAM(scatter), PROGRAM(scatterv),
    PROGRAM(allgather), PROGRAM(allgatherv), PROGRAM(alltoall), PROGRAM(alltoallv),
    PROGRAM(reduce_scatter), PROGRAM(reduce_scatter_block), PROGRAM(ibarrier), PROGRAM(ibcast),
    PROGRAM(ireduce), PROGRAM(iallreduce), PROGRAM(igather), PROGRAM(iscatter),
    PROGRAM(iallgather), PROGRAM(ialltoall), PROGRAM(iscan), PROGRAM(split), PROGRAM(dup_of_world),
    PROGRAM(clock_read), PROGRAM(slept), PROGRAM(halo),
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    next = (rank + 1) % ranks;
    last = (rank + ranks - 1) % ranks;
    out = calloc(4 * LARGE, sizeof *out);
    in = calloc(4 * LARGE, sizeof *in);
    counts = malloc(sizeof(int) * (size_t)ranks);
    places = malloc(sizeof(int) * (size_t)ranks);
    for (int other = 0; other < ranks; other++) {
        counts[other] = 100 * (other + 1);
        places[other] = other ? places[other - 1] + counts[other - 1] : 0;
    }
    for (size_t place = 0; place < sizeof PROGRAMS / sizeof *PROGRAMS; place++)
        if (argc < 2 && rank == 0)
            puts(PROGRAMS[place].name);
        else if (argc > 1 && strcmp(argv[1], PROGRAMS[place].name) == 0)
            PROGRAMS[place].run();
    free(out);
    free(in);
    free(counts);
    free(places);
    MPI_Finalize();
    return 0;
}

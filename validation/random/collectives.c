/* Random collectives, blocking or not, on random communicators, of one group or two: what is in
 * everybody's memory then, a line for each.
 *
 *   collectives SEED COUNT
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "random.h"

#define ROOM 65536
#define MOST 64

/* Associative, but not commutative: what comes first. */
static void first(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] = ((int *)in)[i];
}

static int from[ROOM], into[ROOM];
/* What each rank sends to each and gets of each, and where that is: of all-to-all, and of the
 * others. */
static int sends[MOST], sends_at[MOST], gets[MOST], gets_at[MOST], parts[MOST], parts_at[MOST];
static int sends_bytes[MOST], gets_bytes[MOST];
static MPI_Datatype types[MOST];

static MPI_Comm between(MPI_Comm comm, int color, int ranks, int number) {
    MPI_Group group, world;
    MPI_Comm new;
    int leaders[2] = {-1, -1}, leader;
    for (int rank = ranks - 1; rank >= 0; rank--)
        leaders[(rank * 7 + number) % 2] = rank;
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, 1, &leaders[color], group, &leader);
    MPI_Intercomm_create(comm, leader, MPI_COMM_WORLD, leaders[1 - color], number, &new);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_free(&comm);
    return new;
}

static void amounts(int me, int peers, int number, int alike) {
    int sent = 0, got = 0, part = 0;
    for (int i = 0; i < MOST; i++) {
        types[i] = MPI_INT;
        parts[i] = (i * 7 + number) % 9;
        parts_at[i] = part;
        part += parts[i] + 1;
    }
    for (int i = 0; i < peers; i++) {
        sends[i] = alike ? number % 7 : (me * 3 + i * 5 + number) % 11;
        gets[i] = alike ? number % 7 : (i * 3 + me * 5 + number) % 11;
        sends_at[i] = sent;
        gets_at[i] = got;
        sends_bytes[i] = sent * 4;
        gets_bytes[i] = got * 4;
        sent += sends[i] + i % 2;
        got += gets[i] + 1;
    }
}

/* A collective of those that have blocks for all alike. */
static void regular(int what, int size, int root, int is_root, int in_place, MPI_Comm comm,
                    MPI_Request *late) {
    void *mine = in_place ? MPI_IN_PLACE : (void *)from,
        *roots = in_place && is_root ? MPI_IN_PLACE : (void *)from;
    void *receives = in_place && is_root ? MPI_IN_PLACE : (void *)into;
    switch (what) {
    case 0:
        late ? MPI_Ibarrier(comm, late) : MPI_Barrier(comm);
        break;
    case 1:
        late ? MPI_Ibcast(from, size, MPI_INT, root, comm, late)
            : MPI_Bcast(from, size, MPI_INT, root, comm);
        break;
    case 2:
        late ? MPI_Igather(roots, size, MPI_INT, into, size, MPI_INT, root, comm, late)
             : MPI_Gather(roots, size, MPI_INT, into, size, MPI_INT, root, comm);
        break;
    case 3:
        late ? MPI_Iscatter(from, size, MPI_INT, receives, size, MPI_INT, root, comm, late)
             : MPI_Scatter(from, size, MPI_INT, receives, size, MPI_INT, root, comm);
        break;
    case 4:
        late ? MPI_Iallgather(mine, size, MPI_INT, into, size, MPI_INT, comm, late)
             : MPI_Allgather(mine, size, MPI_INT, into, size, MPI_INT, comm);
        break;
    default:
        late ? MPI_Ialltoall(mine, size, MPI_INT, into, size, MPI_INT, comm, late)
             : MPI_Alltoall(mine, size, MPI_INT, into, size, MPI_INT, comm);
        break;
    }
}

static void reduction(int what, int size, int root, int is_root, int in_place, MPI_Op op,
                      MPI_Comm comm, MPI_Request *late) {
    void *mine = in_place ? MPI_IN_PLACE : (void *)from,
        *roots = in_place && is_root ? MPI_IN_PLACE : (void *)from;
    switch (what) {
    case 0:
        late ? MPI_Ireduce(roots, into, size, MPI_INT, op, root, comm, late)
             : MPI_Reduce(roots, into, size, MPI_INT, op, root, comm);
        break;
    case 1:
        late ? MPI_Iallreduce(mine, into, size, MPI_INT, op, comm, late)
             : MPI_Allreduce(mine, into, size, MPI_INT, op, comm);
        break;
    case 2:
        late ? MPI_Iscan(mine, into, size, MPI_INT, op, comm, late)
            : MPI_Scan(mine, into, size, MPI_INT, op, comm);
        break;
    case 3:
        late ? MPI_Iexscan(mine, into, size, MPI_INT, op, comm, late)
            : MPI_Exscan(mine, into, size, MPI_INT, op, comm);
        break;
    case 4:
        late ? MPI_Ireduce_scatter_block(mine, into, size % 50, MPI_INT, op, comm, late)
             : MPI_Reduce_scatter_block(mine, into, size % 50, MPI_INT, op, comm);
        break;
    default:
        late ? MPI_Ireduce_scatter(mine, into, parts, MPI_INT, op, comm, late)
             : MPI_Reduce_scatter(mine, into, parts, MPI_INT, op, comm);
        break;
    }
}

/* A collective with blocks of many sizes. */
static void uneven(int what, int me, int root, int in_place, MPI_Comm comm, MPI_Request *late) {
    void *mine = in_place ? MPI_IN_PLACE : (void *)from,
        *roots = in_place && me == root ? MPI_IN_PLACE : (void *)from;
    void *receives = in_place && me == root ? MPI_IN_PLACE : (void *)into;
    switch (what) {
    case 0:
        late ? MPI_Ialltoallv(from, sends, sends_at, MPI_INT, into, gets, gets_at, MPI_INT, comm,
                              late)
             : MPI_Alltoallv(from, sends, sends_at, MPI_INT, into, gets, gets_at, MPI_INT, comm);
        break;
    case 1:
        late ? MPI_Ialltoallw(from, sends, sends_bytes, types, into, gets, gets_bytes, types, comm,
                              late)
             : MPI_Alltoallw(from, sends, sends_bytes, types, into, gets, gets_bytes, types, comm);
        break;
    case 2:
        late ? MPI_Igatherv(roots, parts[me], MPI_INT, into, parts, parts_at, MPI_INT, root, comm,
                            late)
             : MPI_Gatherv(roots, parts[me], MPI_INT, into, parts, parts_at, MPI_INT, root, comm);
        break;
    case 3:
        late ? MPI_Iscatterv(from, parts, parts_at, MPI_INT, receives, parts[me], MPI_INT, root,
                             comm, late)
             : MPI_Scatterv(from, parts, parts_at, MPI_INT, receives, parts[me], MPI_INT, root,
                            comm);
        break;
    default:
        late ? MPI_Iallgatherv(mine, parts[me], MPI_INT, into, parts, parts_at, MPI_INT, comm, late)
             : MPI_Allgatherv(mine, parts[me], MPI_INT, into, parts, parts_at, MPI_INT, comm);
        break;
    }
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Op projection;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(first, 0, &projection);
    unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 100;
    for (int number = 0; number < count; number++) {
        MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR, projection, MPI_MIN, MPI_BAND};
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm comm;
        int me, peers;
        begin(seed, (unsigned)number);
        int colors = 1 + (int)below(3), order = (int)below(3), color = (rank * 7 + number) % colors;
        MPI_Comm_split(MPI_COMM_WORLD, color, order == 0 ? rank : order == 1 ? -rank : rank * 5 % 3,
                       &comm);
        int is_inter = below(4) == 0 && colors == 2 && ranks > 1;
        if (is_inter)
            comm = between(comm, color, ranks, number);
        MPI_Comm_rank(comm, &me);
        is_inter ? MPI_Comm_remote_size(comm, &peers) : MPI_Comm_size(comm, &peers);
        int family = (int)below(3), what = (int)below(6), size = (int)below(300),
            chosen = (int)below(1000);
        int in_place = !is_inter && below(3) == 0, is_late = (int)below(2);
        MPI_Op op = ops[below(6)];
        int root = is_inter ? (color == 0 ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0)
            : chosen % peers;
        int is_root = is_inter ? root == MPI_ROOT : me == root;
        for (int i = 0; i < ROOM; i++) {
            from[i] = rank * 100003 + i * 17 + number;
            into[i] = in_place ? from[i] : -7;
        }
        amounts(me, peers, number, is_inter);
        MPI_Request *late = is_late ? &request : NULL;
        if (family == 0)
            regular(what, size, root, is_root, in_place, comm, late);
        else if (family == 1)
            reduction(is_inter ? what % 2 : what, size, root, is_root, in_place, op, comm, late);
        else
            uneven(is_inter ? what % 2 : what % 5, me, root, in_place, comm, late);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        /* What is arbitrary: of a reduction the memory of all but the root, and the first rank's of
         * an exclusive scan. */
        int arbitrary = family == 1
            && ((what == 0 && !is_root) || (what == 3 && me == 0 && !is_inter));
        unsigned long long mine[2] = {fingerprint(from, sizeof from),
                                      arbitrary ? 0 : fingerprint(into, sizeof into)};
        unsigned long long all[2 * MOST];
        MPI_Gather(mine, 2, MPI_UNSIGNED_LONG_LONG, all, 2, MPI_UNSIGNED_LONG_LONG, 0,
                   MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%d family %d what %d of %d groups%s%s%s:", number, family, what, colors,
                   is_inter ? " between" : "", in_place ? " in place" : "", is_late ? " late" : "");
            for (int i = 0; i < 2 * ranks; i++)
                printf(" %llx", all[i]);
            printf("\n");
        }
        MPI_Comm_free(&comm);
    }
    MPI_Op_free(&projection);
    MPI_Finalize();
    return 0;
}

/* Ranks take locks of each other's memory, alone or together, of one rank or of all, change what
 * lies there, by requests and without, and look for messages in between. Each adds to counters of
 * the others; in the end, these have what was added. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 20
#define BYTES 60000
#define COUNTERS 4

static unsigned state;
static int rank, ranks;
static long window[COUNTERS + BYTES / sizeof(long)], added[64];
static char from[BYTES], to[16][BYTES];
static MPI_Win win;

static unsigned any_of(unsigned count) {
    state = state * 1664525u + 1013904223u;
    return (state >> 9) % count;
}

static void touch(int target) {
    static int place, found;
    static long one = 1, before;
    MPI_Request request;
    int number, bytes = any_of(3) ? any_of(500) + 1 : any_of(BYTES) + 1, counter = any_of(COUNTERS);
    MPI_Aint data = COUNTERS * sizeof(long);
    char *into = to[place++ % 16];
    switch (any_of(7)) {
    case 0:
        MPI_Put(from, bytes, MPI_CHAR, target, data, bytes, MPI_CHAR, win);
        break;
    case 1:
        MPI_Get(into, bytes, MPI_CHAR, target, data, bytes, MPI_CHAR, win);
        break;
    case 2:
        MPI_Accumulate(&one, 1, MPI_LONG, target, counter * sizeof(long), 1, MPI_LONG, MPI_SUM,
                       win);
        added[target]++;
        break;
    case 3:
        MPI_Fetch_and_op(&one, &before, MPI_LONG, target, counter * sizeof(long), MPI_SUM, win);
        added[target]++;
        break;
    case 4:
        MPI_Rput(from, bytes, MPI_CHAR, target, data, bytes, MPI_CHAR, win, &request);
        if (any_of(2))
            MPI_Waitsome(1, &request, &number, &found, MPI_STATUSES_IGNORE);
        else
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 5:
        MPI_Rget(into, bytes, MPI_CHAR, target, data, bytes, MPI_CHAR, win, &request);
        for (found = any_of(2) ? MPI_Wait(&request, MPI_STATUS_IGNORE), 1 : 0; !found;)
            MPI_Test(&request, &found, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
}

static void lock_one(void) {
    int target = any_of(ranks);
    MPI_Win_lock(any_of(2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
    for (int left = any_of(4); left > 0; left--)
        touch(target);
    MPI_Win_unlock(target, win);
}

static void lock_all(void) {
    MPI_Win_lock_all(0, win);
    for (int left = any_of(6); left > 0; left--) {
        int target = any_of(ranks);
        touch(target);
        if (!any_of(3)) MPI_Win_flush(target, win);
        if (!any_of(5)) MPI_Win_flush_all(win);
        if (!any_of(5)) MPI_Win_flush_local(target, win);
    }
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv) {
    long sum[64] = {0}, mine = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = 104729u * 6 + rank * 1299709u + 7;
    MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 0; round < ROUNDS; round++) {
        /* Who holds all and who wants one alone wait for each other in no circle, as nobody holds
         * two. */
        if (any_of(2))
            lock_one();
        else
            lock_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(added, sum, ranks, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int counter = 0; counter < COUNTERS; counter++)
        mine += window[counter];
    MPI_Win_unlock(rank, win);
    if (mine != sum[rank]) {
        fprintf(stderr, "rank %d was given %ld, and has %ld\n", rank, sum[rank], mine);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

/* Locks that exclude each other, of some ranks and of all, flushes with and without something to
 * wait for, and epochs whose end is looked for. */
#include <mpi.h>

#define LONGS 4096

static int rank, ranks;
static long data[LONGS];

static void count(MPI_Win window) {
    long old;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_flush_local(0, window);
    old++;
    MPI_Put(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
}

static void shared_and_alone(int round, MPI_Win window, MPI_Win other) {
    int target = (rank + round) % ranks, next = (rank + 1) % ranks, behind = (rank + 2) % ranks;
    MPI_Win_lock(rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, other);
    MPI_Accumulate(data, 100 * rank, MPI_LONG, target, 0, 100 * rank, MPI_LONG, MPI_SUM, other);
    MPI_Win_unlock(target, other);
    if (rank == round) {
        MPI_Win_lock_all(0, window);
        for (int to = 0; to < ranks; to++)
            MPI_Put(data, 10, MPI_LONG, to, 1, 10, MPI_LONG, window);
        MPI_Win_unlock_all(window);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, behind, 0, other);
    MPI_Put(data, 1000, MPI_LONG, next, 20, 1000, MPI_LONG, window);
    MPI_Win_unlock(behind, other);
    MPI_Win_unlock(next, window);
}

static void idle(MPI_Win window) {
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int times = 0; times < 50; times++)
        MPI_Win_flush((rank + times) % ranks, window);
    MPI_Win_sync(window);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
}

static void looked_for(MPI_Win window) {
    MPI_Group all, peer;
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, done = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &previous, &peer);
    MPI_Win_post(peer, 0, window);
    MPI_Group_free(&peer);
    MPI_Group_incl(all, 1, &next, &peer);
    MPI_Win_start(peer, 0, window);
    MPI_Put(data, LONGS / 2, MPI_LONG, next, 0, LONGS / 2, MPI_LONG, window);
    MPI_Win_complete(window);
    while (!done)
        MPI_Win_test(window, &done);
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win window, other;
    long *memory;
    MPI_Win_allocate(sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_allocate(sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
    for (int round = 0; round < 3; round++) {
        count(window);
        shared_and_alone(round, window, other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    idle(window);
    looked_for(other);
    MPI_Win_free(&window);
    MPI_Win_free(&other);
    MPI_Finalize();
    return 0;
}

/* Windows over variables of the program (MPI 4.1, sections 12.2.1 and 12.2.4): each rank reaches
 * those of the others, not its own. */
#include "conformance.h"

enum { LENGTH = 16 };
static int data[LENGTH];
static int before = -1, counter, after = -2;
static _Thread_local long of_thread;

/* Puts and gets around the ring, into an initialised window and out of it. */
static void fenced(void) {
    MPI_Win window;
    int next = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, out[LENGTH], in[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
        data[i] = 100 * rank + i;
        out[i] = 1000 * rank + i;
    }
    MPI_Win_create(data, sizeof data, sizeof(int), MPI_INFO_NULL, WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Get(in, LENGTH, MPI_INT, next, 0, LENGTH, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < LENGTH; i++) CHECK(in[i] == 100 * next + i);
    MPI_Put(out, LENGTH / 2, MPI_INT, next, LENGTH / 2, LENGTH / 2, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < LENGTH; i++)
        CHECK(data[i] == (i < LENGTH / 2 ? 100 * rank + i : 1000 * from + i - LENGTH / 2));
    MPI_Win_free(&window);
}

/* All count at rank 0, whose neighbouring variables stay as they are. */
static void counted(void) {
    MPI_Win window;
    int one = 1, had = -1, all, sum;
    counter = 0;
    MPI_Win_create(&counter, sizeof counter, 1, MPI_INFO_NULL, WORLD, &window);
    for (int i = 0; i < 10; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Fetch_and_op(&one, &had, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_unlock(0, window);
        CHECK(had >= 0 && had < 10 * ranks);
    }
    MPI_Barrier(WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&all, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    CHECK(all == 10 * ranks && before == -1 && after == -2);
    MPI_Reduce(&counter, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD);
    if (rank == 0) CHECK(sum == 10 * ranks && counter == sum);
    MPI_Win_free(&window);
}

/* A variable of each thread, attached to a dynamic window. */
static void attached(void) {
    MPI_Win window;
    MPI_Aint mine, *all = malloc(ranks * sizeof *all);
    long got = -1;
    int next = (rank + 1) % ranks;
    of_thread = 7 + rank;
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &window);
    MPI_Win_attach(window, &of_thread, sizeof of_thread);
    MPI_Get_address(&of_thread, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, WORLD);
    MPI_Win_fence(0, window);
    MPI_Get(&got, 1, MPI_LONG, next, all[next], 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    CHECK(got == 7 + next && of_thread == 7 + rank);
    MPI_Win_detach(window, &of_thread);
    MPI_Win_free(&window);
    free(all);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    fenced();
    counted();
    attached();
    MPI_Finalize();
    return 0;
}

/* Two threads in MPI at once, in communicators of their own, though the program has said that only
 * one calls. */
#include "conformance.h"
#include <pthread.h>

enum { ROUNDS = 200 };
static MPI_Comm comms[2];

static void *sums(void *argument) {
    int thread = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int mine = round + thread, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[thread]);
        CHECK(sum == ranks * mine);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, threads[2] = {0, 1};
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_THREAD_FUNNELED);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    pthread_create(&other, NULL, sums, &threads[1]);
    sums(&threads[0]);
    pthread_join(other, NULL);
    MPI_Query_thread(&provided);
    CHECK(provided == MPI_THREAD_FUNNELED);
    MPI_Finalize();
    return 0;
}

/* A rank may run wherever it could before, and so may what it starts, whatever the simulator does
 * between its turns. */
#define _GNU_SOURCE
#include "conformance.h"
#include <pthread.h>
#include <sched.h>

static cpu_set_t before;

static void *looks(void *argument) {
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    CHECK(CPU_EQUAL(&now, &before));
    return argument;
}

int main(int argc, char **argv) {
    sched_getaffinity(0, sizeof before, &before);
    begin(&argc, &argv);
    for (int round = 0; round < 20; round++) {
        pthread_t thread;
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
        CHECK(sum == ranks * (ranks - 1) / 2);
        looks(NULL);
        pthread_create(&thread, NULL, looks, NULL);
        pthread_join(thread, NULL);
    }
    /* It is the program's to choose. */
    CPU_ZERO(&before);
    CPU_SET(sched_getcpu(), &before);
    sched_setaffinity(0, sizeof before, &before);
    MPI_Barrier(WORLD);
    looks(NULL);
    MPI_Finalize();
    looks(NULL);
    return 0;
}

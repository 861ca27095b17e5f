/* The cores that a rank has asked for are its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

static int there(void) {
    cpu_set_t now;
    CHECK(sched_getaffinity(0, sizeof now, &now) == 0);
    return CPU_COUNT(&now);
}

int main(int argc, char **argv) {
    cpu_set_t all, one, none, now;
    begin(&argc, &argv);
    int before = there(), first = 0;
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof all, &all) == 0
          && CPU_COUNT(&all) == before);
    while (!CPU_ISSET(first, &all)) first++;
    CPU_ZERO(&none);
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    if (rank == 1) CHECK(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
    if (rank == 2) CHECK(pthread_setaffinity_np(pthread_self(), sizeof none, &none) == EINVAL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(there() == (rank < 2 ? 1 : before));
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof now, &now) == 0);
    CHECK(CPU_EQUAL(&now, rank < 2 ? &one : &all));
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0 && there() == before);
    return end();
}

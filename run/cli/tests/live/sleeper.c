/* The clocks of the system in a program that only it can see MPI in: a second of sleep up to a
 * time, in its first thread and in another, in nanoseconds. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static long long slept(long nanoseconds) {
    struct timespec before, now, until;
    clock_gettime(CLOCK_MONOTONIC, &before);
    until = before;
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - before.tv_sec) * 1000000000LL + now.tv_nsec - before.tv_nsec;
}

static void *sleeps(void *argument) {
    slept(1000000);
    return argument;
}

int program(void) {
    pthread_t thread;
    MPI_Init(NULL, NULL);
    printf("%lld", slept(999999999));
    pthread_create(&thread, NULL, sleeps, NULL);
    pthread_join(thread, NULL);
    printf(" %.9f\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}

/* What the clocks of the system say of a second of sleep, in nanoseconds, and what MPI's says. */
#define _GNU_SOURCE
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long day(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec * 1000000000LL + now.tv_usec * 1000LL;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double start = MPI_Wtime();
    long long before = wall(), of_day = day();
    time_t seconds = time(NULL);
    poll(NULL, 0, 500);
    select(0, NULL, NULL, NULL, &(struct timeval){0, 500000});
    usleep(250000);
    nanosleep(&(struct timespec){0, 5000}, NULL);
    printf("%lld ", wall() - before);
    printf("%lld %d ", day() - of_day, (int)(time(NULL) - seconds));
    printf("%.6f\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}

/* What a rank computes shows in MPI_Wtime, be it the next call or not, and what another computes,
 * or it did before MPI_Init, does not. */
#include "check.h"

#include <time.h>

static volatile double sink;

/* Computes, and gives the seconds that the processor took. */
static double work(void) {
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (int i = 0; i < 10000000; i++) sink = sink * 0.999 + 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

static int about(double seconds, double expected) {
    return seconds > 0.95 * expected - 1e-4 && seconds < 1.05 * expected + 2e-3;
}

int main(int argc, char **argv) {
    double took = work(), longest, started, now;
    begin(&argc, &argv);
    started = MPI_Wtime();
    CHECK(started < 0.5 * took);
    took = work();
    now = MPI_Wtime();
    CHECK(about(now - started, took));
    took += work();
    now = MPI_Wtime();
    CHECK(about(now - started, took));
    MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    now = MPI_Wtime();
    /* The ranks start at the same time. */
    CHECK(about(now - started, longest));
    return end();
}

/* A handler of signals looks at the clock again and again, within calls of MPI too. */
#include "check.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t looks;

static void look(int signal) {
    struct timespec now;
    (void)signal;
    clock_gettime(CLOCK_MONOTONIC, &now);
    looks++;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 0; looks < 2000; round++) {
        MPI_Request requests[20];
        int values[20];
        for (int i = 0; i < 20; i++) values[i] = rank == 0 ? round + i : -1;
        for (int i = 0; i < 20; i++)
            MPI_Ibcast(&values[i], 1, MPI_INT, 0, MPI_COMM_SELF, &requests[i]);
        MPI_Waitall(20, requests, MPI_STATUSES_IGNORE);
        CHECK(rank > 0 || values[19] == round + 19);
    }
    often = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    return end();
}

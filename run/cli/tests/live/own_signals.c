// Catches, ignores or blocks the signals that end a command, as the first argument says; then
// writes a file of that name and waits.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void catch(int signal) { caught = signal; }

int main(int argc, char **argv) {
    const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    sigset_t set;
    sigemptyset(&set);
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "ended")) {
        if (rank == 1)
            exit(raise(SIGTERM) + 6);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_handler = catch}, old;
        if (!strcmp(argv[1], "caught"))
            sigaction(signals[i], &action, NULL);
        else if (!strcmp(argv[1], "ignored"))
            signal(signals[i], SIG_IGN);
        else if (!strcmp(argv[1], "raised")) {
            // Only rank 0 asks, and finds what it has asked for; another sees nothing of it.
            if (rank == 0)
                sigaction(signals[i], &action, NULL);
            MPI_Barrier(MPI_COMM_WORLD);
            sigaction(signals[i], NULL, &old);
            if (old.sa_handler != (rank == 0 ? catch : SIG_DFL))
                MPI_Abort(MPI_COMM_WORLD, 9);
            if (rank == 0 && (raise(signals[i]) || caught != signals[i]))
                MPI_Abort(MPI_COMM_WORLD, 8);
            caught = 0;
            if (rank == 0 && (kill(getpid(), signals[i]) || caught != signals[i]))
                MPI_Abort(MPI_COMM_WORLD, 7);
        }
        sigaddset(&set, signals[i]);
    }
    if (!strcmp(argv[1], "raised")) {
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(argv[1], "blocked"))
        sigprocmask(SIG_BLOCK, &set, NULL);
    fclose(fopen(argv[1], "w"));
    for (;;)
        usleep(1000);
}

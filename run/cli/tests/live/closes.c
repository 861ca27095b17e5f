/* Rank 1 closes descriptors that it has not opened, and ranks fork; or all go on until a signal
 * comes. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void at_end(void) { puts("at the end"); }

/* A child that ends in some way; its exit code. */
static int child(int way) {
    int status = -1;
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        if (way == 0) exit(7);
        if (way == 1) _exit(8);
        return -2;
    }
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "forks")) {
        atexit(at_end);
        if (child(0) != 7 || child(1) != 8) puts("wrong");
        int code = child(2);
        if (code == -2) return 9;
        if (code != 9) puts("wrong");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    if (rank == 1) {
        for (int i = 3; i < 1024; i++) close(i);
        closefrom(3);
        close_range(3, ~0U, 0);
        FILE *own = fopen("/dev/null", "r");
        if (!own || fclose(own)) puts("wrong");
    }
    if (!strcmp(argv[1], "ends")) {
        MPI_Finalize();
        return 0;
    }
    for (;;) MPI_Barrier(MPI_COMM_WORLD);
}

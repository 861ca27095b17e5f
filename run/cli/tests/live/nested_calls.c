/* A handler of signals calls MPI while the program is within a call of MPI. A call that only looks
 * something up works; another is an error, which by default ends the program. */
#include "conformance.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int code, size;

static void handle(int signal) {
    (void)signal;
    MPI_Comm_size(WORLD, &size);
    code = MPI_Barrier(MPI_COMM_SELF);
    handled++;
}

int main(int argc, char **argv) {
    int value = 5, class;
    begin(&argc, &argv);
    if (argc > 1) MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 1) {
        /* On the clock on the wall, rank 0 waits for this. */
        usleep(600000);
        MPI_Send(&value, 1, MPI_INT, 0, 0, WORLD);
    } else {
        struct sigaction action = {.sa_handler = handle};
        struct itimerval soon = {{0, 0}, {0, 200000}};
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &soon, NULL);
        value = 0;
        MPI_Recv(&value, 1, MPI_INT, 1, 0, WORLD, MPI_STATUS_IGNORE);
        MPI_Error_class(code, &class);
        CHECK(value == 5 && handled == 1 && size == 2 && class == MPI_ERR_OTHER);
        CHECK(MPI_Barrier(MPI_COMM_SELF) == MPI_SUCCESS);
    }
    MPI_Finalize();
    return 0;
}

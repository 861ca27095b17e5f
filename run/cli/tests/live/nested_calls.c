/* A handler of signals calls MPI while the program is within a call of MPI. A call that only looks
 * something up works; another is an error, which by default ends the program. */
#include "conformance.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int code, size, peer;

/* The signal by which rank 0 answers. */
#define ANSWER (SIGRTMIN + 1)

/* A signal that finds rank 0 outside of a call is not answered, so that another one comes. */
static void handle(int signal) {
    (void)signal;
    if (handled) return;
    MPI_Comm_size(WORLD, &size);
    code = MPI_Barrier(MPI_COMM_SELF);
    if (code == MPI_SUCCESS) return;
    handled = 1;
    kill(peer, ANSWER);
}

int main(int argc, char **argv) {
    int value = 5, class, own = getpid();
    struct sigaction action = {.sa_handler = handle};
    struct timespec moment = {0, 1000000};
    sigset_t answer;
    begin(&argc, &argv);
    if (argc > 1) MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&answer);
    sigaddset(&answer, ANSWER);
    sigprocmask(SIG_BLOCK, &answer, NULL);
    MPI_Sendrecv(&own, 1, MPI_INT, 1 - rank, 0, &peer, 1, MPI_INT, 1 - rank, 0, WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 1) {
        /* Meanwhile, rank 0 waits for the message. A rank that the error ends does not answer. */
        for (int tries = 0; argc > 1 || tries < 1000; tries++) {
            kill(peer, SIGALRM);
            if (sigtimedwait(&answer, NULL, &moment) > 0) break;
        }
        MPI_Send(&value, 1, MPI_INT, 0, 0, WORLD);
    } else {
        value = 0;
        MPI_Recv(&value, 1, MPI_INT, 1, 0, WORLD, MPI_STATUS_IGNORE);
        MPI_Error_class(code, &class);
        CHECK(value == 5 && handled == 1 && size == 2 && class == MPI_ERR_OTHER);
        CHECK(MPI_Barrier(MPI_COMM_SELF) == MPI_SUCCESS);
    }
    MPI_Finalize();
    return 0;
}

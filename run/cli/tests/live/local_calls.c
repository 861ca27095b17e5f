/* Calls that tell what a rank knows do not ask the system for the processor's time; a look for a
 * message does. A process that may not ask is ended when it does. */
#include "check.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ends this process when it asks for a time that the kernel has to tell. */
static int forbid(void) {
    struct sock_filter words[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clock_gettime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof words / sizeof *words, words};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
                                                           &program);
}

static MPI_Comm grid;

static int tells(void) {
    int number, ended, coordinate;
    MPI_Aint lower, extent;
    MPI_Status status = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    MPI_Type_size(MPI_DOUBLE, &number);
    MPI_Type_get_extent(MPI_DOUBLE, &lower, &extent);
    MPI_Get_count(&status, MPI_INT, &number);
    MPI_Finalized(&ended);
    MPI_Cart_coords(grid, 0, 1, &coordinate);
    return ended || coordinate;
}

static int looks(void) {
    int found;
    return MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

/* How a process ends that may not ask for the time: the signal or, times 256, its code. */
static int ending(int (*calls)(void)) {
    int how = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(forbid() ? 2 : calls());
    waitpid(child, &how, 0);
    return how;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int periodic = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
    CHECK(ending(tells) == 0);
    CHECK((ending(looks) & 127) == SIGSYS);
    MPI_Comm_free(&grid);
    return end();
}

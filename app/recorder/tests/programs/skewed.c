/* Rank 1 has clocks that are an hour ahead of the others', from before MPI_Init on. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    /* As Open MPI's launcher numbers ranks, and as MPICH's does. */
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (!failed && rank && atoi(rank) == 1)
        time->tv_sec += 3600;
    return failed;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* A program that ends in the middle: 100 exchanges, then as the argument says. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 100; round++)
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    if (!strcmp(argv[1], "abort") && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (!strcmp(argv[1], "kill") && rank == 1)
        kill(getpid(), SIGKILL);
    if (!strcmp(argv[1], "fault") && rank == 1)
        *(volatile int *)16 = 0;
    if (!strcmp(argv[1], "exit"))
        exit(4);
    for (;;)
        MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

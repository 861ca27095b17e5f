/* The ping-pong of benches/live.sh: two ranks give each other 8 B, so many times there and back as
 * the argument says. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, times = argc > 1 ? atoi(argv[1]) : 2000;
    long number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int time = 0; time < times; time++) {
        if (rank == 0) MPI_Send(&number, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_LONG, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        number++;
        if (rank == 1) MPI_Send(&number, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    }
    /* Each counts each message that it gets, on top of what the other has counted. */
    if (number != 2L * times - (rank == 1 && times > 0)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}

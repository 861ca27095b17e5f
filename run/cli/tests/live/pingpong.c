/* A message of 1000 bytes to and fro; prints half the time of a round in nanoseconds. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    char data[1000] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double start = MPI_Wtime();
    for (int i = 0; i < 100; i++) {
        if (rank == 0) MPI_Send(data, 1000, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data, 1000, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(data, 1000, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("%.3f\n", (MPI_Wtime() - start) / 200 * 1e9);
    MPI_Finalize();
    return 0;
}

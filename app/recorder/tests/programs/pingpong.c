/* Ranks 0 and 1 exchange messages of growing size: 10 there and back for each of 1 B, 4 B, ..., 64
 * KiB. */
#include <mpi.h>
#include <string.h>

static char buffer[1 << 16];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int size = 1; size <= 1 << 16; size *= 4)
        for (int round = 0; round < 10 && rank < 2; round++) {
            MPI_Status status;
            if (rank == 0) {
                MPI_Send(buffer, size, MPI_CHAR, 1, round, MPI_COMM_WORLD);
                MPI_Recv(buffer, sizeof buffer, MPI_CHAR, 1, round, MPI_COMM_WORLD, &status);
            } else {
                MPI_Recv(buffer, sizeof buffer, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buffer, size, MPI_CHAR, 0, round, MPI_COMM_WORLD);
            }
        }
    MPI_Finalize();
    return 0;
}

/* A rank that waits for a message or a collective, whichever comes first: the others come to the
 * collective only when it answers. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, index;
    double one = 1, sum = 0;
    char byte = 0;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        MPI_Irecv(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        printf("%d\n", index);
        MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else {
        if (rank == 1) {
            MPI_Send(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    if (sum != size)
        printf("%g is no sum\n", sum);
    MPI_Finalize();
    return 0;
}

/* A ring by persistent requests, 6 times, and calls after the end. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, out, in, ended;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = rank;
    MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 6; round++) {
        if (round % 2) {
            MPI_Startall(2, requests);
        } else {
            MPI_Start(&requests[1]);
            MPI_Start(&requests[0]);
        }
        MPI_Waitall(2, requests, statuses);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    MPI_Finalized(&ended);
    MPI_Get_version(&rank, &size);
    return ended && in == statuses[1].MPI_SOURCE ? 0 : 1;
}

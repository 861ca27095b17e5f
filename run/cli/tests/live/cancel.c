/* Receives that are cancelled, and then waited for or freed: cancel CASE. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, in = 0, out = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    MPI_Request request;
    if (!strcmp(argv[1], "persistent")) {
        MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    } else {
        MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
    }
    if (!strcmp(argv[1], "late"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&request);
    if (!strcmp(argv[1], "waited"))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        MPI_Request_free(&request);
    if (!strcmp(argv[1], "late")) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Sendrecv(&out, 1, MPI_INT, next, 77, &in, 1, MPI_INT, last, 77, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

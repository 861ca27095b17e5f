/* Synchronous sends of all kinds, received late, in another order than they were sent in, and from
 * anyone. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, values[3] = {7, 8, 9}, got[3] = {0}, wrong = 0;
    MPI_Request requests[3], again;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* Around a ring: even ranks send first. */
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (rank % 2 == 0)
        MPI_Ssend(values, 3, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Recv(got, 3, MPI_INT, before, 1, MPI_COMM_WORLD, &status);
    if (rank % 2 == 1)
        MPI_Ssend(values, 3, MPI_INT, next, 1, MPI_COMM_WORLD);
    wrong += got[2] != 9;

    /* What is sent first is received last. */
    if (rank > 0) {
        for (int i = 0; i < 3; i++)
            MPI_Issend(&values[i], 1, MPI_INT, 0, 10 + i, MPI_COMM_WORLD, &requests[i]);
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        for (int i = 2; i >= 0; i--)
            for (int from = 1; from < size; from++) {
                MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, 10 + i, MPI_COMM_WORLD, &status);
                wrong += got[0] != values[i];
            }
    }

    /* A persistent one, twice, beside a send that is not synchronous; and the receive that was
     * first there is withdrawn. */
    if (rank == 0) {
        MPI_Recv(got, 0, MPI_INT, 1, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ssend_init(values, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &again);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&again);
            MPI_Send(values, 2, MPI_INT, 1, 20, MPI_COMM_WORLD);
            MPI_Wait(&again, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&again);
    } else if (rank == 1) {
        MPI_Irecv(got, 3, MPI_INT, 0, 20, MPI_COMM_WORLD, &again);
        MPI_Cancel(&again);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        MPI_Send(got, 0, MPI_INT, 0, 30, MPI_COMM_WORLD);
        for (int i = 0; i < 4; i++)
            MPI_Recv(got, 3, MPI_INT, 0, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (wrong)
        fprintf(stderr, "rank %d has %d wrong values\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}

/* Messages and collectives of sizes only: there are no buffers. Prints what messages say of
 * themselves, and simulated time. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, ranks, count, kept = 7;
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(NULL, 1 << 20, MPI_DOUBLE, (rank + 1) % ranks, 3, NULL, 1 << 20, MPI_DOUBLE,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_Irecv(NULL, 5000, MPI_INT, (rank + 1) % ranks, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(NULL, 5000, MPI_INT, (rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    /* What communicators are made of is there. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    int members;
    MPI_Comm_size(half, &members);
    MPI_Bcast(NULL, 1 << 22, MPI_BYTE, 0, half);
    MPI_Allreduce(NULL, NULL, 1 << 16, MPI_DOUBLE, MPI_SUM, half);
    MPI_Alltoall(NULL, 1000, MPI_FLOAT, NULL, 1000, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Gather(NULL, 10, MPI_INT, NULL, 10, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Bcast(&kept, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("%d %d %d %d %d\n", status.MPI_SOURCE == (rank + ranks - 1) % ranks, status.MPI_TAG,
           count, members, kept);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

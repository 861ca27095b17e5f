/* Rank 1 does what the argument says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, data[4] = {0};
    if (!strcmp(argv[1], "early")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(argv[1], "alone"))
        MPI_Recv(data, 2, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(argv[1], "short")) MPI_Bcast(data, rank == 0 ? 4 : 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (!strcmp(argv[1], "root")) MPI_Bcast(data, 4, MPI_INT, rank == 2, MPI_COMM_WORLD);
    if (!strcmp(argv[1], "counts"))
        MPI_Allreduce(MPI_IN_PLACE, data, rank == 2 ? 2 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(argv[1], "sends")) {
        char *large = calloc(1 << 20, 1);
        MPI_Send(large, 1 << 20, MPI_CHAR, (rank + 1) % 3, 4, MPI_COMM_WORLD);
        MPI_Recv(large, 1 << 20, MPI_CHAR, (rank + 2) % 3, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(large);
    }
    if (!strcmp(argv[1], "posted") && rank == 1) {
        char *large = calloc(1 << 20, 1);
        MPI_Request request;
        MPI_Irecv(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Send(large, 1 << 20, MPI_CHAR, 2, 4, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!strcmp(argv[1], "many")) {
        MPI_Request requests[30];
        for (int i = 0; i < 30; i++)
            MPI_Irecv(data, 1, MPI_INT, (rank + 2) % 3, i + 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(30, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 1) {
        double reals[2];
        printf("why");
        if (!strcmp(argv[1], "kind"))
            MPI_Recv(reals, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(argv[1], "kind")) MPI_Barrier(MPI_COMM_WORLD);
        if (!strcmp(argv[1], "mixed"))
            MPI_Allreduce(data, data + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (!strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(argv[1], "minus")) MPI_Abort(MPI_COMM_WORLD, -1);
        if (!strcmp(argv[1], "zero")) MPI_Abort(MPI_COMM_WORLD, 0);
        if (!strcmp(argv[1], "exit")) exit(0);
        if (!strcmp(argv[1], "crash")) *(volatile int *)8 = 0;
        if (!strcmp(argv[1], "long"))
            MPI_Recv(data, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(argv[1], "wait"))
            MPI_Recv(data, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(argv[1], "late")) MPI_Barrier(MPI_COMM_WORLD);
        if (!strcmp(argv[1], "returns")) MPI_Barrier(MPI_COMM_WORLD);
        if (!strcmp(argv[1], "last")) MPI_Barrier(MPI_COMM_WORLD);
        if (!strcmp(argv[1], "rank")) MPI_Send(data, 1, MPI_INT, 9, 0, MPI_COMM_WORLD);
    } else {
        if (!strcmp(argv[1], "kind") && rank == 0) MPI_Send(data, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
        if (!strcmp(argv[1], "long")) MPI_Send(data, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (!strcmp(argv[1], "late")) MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "last") && rank == 1) *(volatile int *)8 = 0;
    return strcmp(argv[1], "returns") ? 0 : 3 * rank;
}

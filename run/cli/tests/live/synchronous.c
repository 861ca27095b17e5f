/* A synchronous send ends when a receive has met it. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int value = 5, flag, got[2] = {0, 0};
    MPI_Request requests[2];
    MPI_Status status;
    if (rank == 0) {
        /* The second message is received first. */
        MPI_Issend(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, requests);
        MPI_Issend(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, requests + 1);
        MPI_Recv(got, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &status);
        MPI_Test(requests, &flag, &status);
        CHECK(!flag);
        MPI_Wait(requests + 1, &status);
        MPI_Test(requests, &flag, &status);
        CHECK(!flag);
        MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
        MPI_Wait(requests, &status);
        MPI_Ssend(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        /* Of one that is cancelled the wait ends, received or not; it has begun, and the message is
         * not withdrawn. */
        MPI_Issend(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, requests);
        MPI_Recv(got, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &status);
        MPI_Cancel(requests);
        MPI_Wait(requests, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(!flag);
        MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Recv(got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &status);
        MPI_Recv(got, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &status);
        MPI_Recv(got + 1, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
        CHECK(got[0] == 5 && got[1] == 5);
        MPI_Recv(got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
        MPI_Send(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
        MPI_Recv(got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);
        MPI_Recv(got, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &status);
    }
    return end();
}

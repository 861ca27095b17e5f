/* 4 threads a rank, 1000 exchanges each between ranks 0 and 1. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

static int rank;

static void *work(void *number)
{
    int tag = (int)(intptr_t)number, value = tag, got;
    for (int round = 0; round < 1000; round++) {
        MPI_Request requests[2];
        MPI_Irecv(&got, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t threads[4];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (intptr_t tag = 0; tag < 4; tag++)
        pthread_create(&threads[tag], NULL, work, (void *)tag);
    for (int tag = 0; tag < 4; tag++)
        pthread_join(threads[tag], NULL);
    MPI_Finalize();
    return 0;
}

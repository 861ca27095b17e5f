/* Prints the median time of an iteration, in nanoseconds, of a ping-pong, a halo exchange and an
 * allreduce on two ranks: bench KIND BYTES ITERATIONS. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int count, char **arguments)
{
    int rank;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int bytes = atoi(arguments[2]), iterations = atoi(arguments[3]), peer = 1 - rank;
    char *out = calloc(1, (size_t)bytes + 8), *in = calloc(1, (size_t)bytes + 8);
    double *times = calloc((size_t)iterations, sizeof *times);
    for (int i = -iterations / 4; i < iterations; i++) {
        double start = now();
        if (strcmp(arguments[1], "pingpong") == 0 && rank == 0) {
            MPI_Send(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (strcmp(arguments[1], "pingpong") == 0) {
            MPI_Recv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        } else if (strcmp(arguments[1], "halo") == 0) {
            MPI_Request requests[2];
            MPI_Irecv(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(out, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        if (i >= 0)
            times[i] = now() - start;
    }
    qsort(times, (size_t)iterations, sizeof *times, ascending);
    /* MPICH over UCX's TCP may wait for ever for the last message if one rank ends first. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.0f\n", times[iterations / 2]);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}

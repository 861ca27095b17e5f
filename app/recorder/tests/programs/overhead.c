/* What a recorded call costs: a rank sends messages of 8 bytes to itself, in turns through the
 * recorder and past it, and prints the nanoseconds per call of both. The argument is the number of
 * messages; each is three calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK 1000

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *library = dlopen(argv[2], RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        MPI_Abort(MPI_COMM_WORLD, 2);
    __typeof__(&MPI_Isend) isend = (__typeof__(&MPI_Isend))dlsym(library, "PMPI_Isend");
    __typeof__(&MPI_Recv) receive = (__typeof__(&MPI_Recv))dlsym(library, "PMPI_Recv");
    __typeof__(&MPI_Wait) wait = (__typeof__(&MPI_Wait))dlsym(library, "PMPI_Wait");
    int chunks = atoi(argv[1]) / CHUNK;
    double *with = malloc(sizeof *with * (size_t)chunks),
        *bare = malloc(sizeof *bare * (size_t)chunks);
    double value = 1, got, total_with = 0, total_bare = 0;
    MPI_Request request;
    for (int chunk = 0; chunk < chunks; chunk++) {
        double start = seconds();
        for (int round = 0; round < CHUNK; round++) {
            MPI_Isend(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request);
            MPI_Recv(&got, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        double middle = seconds();
        for (int round = 0; round < CHUNK; round++) {
            isend(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &request);
            receive(&got, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            wait(&request, MPI_STATUS_IGNORE);
        }
        double end = seconds();
        total_with += with[chunk] = middle - start;
        total_bare += bare[chunk] = end - middle;
    }
    qsort(with, (size_t)chunks, sizeof *with, compare);
    qsort(bare, (size_t)chunks, sizeof *bare, compare);
    double calls = 3.0 * CHUNK * 1e-9;
    printf("recorded: median %.1f ns, mean %.1f ns; bare: median %.1f ns, mean %.1f ns; "
           "recorder: median %.1f ns, mean %.1f ns\n",
           with[chunks / 2] / calls, total_with / chunks / calls, bare[chunks / 2] / calls,
           total_bare / chunks / calls, (with[chunks / 2] - bare[chunks / 2]) / calls,
           (total_with - total_bare) / chunks / calls);
    MPI_Finalize();
    return 0;
}

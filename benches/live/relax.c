/* A relaxation over an array of so many MiB in each rank, so many steps, of which each rank carries
 * out as many as its third argument says and lets the mean of these pass for the others; neighbours
 * on a ring exchange 8 KB after each step. */
#include <heddle.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
    size_t count = (size_t)atoi(argv[1]) << 17;
    int steps = atoi(argv[2]), times = atoi(argv[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *array = malloc(count * sizeof *array), rim[1024];
    for (size_t i = 0; i < count; i++) array[i] = (double)i;
    for (int step = 0; step < steps; step++) {
        HEDDLE_SAMPLE(times, 0) {
            for (size_t i = 1; i + 1 < count; i++)
                array[i] = 0.25 * array[i - 1] + 0.5 * array[i] + 0.25 * array[i + 1];
        }
        MPI_Sendrecv(array, 1024, MPI_DOUBLE, (rank + 1) % ranks, 0, rim, 1024, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(array);
    MPI_Finalize();
    return 0;
}

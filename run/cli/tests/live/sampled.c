/* A block that runs a hundred times, or as often as its argument allows; prints how often it ran.
 */
#include <heddle.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sink;

static void work(void) {
    double x = 1;
    for (int i = 0; i < 300000; i++) x = x * 0.999 + 1;
    sink = x;
}

int main(int argc, char **argv) {
    int rank, times = atoi(argv[1]), ran = 0, all = argc > 3;
    double precision = atof(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 100; step++) {
        if (all) {
            HEDDLE_SAMPLE_ALL(times, precision) {
                ran++;
                work();
            }
        } else {
            HEDDLE_SAMPLE(times, precision) {
                ran++;
                work();
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int total;
    MPI_Reduce(&ran, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d\n", total);
    MPI_Finalize();
    return 0;
}

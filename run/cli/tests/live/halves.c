/* Ranks in two halves make and free communicators at the same time, and collectives of both are
 * under way at the same time. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Comm half, made;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    for (int round = 0; round < 50; round++) {
        MPI_Comm_dup(half, &made);
        MPI_Barrier(made);
        MPI_Comm_free(&made);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

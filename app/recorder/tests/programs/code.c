/* Ends with the exit code that its argument says. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
}

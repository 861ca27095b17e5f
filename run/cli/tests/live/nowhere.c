/* All ranks start a program that is not there, which rank 1 asks for. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Comm others;
    MPI_Init(&argc, &argv);
    MPI_Comm_spawn("./nowhere", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &others,
                   MPI_ERRCODES_IGNORE);
    MPI_Finalize();
    return 0;
}

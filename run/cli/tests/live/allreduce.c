/* One allreduce of eight bytes. */
#include <mpi.h>

int main(int argc, char **argv) {
    double one = 1, all;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all < 1;
}

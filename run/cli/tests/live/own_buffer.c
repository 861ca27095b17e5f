/* A rank's variable as the buffer of standard output. */
#include <mpi.h>
#include <stdio.h>

static char buffer[1 << 16];

int main(int argc, char **argv) {
    int rank;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("one\n");
    MPI_Barrier(MPI_COMM_WORLD);
    printf("one\n");
    MPI_Finalize();
    return 0;
}

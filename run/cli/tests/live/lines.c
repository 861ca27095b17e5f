/* A message there and one back, three times: each call has a line, and a function, of its own. */
#include <mpi.h>

static char bytes[2000];

__attribute__((noinline)) static void first(void) {
    MPI_Send(bytes, 1000, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(bytes, 2000, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    __asm__ volatile("");
}

__attribute__((noinline)) static void second(void) {
    MPI_Recv(bytes, 1000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(bytes, 2000, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    __asm__ volatile("");
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 3; round++)
        rank ? second() : first();
    MPI_Finalize();
    return 0;
}

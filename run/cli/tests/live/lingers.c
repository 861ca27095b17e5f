/* Sleeps for so many seconds between its begin and its end. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    sleep(atoi(argv[1]));
    MPI_Finalize();
    return 0;
}

/* Opens the library that is said. */
#include <dlfcn.h>
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    void *library = dlopen(argv[1], RTLD_NOW);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !library;
}

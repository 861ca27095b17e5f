/* A program that loads MPI while it runs, as interpreters do: with PART, the library that uses MPI.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef PART
#include <mpi.h>

void run(void) {
    int rank, ranks, old;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &old, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
#else
#include <dlfcn.h>

int main(int argc, char **argv) {
    void *part = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void (*run)(void) = part ? (void (*)(void))dlsym(part, "run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    run();
    return 0;
}
#endif

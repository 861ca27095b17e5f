/* Says a variable, whether the library preloaded.c is there and counts, and the sum of the ranks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const char *policy = getenv("OMP_WAIT_POLICY");
    int (*loaded)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "loaded");
    printf("%s %d %d\n", policy ? policy : "none", loaded && loaded() > 0, sum);
    MPI_Finalize();
    return 0;
}

/* Each rank fills two arrays of so many MiB, allocated in the way of the argument, and looks what
 * it finds. */
#include <heddle.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, ranks;
    size_t bytes = (size_t)atoi(argv[2]) << 20;
    int folded = !strcmp(argv[1], "folded");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *a = folded ? heddle_shared_malloc(bytes) : malloc(bytes);
    char *b = folded ? heddle_shared_malloc(bytes) : malloc(bytes / 2);
    if (!folded) b = realloc(b, bytes);
    if (!a || !b) return 1;
    memset(a, 10 + rank, bytes);
    memset(b, 50 + rank, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Whose was written last, at both ends; each array is one. */
    int last = a[0] - 10;
    int right = last >= 0 && last < ranks && a[bytes - 1] == a[0] && b[0] == a[0] + 40
        && b[bytes - 1] == b[0];
    printf("%s %s\n", right ? "whole" : "torn", last == rank ? "own" : "other");
    MPI_Barrier(MPI_COMM_WORLD);
    if (folded) {
        heddle_shared_free(a);
        heddle_shared_free(b);
    } else {
        free(a);
        free(b);
    }
    MPI_Finalize();
    return 0;
}

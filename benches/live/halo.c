/* The halo exchange of benches/live.sh: ranks on a periodic grid of two dimensions give 8 KB to
 * each of their four neighbours and agree on a number of 8 B, ten times. The data is checked once,
 * at the end.
 *
 *   mpicc -O2 -o halo halo.c
 *   heddle mpirun -n 1024 --in-process --compute-time off --allreduce rdb ./halo
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef STEPS
#define STEPS 10
#endif
#define BYTES 8192
#define WORDS (BYTES / (int)sizeof(double))

int main(int argc, char **argv) {
    int ranks, rank, extents[2] = {0, 0}, next[4];
    double *mine, *theirs, value, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dims_create(ranks, 2, extents);
    int rows = extents[0], columns = extents[1], row = rank / columns, column = rank % columns;
    next[0] = (row + rows - 1) % rows * columns + column;
    next[1] = (row + 1) % rows * columns + column;
    next[2] = row * columns + (column + columns - 1) % columns;
    next[3] = row * columns + (column + 1) % columns;
    mine = malloc(BYTES);
    theirs = malloc(4 * BYTES);

    for (int step = 0; step < STEPS; step++) {
        MPI_Request requests[8];
        mine[0] = mine[WORDS - 1] = rank + step;
        for (int side = 0; side < 4; side++)
            MPI_Irecv(theirs + side * WORDS, WORDS, MPI_DOUBLE, next[side], side, MPI_COMM_WORLD,
                      &requests[side]);
        for (int side = 0; side < 4; side++)
            MPI_Isend(mine, WORDS, MPI_DOUBLE, next[side], side ^ 1, MPI_COMM_WORLD,
                      &requests[4 + side]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        value = rank + step;
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }

    /* The ranks' numbers, and for each the number of the last step. */
    double expected = ranks * (ranks - 1.0) / 2 + ranks * (STEPS - 1.0);
    int wrong = sum != expected;
    for (int side = 0; side < 4; side++) {
        double last = next[side] + STEPS - 1;
        wrong |= theirs[side * WORDS] != last || theirs[side * WORDS + WORDS - 1] != last;
    }
    if (wrong) {
        fprintf(stderr, "rank %d has wrong data\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(mine);
    free(theirs);
    MPI_Finalize();
    return 0;
}

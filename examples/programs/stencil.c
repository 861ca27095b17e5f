/* Heat on a periodic square, by Jacobi's method: each rank has a tile, exchanges its rim with its
 * four neighbours, and every tenth step all agree on how much has changed.
 *
 *   mpicc -O2 -o stencil stencil.c -lm
 *   heddle mpirun -n 64 --machine examples/machines/fat-tree-648.toml ./stencil
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TILE 64
#define STEPS 50

static double old[TILE + 2][TILE + 2], new[TILE + 2][TILE + 2];

int main(int argc, char **argv) {
    int ranks, rank, extents[2] = {0, 0}, periodic[2] = {1, 1}, north, south, west, east;
    MPI_Comm grid;
    MPI_Datatype column;
    double start, change = 0, heat = 0, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, extents);
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periodic, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 0, 1, &north, &south);
    MPI_Cart_shift(grid, 1, 1, &west, &east);
    MPI_Type_vector(TILE, 1, TILE + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        for (int i = 1; i <= TILE; i++)
            for (int j = 1; j <= TILE; j++) old[i][j] = 1;

    start = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        MPI_Request requests[8];
        MPI_Irecv(&old[0][1], TILE, MPI_DOUBLE, north, 0, grid, &requests[0]);
        MPI_Irecv(&old[TILE + 1][1], TILE, MPI_DOUBLE, south, 1, grid, &requests[1]);
        MPI_Irecv(&old[1][0], 1, column, west, 2, grid, &requests[2]);
        MPI_Irecv(&old[1][TILE + 1], 1, column, east, 3, grid, &requests[3]);
        MPI_Isend(&old[TILE][1], TILE, MPI_DOUBLE, south, 0, grid, &requests[4]);
        MPI_Isend(&old[1][1], TILE, MPI_DOUBLE, north, 1, grid, &requests[5]);
        MPI_Isend(&old[1][TILE], 1, column, east, 2, grid, &requests[6]);
        MPI_Isend(&old[1][1], 1, column, west, 3, grid, &requests[7]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        double most = 0;
        for (int i = 1; i <= TILE; i++)
            for (int j = 1; j <= TILE; j++) {
                new[i][j] = (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) / 4;
                most = fmax(most, fabs(new[i][j] - old[i][j]));
            }
        for (int i = 1; i <= TILE; i++)
            for (int j = 1; j <= TILE; j++) old[i][j] = new[i][j];
        if (step % 10 == 9) MPI_Allreduce(&most, &change, 1, MPI_DOUBLE, MPI_MAX, grid);
    }
    double took = MPI_Wtime() - start;

    for (int i = 1; i <= TILE; i++)
        for (int j = 1; j <= TILE; j++) heat += old[i][j];
    MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
    if (rank == 0)
        printf("%d ranks: heat %.6f of %d, last change %.2e, %.1f us of simulated time per step\n",
               ranks, all, TILE * TILE, change, took / STEPS * 1e6);
    MPI_Finalize();
    /* Heat does not get lost. */
    return rank == 0 && fabs(all - TILE * TILE) > 1e-6;
}

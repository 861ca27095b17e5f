/* 5 steps (or as many as the argument says) of a two-dimensional exchange over a periodic grid of
 * ranks, with derived types for the columns; the same by a neighbourhood collective; a reduction
 * over all. */
#include <mpi.h>
#include <stdlib.h>

#define N 16

int main(int argc, char **argv)
{
    static double field[N + 2][N + 2];
    double sum, before[4 * N], after[4 * N];
    int size, dims[2] = {0, 0}, periods[2] = {1, 1}, from[4];
    MPI_Comm grid;
    MPI_Datatype column;
    MPI_Request requests[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 5;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Cart_shift(grid, 0, 1, &from[0], &from[1]);
    MPI_Cart_shift(grid, 1, 1, &from[2], &from[3]);
    MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int step = 0; step < steps; step++) {
        MPI_Irecv(&field[0][1], N, MPI_DOUBLE, from[0], 0, grid, &requests[0]);
        MPI_Irecv(&field[N + 1][1], N, MPI_DOUBLE, from[1], 1, grid, &requests[1]);
        MPI_Irecv(&field[1][0], 1, column, from[2], 2, grid, &requests[2]);
        MPI_Irecv(&field[1][N + 1], 1, column, from[3], 3, grid, &requests[3]);
        MPI_Isend(&field[N][1], N, MPI_DOUBLE, from[1], 0, grid, &requests[4]);
        MPI_Isend(&field[1][1], N, MPI_DOUBLE, from[0], 1, grid, &requests[5]);
        MPI_Isend(&field[1][N], 1, column, from[3], 2, grid, &requests[6]);
        MPI_Isend(&field[1][1], 1, column, from[2], 3, grid, &requests[7]);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        sum = field[1][1];
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    for (int index = 0; index < 4 * N; index++)
        before[index] = index;
    MPI_Neighbor_alltoall(before, N, MPI_DOUBLE, after, N, MPI_DOUBLE, grid);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}

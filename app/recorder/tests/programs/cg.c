/* 20 steps (or as many as the argument says) of the method of conjugate gradients for the Laplacian
 * in one dimension, 1000 points a rank (M. R. Hestenes and E. Stiefel, 1952). Returns 1 if the
 * residual did not shrink. */
#include <mpi.h>
#include <stdlib.h>

#define N 1000

static double x[N], r[N], p[N + 2], q[N];
static int rank, size;

static double dot(const double *a, const double *b)
{
    double local = 0, all = 0;
    for (int index = 0; index < N; index++)
        local += a[index] * b[index];
    MPI_Allreduce(&local, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 20;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int index = 0; index < N; index++)
        r[index] = p[index + 1] = 1.0 + index % 7;
    double rho = dot(r, r), first = rho;
    for (int step = 0; step < steps; step++) {
        MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 0, &p[N + 1], 1, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&p[N], 1, MPI_DOUBLE, right, 1, &p[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int index = 0; index < N; index++)
            q[index] = 2.5 * p[index + 1] - p[index] - p[index + 2];
        double alpha = rho / dot(p + 1, q), old = rho;
        for (int index = 0; index < N; index++) {
            x[index] += alpha * p[index + 1];
            r[index] -= alpha * q[index];
        }
        rho = dot(r, r);
        for (int index = 0; index < N; index++)
            p[index + 1] = r[index] + rho / old * p[index + 1];
    }
    MPI_Bcast(&rho, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return rho < first ? 0 : 1;
}

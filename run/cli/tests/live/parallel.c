/* The first thread calls MPI, within a parallel region of OpenMP. */
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv) {
    int level, rank, sum = 0, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum != ranks * (ranks - 1) / 2;
}

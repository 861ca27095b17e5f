/* The first thread of a team calls MPI within parallel regions of OpenMP, of two threads, of one,
 * and nested. Ranks are in regions of different sizes at the same time. */
#include <mpi.h>
#include <omp.h>

static int rank, ranks, wrong;

static int sum_of_ranks(void) {
    int sum = -1;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* A region of so many threads: what OpenMP knows of it is the same before and after the call. */
static void region(int threads) {
    int sum = 0, added = 0;
#pragma omp parallel num_threads(threads) reduction(+ : added)
    {
#pragma omp master
        {
            sum = sum_of_ranks();
            int own = omp_get_thread_num() == 0 && omp_get_num_threads() == threads;
            if (!own || omp_get_level() != 1) wrong++;
        }
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < 1000; i++) added += i;
    }
    if (sum != ranks * (ranks - 1) / 2 || added != 499500 || omp_get_level() != 0) wrong++;
}

static void nested(void) {
    int sum = 0;
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(1)
    {
        sum = sum_of_ranks();
        if (omp_get_level() != 2) wrong++;
    }
    if (sum != ranks * (ranks - 1) / 2) wrong++;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 5; round++) {
        region(1);
        region(1 + (rank + round) % 3);
        nested();
        if (sum_of_ranks() != ranks * (ranks - 1) / 2) wrong++;
    }
    MPI_Finalize();
    return wrong != 0;
}

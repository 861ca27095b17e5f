/* MPI in parallel regions of OpenMP: from all threads at once, in critical sections, and beside
 * threads that compute. */
#include "conformance.h"
#include <omp.h>

enum { THREADS = 3, ROUNDS = 10 };
static int sums[THREADS];
static int kept;
#pragma omp threadprivate(kept)

/* The sum of what a thread has got from a rank, after so many rounds. */
static int expected(int from, int thread, int rounds) {
    return rounds * (from * 100 + thread * 10) + rounds * (rounds - 1) / 2;
}

int main(int argc, char **argv) {
    int provided, all = 0;
    omp_set_num_threads(THREADS);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(omp_get_max_threads() == THREADS);
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
#pragma omp parallel
    {
        int tag = omp_get_thread_num();
        CHECK(omp_get_num_threads() == THREADS);
        kept = rank * 10 + tag;
        for (int round = 0; round < ROUNDS; round++) {
            int sent = rank * 100 + tag * 10 + round, got = -1;
            MPI_Request request;
            MPI_Irecv(&got, 1, MPI_INT, last, tag, MPI_COMM_WORLD, &request);
            MPI_Send(&sent, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(got == last * 100 + tag * 10 + round);
            sums[tag] += got;
#pragma omp barrier
            CHECK(sums[(tag + 1) % THREADS] == expected(last, (tag + 1) % THREADS, round + 1));
#pragma omp barrier
        }
    }
#pragma omp parallel
    {
        CHECK(kept == rank * 10 + omp_get_thread_num());
#pragma omp critical
        {
            int got;
            MPI_Sendrecv(&rank, 1, MPI_INT, next, 8, &got, 1, MPI_INT, last, 8, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            all += got + 1;
        }
#pragma omp critical(named)
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(all == THREADS * (last + 1));
    double total = 0;
#pragma omp parallel for reduction(+ : total) schedule(dynamic)
    for (int i = 0; i < 6; i++) {
        double here = 0, sum = 0;
        for (int j = 0; j < 100000; j++)
            here += 1.0 / (1 + j % 7);
        if (i % 2 == 0) {
#pragma omp critical
            MPI_Sendrecv(&here, 1, MPI_DOUBLE, next, 9, &sum, 1, MPI_DOUBLE, last, 9,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(sum == here);
        }
        total += here;
    }
    CHECK(total > 0);
    MPI_Finalize();
    return 0;
}

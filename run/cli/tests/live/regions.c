/* Each rank computes five times and exchanges a number with its neighbours after each; it looks
 * whether the number has come. */
#include <mpi.h>

static double work(double x) {
    for (int i = 0; i < 200000; i++) x = x * 0.999 + 1;
    return x;
}

int main(int argc, char **argv) {
    int rank, ranks, done = 0;
    double value = 1, other;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 0; step < 4; step++) {
        value = work(value + rank);
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &other, 1, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(&other, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &request);
    value = work(value);
    MPI_Send(&value, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

/* Ranks wait for a time of MPI_Wtime by nothing but looking at it; looks that are few cost all the
 * same. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    double start = MPI_Wtime(), first = MPI_Wtime() - start, now = start;
    for (int look = 0; look < 90; look++) {
        double last = now;
        now = MPI_Wtime();
        CHECK(look == 0 || now - last < 1.001 * first);
    }
    long looks = 0;
    while (MPI_Wtime() - start < 2) looks++;
    CHECK(looks > 100 && looks < 100000);
    CHECK(MPI_Wtime() - start < 2.01);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    CHECK(MPI_Wtime() - start < 1.001 * first);
    return end();
}

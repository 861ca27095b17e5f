/* A library with state of its own (library.c) has it for each rank. */
#include "check.h"

int count(int number);
extern int constructed;

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(constructed == 101);
    CHECK(count(rank + 1) == 7);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(count(rank + 2) == 2 * (rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(count(rank + 3) == 2 * (rank + 2));
    return end();
}

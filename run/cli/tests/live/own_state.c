/* What the C library keeps from one call to the next is each rank's own. */
#include "check.h"
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int option, number = 0, flag = 0;
    char words[] = "one two three", state[64];
    begin(&argc, &argv);
    while ((option = getopt(argc, argv, "n:v")) != -1) {
        if (option == 'n')
            number = atoi(optarg);
        flag |= option == 'v';
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(number == 5 && flag && optind == 4 && strcmp(argv[optind], "file") == 0);

    /* Without a seed, those of seed 1: the first two numbers of the C library. */
    CHECK(rand() == 1804289383);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(random() == 846930886);
    srand(rank + 1);
    srand48(7);
    CHECK(strcmp(strtok(words, " "), "one") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    int first = rand();
    double drawn = drand48();
    CHECK(strcmp(strtok(NULL, " "), "two") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    long other = lrand48();
    srand(rank + 1);
    srand48(7);
    CHECK(rand() == first && drand48() == drawn && lrand48() == other);
    char *before = initstate(3, state, sizeof state);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(setstate(before) == state);
    srand(rank + 1);
    CHECK(rand() == first);
    return end();
}

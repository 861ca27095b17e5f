/* A program checks itself: each line that it prints is a failure. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

#define CHECK(condition) \
    do { \
        if (!(condition)) \
            printf("%s: line %d: rank %d of %d: %s\n", __FILE__, __LINE__, rank, ranks, \
                   #condition); \
    } while (0)

#define WORLD MPI_COMM_WORLD

static inline void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
}

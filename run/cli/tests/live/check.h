/* A line for each check that fails; the exit code says whether any did. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int failed, rank, size;

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            failed++;                                                                \
            printf("%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #condition);    \
        }                                                                            \
    } while (0)

/* The call fails with an error of a class. */
#define FAILS(call, wanted)                                                          \
    do {                                                                             \
        int code = (call), class = MPI_SUCCESS;                                      \
        MPI_Error_class(code, &class);                                               \
        if (class != (wanted)) {                                                     \
            failed++;                                                                \
            printf("%s:%d: rank %d: %s: class %d\n", __FILE__, __LINE__, rank, #call, class); \
        }                                                                            \
    } while (0)

static void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int end(void) {
    int all;
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}

/* Two halves of the ranks write and read files of their own, while messages go round all of them.
 * What is read is what was written. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define BYTES 60000

static char from[BYTES], to[BYTES], read[BYTES];
static unsigned state = 1;

/* The same on all ranks. */
static unsigned any_of(unsigned count) {
    state = state * 1664525u + 1013904223u;
    return (state >> 9) % count;
}

static void check(int is_right, const char *what) {
    if (!is_right) {
        fprintf(stderr, "%s is wrong\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void use(MPI_File file, int rank, int ranks) {
    MPI_Offset size;
    int each = 1 + any_of(1000);
    memset(from, 'a' + rank, sizeof from);
    MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, rank * each, from, each, MPI_CHAR, MPI_STATUS_IGNORE);
    if (any_of(2)) MPI_File_sync(file);
    MPI_File_seek_shared(file, ranks * each, MPI_SEEK_SET);
    MPI_File_write_ordered(file, from, 10 * (rank + 1), MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_shared(file, from, 10, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_set_atomicity(file, any_of(2));
    MPI_File_read_all(file, read, ranks * each, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int other = 0; other < ranks; other++)
        check(read[other * each] == 'a' + other && read[(other + 1) * each - 1] == 'a' + other,
              "what MPI_File_read_all reads");
    MPI_File_read_at(file, ranks * each + 5 * rank * (rank + 1), read, 1, MPI_CHAR,
                     MPI_STATUS_IGNORE);
    check(read[0] == 'a' + rank, "what MPI_File_read_at reads");
    MPI_File_read_at_all_begin(file, rank * each, read, each, MPI_CHAR);
    MPI_File_read_at_all_end(file, read, MPI_STATUS_IGNORE);
    check(read[each - 1] == 'a' + rank, "what MPI_File_read_at_all_begin reads");
    MPI_File_sync(file);
    MPI_Allreduce(MPI_IN_PLACE, &each, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_File_get_size(file, &size);
    check(size == ranks * (each + 10) + 5 * ranks * (ranks + 1), "the size of the file");
}

int main(int argc, char **argv) {
    int rank, ranks, own, owns;
    char name[4096];
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Comm_size(half, &owns);
    snprintf(name, sizeof name, "%s.file-%d", argv[0], rank % 2);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_File file;
        MPI_Request requests[2];
        int bytes = 1 + any_of(BYTES);
        MPI_Irecv(to, bytes, MPI_CHAR, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(from, bytes, MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_File_open(half, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file);
        use(file, own, owns);
        MPI_File_close(&file);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (any_of(2)) MPI_Barrier(half);
    }
    MPI_Finalize();
    return 0;
}

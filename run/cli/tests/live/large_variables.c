/* Variables of 4 MB and of a few bytes: each rank has its own, which others reach in windows, and
 * which messages come out of and go into. */
#include "check.h"

#define WORDS (1 << 19)

static double zeros[WORDS];
static double begun[WORDS] = {[0] = 1, [WORDS - 1] = 2};
static double few[3] = {1, 2, 3};

static void own(void) {
    CHECK(begun[0] == 1 && begun[WORDS - 1] == 2 && begun[WORDS / 2] == 0 && few[1] == 2);
    for (int word = 0; word < WORDS; word += 511)
        zeros[word] = begun[word] = rank * 1e6 + word;
    few[1] = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int word = 0; word < WORDS; word++) {
        double wanted = word % 511 == 0 ? rank * 1e6 + word : 0;
        CHECK(zeros[word] == wanted);
        CHECK(begun[word] == (word == WORDS - 1 && word % 511 ? 2 : wanted));
    }
    CHECK(few[1] == rank);
}

static void messages(void) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Sendrecv(begun, WORDS, MPI_DOUBLE, next, 0, zeros, WORDS, MPI_DOUBLE, before, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(zeros[511] == before * 1e6 + 511 && begun[511] == rank * 1e6 + 511);
    MPI_Bcast(begun, WORDS, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK(begun[1022] == 1022 && zeros[511] == before * 1e6 + 511);
}

static void windows(void) {
    double mine = rank, got[3] = {0};
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Win large, small;
    MPI_Win_create(zeros, sizeof zeros, sizeof *zeros, MPI_INFO_NULL, MPI_COMM_WORLD, &large);
    MPI_Win_create(few, sizeof few, sizeof *few, MPI_INFO_NULL, MPI_COMM_WORLD, &small);
    MPI_Win_fence(0, large);
    MPI_Win_fence(0, small);
    MPI_Put(&mine, 1, MPI_DOUBLE, next, WORDS - 1, 1, MPI_DOUBLE, large);
    MPI_Get(got, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, small);
    MPI_Win_fence(0, large);
    MPI_Win_fence(0, small);
    CHECK(zeros[WORDS - 1] == before && got[0] == 1 && got[1] == next && got[2] == 3);
    MPI_Win_free(&large);
    MPI_Win_free(&small);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    own();
    messages();
    windows();
    return end();
}

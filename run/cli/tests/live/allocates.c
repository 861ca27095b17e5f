/* Allocates, frees and communicates, with an allocator of its own (allocator.c). */
#include "check.h"
#include <stdlib.h>

void *own_block(void);

int main(int argc, char **argv) {
    begin(&argc, &argv);
    free(own_block());
    for (int round = 0; round < 300; round++) {
        int *block = malloc(1000 * sizeof *block);
        MPI_Request request;
        for (int i = 0; i < 1000; i++) block[i] = rank == 0 ? round : -1;
        MPI_Ibcast(block, 1000, MPI_INT, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(block[999] == round);
        free(realloc(block, 8000));
    }
    return end();
}

// Each rank sends 96 MiB to the next, three times, before it receives: as much is on its way at a
// time, and more is allocated by MPI.
#include <mpi.h>
#include <stdlib.h>

enum { BYTES = 96 << 20, ROUNDS = 3 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = malloc(BYTES), *in;
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &in);
    for (int round = 0; round < ROUNDS; round++) {
        for (int at = 0; at < BYTES; at += 1024)
            out[at] = (char)(at / 1024 + rank + round);
        MPI_Request request;
        MPI_Isend(out, BYTES, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD, &request);
        int from = (rank + size - 1) % size;
        MPI_Recv(in, BYTES, MPI_CHAR, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int at = 0; at < BYTES; at += 1024)
            if (in[at] != (char)(at / 1024 + from + round))
                MPI_Abort(MPI_COMM_WORLD, 9);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Free_mem(in);
    free(out);
    MPI_Finalize();
}

/* The program of `pattern:two-way-ring` with messages of MPI: each rank of the ring sends to both
 * neighbours, takes in what comes first, and passes it on in its direction, until each message has
 * been where it began. With a second number of bytes the upper half of the ranks is not in the
 * ring: each of them sends messages of so many bytes to the next one of them. Ranks of the ring
 * print the sides, left or right, from which messages came. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void ring(int rank, int ranks, int bytes) {
    int neighbour[] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks}, came[] = {0, 0};
    char *message = calloc(1, bytes), *order = calloc(1, 2 * ranks + 1);
    for (int side = 0; side < 2; side++)
        MPI_Send(message, bytes, MPI_BYTE, neighbour[side], 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2 * ranks; i++) {
        MPI_Status status;
        MPI_Recv(message, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        int side = status.MPI_SOURCE != neighbour[0];
        order[i] = "LR"[side];
        if (++came[side] < ranks)
            MPI_Send(message, bytes, MPI_BYTE, neighbour[1 - side], 0, MPI_COMM_WORLD);
    }
    printf("%02d %s\n", rank, order);
    free(message);
    free(order);
}

static void load(int rank, int first, int ranks, int bytes) {
    int others = ranks - first;
    int to = first + (rank - first + 1) % others;
    int from = first + (rank - first + others - 1) % others;
    char *sent = calloc(1, bytes), *got = calloc(1, bytes);
    for (int i = 0; i < first; i++)
        MPI_Sendrecv(sent, bytes, MPI_BYTE, to, 0, got, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    free(sent);
    free(got);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int bytes = atoi(argv[1]), bulk = argc > 2 ? atoi(argv[2]) : 0;
    int members = argc > 2 ? ranks / 2 : ranks;
    if (rank < members)
        ring(rank, members, bytes);
    else if (bulk > 0)
        load(rank, members, ranks, bulk);
    MPI_Finalize();
    return 0;
}

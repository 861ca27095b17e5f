/* Messages go around a ring in both directions, and each rank passes on what comes in the order in
 * which it comes: the example program of NSIM (IPSJ SIG Technical Report, 2010, figure 3), with an
 * end that does not depend on that order. The ring is that of the even ranks. With a third
 * argument, odd ranks send messages of so many bytes around a ring of their own meanwhile: they
 * share nothing with the first one but the network. Prints what came to rank 0 from the left (L)
 * and from the right (R), and a number for the order at all ranks.
 *
 *   mpicc -O2 -o two_way_ring two_way_ring.c
 *   heddle mpirun -n 36 --network infiniband --topology torus:dims=6x6 ./two_way_ring 10 8192
 *   heddle mpirun -n 36 --network infiniband --topology torus:dims=6x6 ./two_way_ring 10 8192 65536
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT, RIGHT, SIDES };

static void ring(MPI_Comm comm, int rounds, int bytes) {
    int rank, ranks, came[SIDES] = {0, 0};
    unsigned number = 0, all;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int neighbour[SIDES] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    char *message = calloc(1, bytes), *order = calloc(1, SIDES * rounds + 1);
    for (int side = LEFT; side < SIDES; side++)
        MPI_Send(message, bytes, MPI_BYTE, neighbour[side], 0, comm);
    for (int i = 0; i < SIDES * rounds; i++) {
        MPI_Status status;
        MPI_Recv(message, bytes, MPI_BYTE, MPI_ANY_SOURCE, 0, comm, &status);
        int from = status.MPI_SOURCE == neighbour[LEFT] ? LEFT : RIGHT;
        order[i] = "LR"[from];
        number = 31 * number + from + 2 * rank;
        if (++came[from] < rounds)
            MPI_Send(message, bytes, MPI_BYTE, neighbour[1 - from], 0, comm);
    }
    MPI_Reduce(&number, &all, 1, MPI_UNSIGNED, MPI_BXOR, 0, comm);
    if (rank == 0) printf("%s %08x\n", order, all);
    free(message);
    free(order);
}

static void load(MPI_Comm comm, int rounds, int bytes) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    char *sent = calloc(1, bytes), *got = calloc(1, bytes);
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(sent, bytes, MPI_BYTE, to, 0, got, bytes, MPI_BYTE, from, 0, comm,
                     MPI_STATUS_IGNORE);
    free(sent);
    free(got);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3 || ranks < 5) {
        if (rank == 0) fprintf(stderr, "usage: two_way_ring ROUNDS BYTES [BULK], on 5 ranks or "
                                       "more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int rounds = atoi(argv[1]), bytes = atoi(argv[2]), bulk = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    if (rank % 2 == 0)
        ring(comm, rounds, bytes);
    else if (bulk > 0)
        load(comm, rounds, bulk);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

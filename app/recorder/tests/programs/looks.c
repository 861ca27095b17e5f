/* Messages that come early, are looked for again and again in each way there is, and leave from the
 * program's buffer. */
#include <mpi.h>
#include <stdlib.h>

#define LONG 100000

static int rank, ranks, next, previous;
static char from[LONG], to[2][LONG];

static void early(void) {
    MPI_Request request;
    MPI_Irecv(to[0], 1000, MPI_CHAR, previous, 1, MPI_COMM_WORLD, &request);
    if (rank == 0)
        MPI_Send(from, 10, MPI_CHAR, next, 2, MPI_COMM_WORLD);
    MPI_Send(from, 1000, MPI_CHAR, next, 1, MPI_COMM_WORLD);
    MPI_Recv(to[1], 10, MPI_CHAR, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(from, 10, MPI_CHAR, next, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void looked_for(int how, int bytes) {
    int done = 0, got = 0, index, indices[2];
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(to[i], bytes, MPI_CHAR, previous, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < rank; i++)
        MPI_Sendrecv(from, 8, MPI_CHAR, rank, 9, to[0], 8, MPI_CHAR, rank, 9, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Request sent;
        MPI_Isend(from, bytes, MPI_CHAR, next, i, MPI_COMM_WORLD, &sent);
        MPI_Request_free(&sent);
    }
    while (got < 2) {
        switch (how) {
        case 0:
            MPI_Test(&requests[got], &done, MPI_STATUS_IGNORE);
            got += done;
            break;
        case 1:
            MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
            got += done;
            break;
        case 2:
            MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
            got += done;
            break;
        default:
            MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
            got = done ? 2 : 0;
        }
    }
}

static void probed(void) {
    int found = 0;
    MPI_Send(from, 100, MPI_CHAR, next, 3, MPI_COMM_WORLD);
    while (!found)
        MPI_Iprobe(previous, 3, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    MPI_Recv(to[0], 100, MPI_CHAR, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* From anyone, long and short ones, whose senders wait for the answer. */
static void probed_from_anyone(void) {
    for (int bytes = 100; bytes <= LONG; bytes *= 1000) {
        if (rank > 0) {
            MPI_Ssend(from, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
            MPI_Send(from, bytes, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
        }
        for (int i = 2 * (ranks - 1); rank == 0 && i > 0; i--) {
            MPI_Status status;
            MPI_Message message;
            if (i % 2 == 0) {
                MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
                MPI_Recv(to[0], LONG, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            } else {
                MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
                MPI_Mrecv(to[0], LONG, MPI_CHAR, &message, &status);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void buffered(void) {
    int size = 4 * (LONG + MPI_BSEND_OVERHEAD);
    MPI_Request request;
    void *buffer = malloc(size);
    MPI_Buffer_attach(buffer, size);
    MPI_Bsend(from, LONG, MPI_CHAR, next, 4, MPI_COMM_WORLD);
    MPI_Ibsend(from, LONG, MPI_CHAR, next, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Recv(to[i], LONG, MPI_CHAR, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    early();
    for (int how = 0; how < 4; how++) {
        looked_for(how, 100);
        looked_for(how, LONG);
    }
    probed();
    probed_from_anyone();
    buffered();
    MPI_Finalize();
}

/* A rank looks for messages again and again, in their order and with more than two ranks out of it,
 * and between two looks does what gets it on, or does not. */
#include <mpi.h>

#define MESSAGES 6
#define BYTES 20000

static int rank, ranks, next, previous;
static unsigned state;
static long *memory, one = 1, old;
static char from[BYTES], to[BYTES];
static MPI_Win window;

static unsigned any_of(unsigned count) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % count;
}

/* Of what a call is about, there is nothing, or nobody, or only the rank itself: no message moves.
 */
static void nothing(unsigned which) {
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    switch (which) {
    case 0:
        MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Irecv(&old, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Isend(&old, 1, MPI_LONG, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        break;
    case 4:
        MPI_Fetch_and_op(&one, &old, MPI_LONG, rank, 0, MPI_SUM, window);
        MPI_Win_flush(rank, window);
        break;
    case 5:
        MPI_Barrier(MPI_COMM_SELF);
        break;
    default:
        MPI_Rget(&old, 1, MPI_LONG, rank, 0, 1, MPI_LONG, window, &request);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static void something(unsigned which) {
    MPI_Request request;
    int done = 0;
    switch (which) {
    case 0:
        MPI_Fetch_and_op(&one, &old, MPI_LONG, next, 1, MPI_SUM, window);
        if (any_of(2)) MPI_Win_flush(next, window);
        break;
    case 1:
        MPI_Accumulate(&one, 1, MPI_LONG, previous, 2, 1, MPI_LONG, MPI_SUM, window);
        if (any_of(2)) MPI_Win_flush_local_all(window);
        break;
    case 2:
        MPI_Rget(&old, 1, MPI_LONG, next, 2, 1, MPI_LONG, window, &request);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Win_sync(window);
        break;
    default:
        MPI_Irecv(&old, 1, MPI_LONG, previous, 9, MPI_COMM_WORLD, &request);
        if (any_of(2)) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Messages with so many tags. */
static void messages(unsigned tags) {
    MPI_Request requests[MESSAGES];
    for (int i = 0; i < MESSAGES; i++)
        MPI_Isend(from, any_of(3) ? any_of(BYTES) : 0, MPI_CHAR, next, any_of(tags), MPI_COMM_WORLD,
                  &requests[i]);
    for (int got = 0; got < MESSAGES;) {
        MPI_Status status;
        int found, tag = any_of(tags + 1);
        if (tag == (int)tags) tag = MPI_ANY_TAG;
        MPI_Iprobe(any_of(2) ? previous : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &status);
        if (found && any_of(2))
            MPI_Iprobe(previous, status.MPI_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        if (found) {
            MPI_Recv(to, BYTES, MPI_CHAR, previous, status.MPI_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            got++;
        }
        switch (any_of(3)) {
        case 0:
            nothing(any_of(7));
            break;
        case 1:
            something(any_of(5));
        }
    }
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Sends and receives that start together, while others are still sent. */
static void together(void) {
    MPI_Request requests[2 * MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Send_init(from, 100 * i, MPI_CHAR, next, i, MPI_COMM_WORLD, &requests[2 * i]);
        MPI_Recv_init(to, 100 * i, MPI_CHAR, previous, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
    }
    for (int round = 0; round < 3; round++) {
        MPI_Accumulate(&one, 1, MPI_LONG, rank % 2 ? next : previous, 2, 1, MPI_LONG, MPI_SUM,
                       window);
        MPI_Startall(2 * MESSAGES, requests);
        MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2 * MESSAGES; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    state = rank;
    MPI_Win_allocate(3 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    for (int i = 0; i < 3; i++)
        memory[i] = 0;
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 5; round++)
        messages(1);
    for (int round = 0; ranks > 2 && round < 5; round++)
        messages(3);
    together();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

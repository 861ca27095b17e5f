/* Messages with several tags are looked for and received in all ways, while others are sent. What
 * comes is what the standard says: of a sender, the first that was sent and has not been received,
 * of those with the tag that was asked for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 24
#define TAGS 3
#define BYTES 100000
#define RANKS 8

static int rank, ranks, round_;
static unsigned state;
static char from[MESSAGES][BYTES], to[BYTES];
static int received[RANKS][MESSAGES];

static unsigned any_of(unsigned count) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % count;
}

/* All ranks know what each sends. */
static unsigned known(int sender, int message, unsigned count) {
    unsigned x = round_ * 7919u + sender * 104729u + message * 1299709u + count * 15485863u;
    x = (x ^ x >> 13) * 2654435761u;
    return (x >> 9) % count;
}

static int tag_of(int sender, int message) { return known(sender, message, TAGS); }

static int size_of(int sender, int message) {
    return sizeof(int) + (known(sender, message, 7) < 3 ? known(sender, message, BYTES - 8)
                          : known(sender, message, 400));
}

static int first(int sender, int tag) {
    for (int i = 0; i < MESSAGES; i++)
        if (!received[sender][i] && (tag == MPI_ANY_TAG || tag_of(sender, i) == tag)) return i;
    return -1;
}

static void check(const char *call, int tag, MPI_Status *status, int takes) {
    int sender = status->MPI_SOURCE, size, number;
    int wanted = first(sender, tag);
    MPI_Get_count(status, MPI_CHAR, &size);
    memcpy(&number, to, sizeof number);
    if (wanted < 0 || status->MPI_TAG != tag_of(sender, wanted) || size != size_of(sender, wanted)
        || (takes && number != wanted)) {
        fprintf(stderr, "%s with tag %d: message %d of rank %d, tag %d, %d bytes, and not %d\n",
                call, tag, takes ? number : -1, sender, status->MPI_TAG, size, wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (takes) received[sender][wanted] = 1;
}

static int receive(int source, int tag) {
    MPI_Status status;
    MPI_Request request;
    int nothing = 0, found;
    switch (any_of(3)) {
    case 0:
        MPI_Recv(to, BYTES, MPI_CHAR, source, tag, MPI_COMM_WORLD, &status);
        break;
    case 1:
        MPI_Irecv(to, BYTES, MPI_CHAR, source, tag, MPI_COMM_WORLD, &request);
        MPI_Iprobe(source, any_of(2) ? tag : MPI_ANY_TAG, MPI_COMM_WORLD, &found,
                   MPI_STATUS_IGNORE);
        MPI_Wait(&request, &status);
        break;
    default:
        MPI_Sendrecv(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, to, BYTES, MPI_CHAR, source, tag,
                     MPI_COMM_WORLD, &status);
    }
    check("a receive", tag, &status, 1);
    return 1;
}

static int take(MPI_Message *message, int tag, MPI_Status *status) {
    check("MPI_Mprobe", tag, status, 0);
    MPI_Mrecv(to, BYTES, MPI_CHAR, message, status);
    check("MPI_Mrecv", tag, status, 1);
    return 1;
}

/* Looks for messages or receives one: how many it takes. What is waited for has to come: who sends
 * no more may wait. */
static int step(int may_wait) {
    MPI_Status status;
    MPI_Message message;
    int found, comes = 0, tag = any_of(TAGS + 1), source = any_of(ranks + 1);
    if (tag == TAGS) tag = MPI_ANY_TAG;
    if (source == rank || source == ranks) source = MPI_ANY_SOURCE;
    for (int i = 0; i < ranks; i++)
        comes |= may_wait && (source == i || source == MPI_ANY_SOURCE) && first(i, tag) >= 0;
    switch (any_of(8)) {
    case 0:
    case 1:
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &found, &status);
        if (found) check("MPI_Iprobe", tag, &status, 0);
        return 0;
    case 2:
    case 3:
        MPI_Iprobe(source, tag, MPI_COMM_WORLD, &found, &status);
        return found ? receive(status.MPI_SOURCE, any_of(2) ? status.MPI_TAG : MPI_ANY_TAG) : 0;
    case 4:
        MPI_Improbe(source, tag, MPI_COMM_WORLD, &found, &message, &status);
        return found ? take(&message, tag, &status) : 0;
    case 5:
        return comes ? receive(source, tag) : 0;
    case 6:
        if (!comes) return 0;
        MPI_Probe(source, tag, MPI_COMM_WORLD, &status);
        check("MPI_Probe", tag, &status, 0);
        return 0;
    default:
        if (!comes) return 0;
        MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &status);
        return take(&message, tag, &status);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (round_ = 0; round_ < 3; round_++) {
        MPI_Request requests[MESSAGES * RANKS];
        int sends = 0, sent = 0, left = MESSAGES * (ranks - 1);
        state = round_ * 31 + rank;
        for (int sender = 0; sender < ranks; sender++)
            for (int i = 0; i < MESSAGES; i++)
                received[sender][i] = sender == rank;
        while (left || sent < MESSAGES) {
            if (sent < MESSAGES && (!left || !any_of(4))) {
                memcpy(from[sent], &sent, sizeof sent);
                for (int to = 0; to < ranks; to++)
                    if (to != rank)
                        MPI_Isend(from[sent], size_of(rank, sent), MPI_CHAR, to, tag_of(rank, sent),
                                  MPI_COMM_WORLD, &requests[sends++]);
                sent++;
            } else {
                left -= step(sent == MESSAGES);
            }
        }
        MPI_Waitall(sends, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

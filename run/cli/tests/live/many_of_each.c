/* More distinct tags, communicators and partitioned requests than 17 or 13 bits can tell apart: a
 * program may use as many as memory holds (MPI 4.1, sections 3.2.3, 4.2.1 and 7.4). */
#include "conformance.h"

enum { TAGS = 140000, BATCH = 1000, COMMS = 9000, ROUNDS = 20000, PARTS = 10 };

/* Messages from this rank to the next one, with tags from the largest one down. */
static void tags(void) {
    static int sent[BATCH], got[BATCH];
    static MPI_Request requests[2 * BATCH];
    int *most, is_there, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
    MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &most, &is_there);
    for (int first = 0; first < TAGS; first += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            sent[i] = first + i;
            MPI_Irecv(got + i, 1, MPI_INT, previous, *most - first - i, WORLD, requests + i);
        }
        for (int i = BATCH - 1; i >= 0; i--)
            MPI_Isend(sent + i, 1, MPI_INT, next, *most - first - i, WORLD, requests + BATCH + i);
        MPI_Waitall(2 * BATCH, requests, MPI_STATUSES_IGNORE);
        CHECK(!memcmp(sent, got, sizeof got));
    }
}

/* As many copies of a rank by itself, all at the same time; a wildcard keeps to its own. */
static void communicators(void) {
    static MPI_Comm copies[COMMS];
    MPI_Request request;
    MPI_Status status;
    int got, wrong = 0;
    for (int i = 0; i < COMMS; i++) MPI_Comm_dup(MPI_COMM_SELF, copies + i);
    for (int i = 0; i < COMMS; i++) {
        int there, other = COMMS - 1 - i;
        MPI_Isend(&i, 1, MPI_INT, 0, 200000 + i, copies[i], &request);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, copies[other], &there, MPI_STATUS_IGNORE);
        wrong += there && other != i;
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copies[i], &status);
        wrong += got != i || status.MPI_TAG != 200000 + i;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(wrong == 0);
    for (int i = 0; i < COMMS; i++) MPI_Comm_free(copies + i);
}

/* A pair of partitioned requests that is made anew each time. */
static void partitioned(void) {
    char out[PARTS] = {0}, in[PARTS];
    MPI_Request requests[2];
    int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Psend_init(out, 1, PARTS, MPI_CHAR, next, 0, WORLD, MPI_INFO_NULL, requests);
        MPI_Precv_init(in, 1, PARTS, MPI_CHAR, previous, 0, WORLD, MPI_INFO_NULL, requests + 1);
        out[0] = round % 100;
        MPI_Startall(2, requests);
        MPI_Pready(0, requests[0]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += in[0] != round % 100;
        MPI_Request_free(requests);
        MPI_Request_free(requests + 1);
    }
    CHECK(wrong == 0);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    tags();
    communicators();
    partitioned();
    MPI_Finalize();
    return 0;
}

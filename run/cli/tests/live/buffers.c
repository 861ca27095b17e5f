/* A buffer is the program's again when its send is complete, whether or not the message has been
 * received; until then, messages may be read from it. Buffers in all kinds of memory, long enough
 * that an implementation may leave the data where it is. */
#include "conformance.h"

/* So short that every implementation buffers a message to another rank that nobody receives yet. */
#define WORDS 500

static int next, previous, everybodys[2 * WORDS];

static void fill(int *words, int number) {
    for (int i = 0; i < WORDS; i++) words[i] = 10000 * number + i;
}

static int is(const int *words, int number) {
    for (int i = 0; i < WORDS; i++)
        if (words[i] != 10000 * number + i) return 0;
    return 1;
}

/* The message is received only when its buffer holds something else. */
static void reused(int *buffer, int tag) {
    int got[WORDS] = {0};
    MPI_Request request;
    fill(buffer, rank);
    MPI_Isend(buffer, WORDS, MPI_INT, next, tag, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    fill(buffer, -1);
    MPI_Barrier(WORLD);
    MPI_Recv(got, WORDS, MPI_INT, previous, tag, WORLD, MPI_STATUS_IGNORE);
    CHECK(is(got, previous));
    CHECK(is(buffer, -1));
}

/* The message is received before the sender looks whether it has left. */
static void read_in_place(int *buffer, int tag) {
    int got[WORDS] = {0};
    MPI_Request request;
    fill(buffer, rank);
    MPI_Isend(buffer, WORDS, MPI_INT, next, tag, WORLD, &request);
    MPI_Recv(got, WORDS, MPI_INT, previous, tag, WORLD, MPI_STATUS_IGNORE);
    CHECK(is(got, previous));
    MPI_Barrier(WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void replaced(int *buffer, int tag) {
    fill(buffer, rank);
    MPI_Sendrecv_replace(buffer, WORDS, MPI_INT, next, tag, previous, tag, WORLD,
                         MPI_STATUS_IGNORE);
    CHECK(is(buffer, previous));
}

static void again(int *buffer, int tag) {
    int got[WORDS] = {0};
    MPI_Request request;
    MPI_Send_init(buffer, WORDS, MPI_INT, next, tag, WORLD, &request);
    for (int time = 0; time < 3; time++) {
        fill(buffer, rank + time);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int time = 0; time < 3; time++) {
        MPI_Recv(got, WORDS, MPI_INT, previous, tag, WORLD, MPI_STATUS_IGNORE);
        CHECK(is(got, previous + time));
    }
    MPI_Request_free(&request);
}

/* A message that is probed for is received later. */
static void probed(int *buffer, int tag) {
    int got[WORDS] = {0};
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int count;
    fill(buffer, rank);
    MPI_Isend(buffer, WORDS, MPI_INT, next, tag, WORLD, &request);
    MPI_Mprobe(previous, tag, WORLD, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == WORDS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    fill(buffer, -2);
    MPI_Barrier(WORLD);
    MPI_Mrecv(got, WORDS, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(is(got, previous));
}

/* Nobody asks for the end of the send, so that the buffer stays as it is until the receiver has
 * said that it has the message. */
static void freed(int *buffer, int tag) {
    int got[WORDS] = {0}, done = 0;
    MPI_Request request;
    fill(buffer, rank);
    MPI_Isend(buffer, WORDS, MPI_INT, next, tag, WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(got, WORDS, MPI_INT, previous, tag, WORLD, MPI_STATUS_IGNORE);
    CHECK(is(got, previous));
    MPI_Sendrecv_replace(&done, 1, MPI_INT, previous, tag + 1, next, tag + 1, WORLD,
                         MPI_STATUS_IGNORE);
}

/* Every second word of a buffer. */
static void gaps(int *buffer, int tag) {
    int got[WORDS] = {0}, words[WORDS];
    MPI_Request request;
    MPI_Datatype second;
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    fill(words, rank);
    for (int i = 0; i < WORDS; i++) buffer[2 * i] = words[i];
    MPI_Isend(buffer, 1, second, next, tag, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * WORDS; i++) buffer[i] = -3;
    MPI_Recv(got, WORDS, MPI_INT, previous, tag, WORLD, MPI_STATUS_IGNORE);
    CHECK(is(got, previous));
    MPI_Type_free(&second);
}

static void all(int *buffer) {
    read_in_place(buffer, 1);
    replaced(buffer, 2);
    freed(buffer, 3);
    if (ranks == 1) return;
    reused(buffer, 5);
    again(buffer, 6);
    probed(buffer, 7);
    gaps(buffer, 8);
}

int main(int argc, char **argv) {
    int own[2 * WORDS], *allocated = malloc(sizeof own);
    begin(&argc, &argv);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    all(own);
    all(allocated);
    all(everybodys);
    free(allocated);
    MPI_Finalize();
    return 0;
}

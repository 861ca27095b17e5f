/* Sends that are cancelled at once are withdrawn, whatever their mode; a send that has left is not.
 */
#include "check.h"

#include <string.h>

enum { LONG = 100000, FORMS = 8 };

static char *bytes;

/* The request of a send of a form, started. */
static MPI_Request started(int form, int count, int to) {
    MPI_Request request;
    int persistent = form >= 4;
    switch (form) {
    case 0: MPI_Isend(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request); break;
    case 1: MPI_Issend(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request); break;
    case 2: MPI_Ibsend(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request); break;
    case 3: MPI_Irsend(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request); break;
    case 4: MPI_Send_init(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request); break;
    case 5: MPI_Ssend_init(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request); break;
    case 6: MPI_Bsend_init(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request); break;
    default: MPI_Rsend_init(bytes, count, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request);
    }
    if (persistent)
        MPI_Start(&request);
    return request;
}

static void withdraw(int form, int count, int to) {
    MPI_Status status;
    int flag = 0;
    MPI_Request request = started(form, count, to);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

int main(int argc, char **argv) {
    int flag = 1, counts[] = {0, 8, 5000, LONG}, room = LONG + MPI_BSEND_OVERHEAD;
    char *buffer = malloc((size_t)room), *got = malloc(LONG);
    MPI_Status status;
    MPI_Request request;
    begin(&argc, &argv);
    MPI_Buffer_attach(buffer, room);
    bytes = malloc(LONG);
    memset(bytes, 1, LONG);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    /* The room in the buffer is for one: each gives it back. */
    for (int form = 0; form < FORMS; form++)
        for (int length = 0; length < 4; length++) {
            withdraw(form, counts[length], next);
            withdraw(form, counts[length], rank);
        }
    /* What comes is what is sent afterwards. */
    memset(bytes, 2, LONG);
    MPI_Isend(bytes, LONG, MPI_CHAR, next, 1, MPI_COMM_WORLD, &request);
    MPI_Recv(got, LONG, MPI_CHAR, before, 1, MPI_COMM_WORLD, &status);
    CHECK(got[0] == 2 && got[LONG - 1] == 2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* One that has left. */
    MPI_Isend(bytes, 8, MPI_CHAR, next, 3, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    MPI_Recv(got, 8, MPI_CHAR, before, 3, MPI_COMM_WORLD, &status);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag);
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    free(bytes);
    free(got);
    return end();
}

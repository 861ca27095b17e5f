/* Modes of sending, persistent and partitioned requests, cancelling, and the null process. */
#include "conformance.h"

static int next, previous;

static void modes(void) {
    int got = -1, one = rank, size, packed;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, previous, 1, WORLD, &request);
    MPI_Ssend(&one, 1, MPI_INT, next, 1, WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == previous);
    MPI_Irecv(&got, 1, MPI_INT, previous, 2, WORLD, &request);
    MPI_Barrier(WORLD);
    one = rank + 100;
    MPI_Rsend(&one, 1, MPI_INT, next, 2, WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == previous + 100);
    MPI_Pack_size(1, MPI_INT, WORLD, &packed);
    size = 2 * (packed + MPI_BSEND_OVERHEAD);
    char *buffer = malloc(size), *back;
    MPI_Buffer_attach(buffer, size);
    for (int i = 0; i < 2; i++) {
        one = rank + 200 + i;
        MPI_Bsend(&one, 1, MPI_INT, next, 3, WORLD);
    }
    one = -1;
    for (int i = 0; i < 2; i++) {
        MPI_Recv(&got, 1, MPI_INT, previous, 3, WORLD, MPI_STATUS_IGNORE);
        CHECK(got == previous + 200 + i);
    }
    int detached;
    MPI_Buffer_detach(&back, &detached);
    CHECK(back == buffer && detached == size);
    free(buffer);
}

static void synchronous(void) {
    /* A synchronous send is not over before its receive has begun. */
    if (ranks < 2) return;
    int flag = 1, value = 5, token = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Issend(&value, 1, MPI_INT, 1, 4, WORLD, &request);
        MPI_Recv(&token, 1, MPI_INT, 1, 5, WORLD, MPI_STATUS_IGNORE);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Send(&token, 1, MPI_INT, 1, 6, WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Send(&token, 1, MPI_INT, 0, 5, WORLD);
        MPI_Recv(&token, 1, MPI_INT, 0, 6, WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 0, 4, WORLD, MPI_STATUS_IGNORE);
    }
}

/* Neither is one that comes before a message which is matched. */
static void passed_over(void) {
    int flag = 1, value = rank, got = -1;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Issend(&value, 1, MPI_INT, rank, 7, WORLD, &requests[0]);
    MPI_Issend(&value, 1, MPI_INT, rank, 8, WORLD, &requests[1]);
    MPI_Mprobe(rank, 8, WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag && got == rank);
    MPI_Recv(&got, 1, MPI_INT, rank, 7, WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* Nor is one that is only found. */
static void found(void) {
    int flag = 0, value = rank, got = -1;
    MPI_Request request;
    MPI_Issend(&value, 1, MPI_INT, rank, 9, WORLD, &request);
    MPI_Probe(rank, 9, WORLD, MPI_STATUS_IGNORE);
    for (int times = 0; times < 50; times++) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Recv(&got, 1, MPI_INT, rank, 9, WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == rank);

    /* The receive that meets it may be part of a call that sends as well. */
    int back = -1;
    MPI_Issend(&value, 1, MPI_INT, next, 9, WORLD, &request);
    MPI_Probe(previous, 9, WORLD, MPI_STATUS_IGNORE);
    double before = MPI_Wtime();
    MPI_Sendrecv(&value, 1, MPI_INT, previous, 10, &got, 1, MPI_INT, previous, 9, WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Recv(&back, 1, MPI_INT, next, 10, WORLD, MPI_STATUS_IGNORE);
    CHECK(got == previous && back == next);
    CHECK(MPI_Wtime() > before);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(void) {
    int out[2], in[2], flag;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Send_init(&out[0], 1, MPI_INT, next, 10, WORLD, &requests[0]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, next, 11, WORLD, &requests[1]);
    MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 11, WORLD, &requests[2]);
    MPI_Recv_init(&in[0], 1, MPI_INT, previous, 10, WORLD, &requests[3]);
    /* What has not been started is over, with an empty status. */
    MPI_Test(&requests[2], &flag, &statuses[0]);
    CHECK(flag && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE && statuses[0].MPI_TAG == MPI_ANY_TAG);
    for (int round = 0; round < 3; round++) {
        out[0] = 1000 * round + rank;
        out[1] = out[0] + 500;
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, statuses);
        CHECK(in[0] == 1000 * round + previous && in[1] == 1000 * round + 500 + previous);
        CHECK(statuses[2].MPI_SOURCE == previous && statuses[2].MPI_TAG == 11);
        CHECK(requests[0] != MPI_REQUEST_NULL && requests[3] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void partitioned(void) {
#if MPI_VERSION >= 4
    double out[8], in[8];
    int arrived = 0;
    MPI_Request requests[2];
    MPI_Psend_init(out, 4, 2, MPI_DOUBLE, next, 12, WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 2, 4, MPI_DOUBLE, previous, 12, WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 2; round++) {
        MPI_Startall(2, requests);
        for (int i = 3; i >= 0; i--) {
            out[2 * i] = rank + 10 * i + round;
            out[2 * i + 1] = -out[2 * i];
            MPI_Pready(i, requests[0]);
        }
        do MPI_Parrived(requests[1], 1, &arrived);
        while (!arrived);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++)
            CHECK(in[2 * i] == previous + 10 * i + round && in[2 * i + 1] == -in[2 * i]);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

static void cancelled(void) {
    int value = 3, flag = 0, count = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&value, 1, MPI_INT, previous, 99, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && value == 3);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0
          && value == 3);
    int both = rank;
    MPI_Sendrecv_replace(&both, 1, MPI_INT, next, 20, previous, 20, WORLD, &status);
    CHECK(both == previous && status.MPI_SOURCE == previous);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    modes();
    synchronous();
    passed_over();
    found();
    persistent();
    partitioned();
    cancelled();
    MPI_Finalize();
    return 0;
}

/* Waiting and testing for any, some and all; probing, matched probing; generalised requests, and
 * those that are freed before their end. */
#include "conformance.h"

static void any_and_some(void) {
    /* Rank 0 receives two messages of every other rank. */
    enum { MOST = 32 };
    if (rank != 0) {
        int values[2] = {rank, -rank};
        MPI_Send(&values[0], 1, MPI_INT, 0, rank, WORLD);
        MPI_Send(&values[1], 1, MPI_INT, 0, rank, WORLD);
        return;
    }
    MPI_Request requests[MOST];
    MPI_Status statuses[MOST], status;
    int values[MOST], indices[MOST], seen[MOST] = {0}, count, index, left = ranks - 1;
    for (int i = 1; i < ranks; i++)
        MPI_Irecv(&values[i - 1], 1, MPI_INT, i, i, WORLD, &requests[i - 1]);
    while (1) {
        MPI_Waitany(ranks - 1, requests, &index, &status);
        if (index == MPI_UNDEFINED) break;
        CHECK(values[index] == index + 1 && status.MPI_SOURCE == index + 1
              && status.MPI_TAG == index + 1);
        CHECK(requests[index] == MPI_REQUEST_NULL && !seen[index]++);
        left--;
    }
    CHECK(left == 0);
    for (int i = 1; i < ranks; i++)
        MPI_Irecv(&values[i - 1], 1, MPI_INT, i, i, WORLD, &requests[i - 1]);
    left = ranks - 1;
    while (1) {
        MPI_Waitsome(ranks - 1, requests, &count, indices, statuses);
        if (count == MPI_UNDEFINED) break;
        CHECK(count >= 1 && count <= left);
        for (int i = 0; i < count; i++) {
            CHECK(values[indices[i]] == -indices[i] - 1
                  && statuses[i].MPI_SOURCE == indices[i] + 1);
        }
        left -= count;
    }
    CHECK(left == 0);
    int flag = 0;
    MPI_Testany(ranks - 1, requests, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Testsome(ranks - 1, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    MPI_Testall(ranks - 1, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
}

static void probing(void) {
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, flag = 0, count = -1,
        in[4] = {0};
    int first[3] = {rank, 1, 2}, second[4] = {rank, 5, 6, 7};
    MPI_Request requests[3];
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Isend(first, 3, MPI_INT, to, 30, WORLD, &requests[0]);
    MPI_Isend(second, 4, MPI_INT, to, 31, WORLD, &requests[1]);
    while (!flag) MPI_Iprobe(from, MPI_ANY_TAG, WORLD, &flag, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_TAG == 30 && status.MPI_SOURCE == from && count == 3);
    /* A message that was matched by a probe is received by that alone. */
    MPI_Mprobe(from, 30, WORLD, &message, &status);
    CHECK(message != MPI_MESSAGE_NULL);
    MPI_Iprobe(from, 30, WORLD, &flag, &status);
    CHECK(!flag);
    MPI_Mrecv(in, 4, MPI_INT, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && in[0] == from && in[2] == 2 && message == MPI_MESSAGE_NULL);
    for (flag = 0; !flag;) MPI_Improbe(MPI_ANY_SOURCE, 31, WORLD, &flag, &message, &status);
    MPI_Imrecv(in, 4, MPI_INT, &message, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == from && in[3] == 7);
    /* Whatever was probed, a receive of any tag takes the message that was sent first. */
    MPI_Isend(first, 3, MPI_INT, to, 32, WORLD, &requests[0]);
    MPI_Isend(second, 4, MPI_INT, to, 33, WORLD, &requests[1]);
    MPI_Probe(from, 33, WORLD, &status);
    MPI_Recv(in, 4, MPI_INT, from, MPI_ANY_TAG, WORLD, &status);
    CHECK(status.MPI_TAG == 32 && in[1] == 1);
    MPI_Recv(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
    CHECK(status.MPI_TAG == 33 && in[3] == 7);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 0, WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(in, 4, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
}

static int queried, freed;

static int query(void *state, MPI_Status *status) {
    queried++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return MPI_SUCCESS;
}

static int release(void *state) {
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalised(void) {
    int state = 17, flag = 1, count = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &state, &request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(!flag);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 17 && status.MPI_SOURCE == 3 && queried == 1 && freed == 1
          && request == MPI_REQUEST_NULL);
}

static void asked(void) {
    int value = rank, got = -1, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&got, 1, MPI_INT, rank, 40, WORLD, &request);
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Send(&value, 1, MPI_INT, rank, 40, WORLD);
    while (!flag) MPI_Request_get_status(request, &flag, &status);
    CHECK(got == rank && request != MPI_REQUEST_NULL && status.MPI_TAG == 40);
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL && status.MPI_SOURCE == rank);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
}

/* What nobody waits for comes all the same. */
static void given_up(void) {
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks, value = rank, got = -1,
        later = -1;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, from, 50, WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Send(&value, 1, MPI_INT, to, 50, WORLD);
    MPI_Sendrecv(&value, 1, MPI_INT, to, 51, &later, 1, MPI_INT, from, 51, WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(got == from && later == from);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    given_up();
    any_and_some();
    probing();
    generalised();
    asked();
    MPI_Finalize();
    return 0;
}

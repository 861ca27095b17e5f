/* What calls leave in statuses and requests: several at once, null and inactive ones, errors in one
 * of many, nobody as a peer. */
#include "conformance.h"

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static int is_empty(const MPI_Status *status) {
    int count = -1, cancelled = 1;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0
        && !cancelled;
}

static int is_nobodys(const MPI_Status *status) {
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    return status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

static void of_nothing(void) {
    MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, idle;
    MPI_Status status, statuses[3];
    int index = 7, flag = 0, number = 7, indices[3], value = 0;
    /* The error field is left as it is. */
    status.MPI_ERROR = MPI_ERR_OTHER;
    MPI_Wait(&none[0], &status);
    CHECK(is_empty(&status) && status.MPI_ERROR == MPI_ERR_OTHER);
    MPI_Test(&none[0], &flag, &status);
    CHECK(flag && is_empty(&status));
    MPI_Waitany(3, none, &index, &status);
    CHECK(index == MPI_UNDEFINED && is_empty(&status));
    MPI_Testany(3, none, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED && is_empty(&status));
    MPI_Waitall(3, none, statuses);
    CHECK(is_empty(&statuses[0]) && is_empty(&statuses[2]));
    MPI_Testall(3, none, &flag, statuses);
    CHECK(flag && is_empty(&statuses[1]));
    MPI_Waitsome(3, none, &number, indices, statuses);
    CHECK(number == MPI_UNDEFINED);
    MPI_Testsome(3, none, &number, indices, statuses);
    CHECK(number == MPI_UNDEFINED);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
    CHECK(flag && is_empty(&status));
    /* But what is only asked for says that there was none, with MPICH. */
    CHECK(status.MPI_ERROR == MPI_SUCCESS);
    /* A persistent request between its operations counts as nothing. */
    MPI_Recv_init(&value, 1, MPI_INT, rank, 4, WORLD, &idle);
    MPI_Wait(&idle, &status);
    CHECK(is_empty(&status) && idle != MPI_REQUEST_NULL);
    MPI_Waitany(1, &idle, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Request_free(&idle);
    CHECK(idle == MPI_REQUEST_NULL);
}

static void of_nobody(void) {
    int value = 3, flag = 0;
    MPI_Status status;
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, WORLD, &status);
    CHECK(is_nobodys(&status) && value == 3);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 5, WORLD);
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD,
                 &status);
    CHECK(is_nobodys(&status));
    MPI_Probe(MPI_PROC_NULL, 1, WORLD, &status);
    CHECK(is_nobodys(&status));
    MPI_Iprobe(MPI_PROC_NULL, 1, WORLD, &flag, &status);
    CHECK(flag && is_nobodys(&status));
    MPI_Mprobe(MPI_PROC_NULL, 1, WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC && is_nobodys(&status));
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL && is_nobodys(&status));
    MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, WORLD, &requests[0]);
    MPI_Issend(&value, 1, MPI_INT, MPI_PROC_NULL, 5, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void several(void) {
    enum { MANY = 6 };
    int out[MANY], in[MANY], to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks,
        left = MANY, number, indices[MANY], seen = 0, flag;
    MPI_Request sends[MANY], receives[MANY];
    MPI_Status statuses[MANY], status;
    for (int i = 0; i < MANY; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : from, i, WORLD, &receives[i]);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        out[i] = 10 * rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, to, i, WORLD, &sends[i]);
    }
    while (left > 2) {
        MPI_Waitsome(MANY, receives, &number, indices, statuses);
        CHECK(number >= 1 && number <= left);
        for (int i = 0; i < number; i++) {
            CHECK(receives[indices[i]] == MPI_REQUEST_NULL
                  && in[indices[i]] == 10 * from + indices[i]);
            CHECK(statuses[i].MPI_SOURCE == from && statuses[i].MPI_TAG == indices[i]);
            seen |= 1 << indices[i];
        }
        left -= number;
    }
    while (left > 0) {
        int index;
        MPI_Waitany(MANY, receives, &index, &status);
        CHECK(status.MPI_TAG == index && in[index] == 10 * from + index);
        seen |= 1 << index;
        left--;
    }
    CHECK(seen == (1 << MANY) - 1);
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
    /* What is asked stays until it is waited for. */
    MPI_Irecv(&in[0], 1, MPI_INT, from, 8, WORLD, &receives[0]);
    MPI_Request_get_status(receives[0], &flag, MPI_STATUS_IGNORE);
    MPI_Send(&out[0], 1, MPI_INT, to, 8, WORLD);
    do
        MPI_Request_get_status(receives[0], &flag, &status);
    while (!flag);
    CHECK(receives[0] != MPI_REQUEST_NULL && status.MPI_SOURCE == from && in[0] == 10 * from);
    MPI_Test(&receives[0], &flag, &status);
    CHECK(flag && receives[0] == MPI_REQUEST_NULL && status.MPI_TAG == 8);
}

/* One of several receives is too short: the others are as they should be. */
static void one_fails(void) {
    int out[4] = {1, 2, 3, 4}, a[4] = {0}, b[4] = {0}, code;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(a, 2, MPI_INT, 0, 1, own, &requests[0]);
    MPI_Irecv(b, 4, MPI_INT, 0, 2, own, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Send(out, 4, MPI_INT, 0, 1, own);
    MPI_Send(out, 4, MPI_INT, 0, 2, own);
    code = MPI_Waitall(3, requests, statuses);
    /* Open MPI 4 gives the class of the error itself. */
    CHECK(class_of(code) == MPI_ERR_IN_STATUS || class_of(code) == MPI_ERR_TRUNCATE);
    if (class_of(code) == MPI_ERR_IN_STATUS)
        CHECK(class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    /* It may be that the other was not looked at. */
    if (class_of(code) == MPI_ERR_IN_STATUS && class_of(statuses[1].MPI_ERROR) == MPI_ERR_PENDING)
        CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(b[3] == 4 && a[2] == 0);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&own);
}

static int heard;

static void hear(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    heard = class_of(*code);
}

/* A message that is too long is known all the same; the handler of its communicator hears of it. */
static void too_long(void) {
    int out[4] = {1, 2, 3, 4}, in[2] = {0};
    MPI_Request send, receive;
    MPI_Status status;
    MPI_Comm own;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Isend(out, 4, MPI_INT, 0, 3, own, &send);
    CHECK(class_of(MPI_Recv(in, 2, MPI_INT, 0, MPI_ANY_TAG, own, &status)) == MPI_ERR_TRUNCATE);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Errhandler_free(&handler);
    MPI_Irecv(in, 2, MPI_INT, 0, 4, own, &receive);
    MPI_Isend(out, 4, MPI_INT, 0, 4, own, &send);
    CHECK(class_of(MPI_Wait(&receive, &status)) == MPI_ERR_TRUNCATE && heard == MPI_ERR_TRUNCATE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Comm_free(&own);
}

static void withdrawn(void) {
    int value = 0, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 77, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request == MPI_REQUEST_NULL);
    MPI_Recv_init(&value, 1, MPI_INT, rank, 78, WORLD, &request);
    MPI_Start(&request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && request != MPI_REQUEST_NULL);
    /* It can be started again. */
    int one = 1;
    MPI_Start(&request);
    MPI_Send(&one, 1, MPI_INT, rank, 78, WORLD);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag && value == 1);
    MPI_Request_free(&request);
    /* A send that is to be withdrawn ends, one way or the other; if it was not withdrawn, the
     * message comes. */
    value = 0;
    MPI_Isend(&one, 1, MPI_INT, rank, 79, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        MPI_Recv(&value, 1, MPI_INT, rank, 79, WORLD, MPI_STATUS_IGNORE);
    CHECK(value == !flag);
    /* A synchronous one, if it was not withdrawn, is complete once it is received, and not before.
     */
    MPI_Issend(&one, 1, MPI_INT, rank, 80, WORLD, &request);
    MPI_Cancel(&request);
    int done = 0;
    MPI_Request_get_status(request, &done, &status);
    MPI_Test_cancelled(&status, &flag);
    if (!done || !flag) {
        CHECK(!done);
        MPI_Recv(&value, 1, MPI_INT, rank, 80, WORLD, MPI_STATUS_IGNORE);
        while (!done) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
}

static void made_up(void) {
    MPI_Status status;
    int count, flag;
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, WORLD, &status);
    MPI_Status_set_elements(&status, MPI_DOUBLE, 3);
    MPI_Get_elements(&status, MPI_DOUBLE, &count);
    CHECK(count == 3);
    MPI_Status_set_elements_x(&status, MPI_INT, 5);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 5);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    of_nothing();
    of_nobody();
    several();
    one_fails();
    too_long();
    withdrawn();
    made_up();
    MPI_Finalize();
    return 0;
}

/* Ends of requests in which libraries differ from each other: here they are as the standard says.
 */
#include "check.h"

static int freed;

static int query(void *state, MPI_Status *status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state) {
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* Freed before it is complete, a generalized request is there until the program says that it is
 * (MPI 4.1, section 13.2). */
static void freed_early(void) {
    MPI_Request request, kept;
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    kept = request;
    MPI_Request_free(&request);
    CHECK(freed == 0 && request == MPI_REQUEST_NULL);
    MPI_Grequest_complete(kept);
    CHECK(freed == 1);
}

/* Of several, their statuses say which failed, also if nobody reads them (section 3.7.5). */
static void in_status(void) {
    int values[2] = {1, 2}, got[2];
    MPI_Request requests[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(got, 1, MPI_INT, rank, 41, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, rank, 42, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(values, 2, MPI_INT, rank, 41, MPI_COMM_WORLD);
    MPI_Send(values, 1, MPI_INT, rank, 42, MPI_COMM_WORLD);
    FAILS(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL && got[1] == 1);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    freed_early();
    in_status();
    return end();
}

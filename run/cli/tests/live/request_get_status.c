/* Ranks exchange messages with their neighbours on a ring and look at requests that they do not
 * complete by that: request_get_status CASE BYTES. */
#include <mpi.h>
#include <stdlib.h>

static void until_done(MPI_Request request, MPI_Status *status)
{
    for (int flag = 0; !flag;)
        MPI_Request_get_status(request, &flag, status);
}

/* Looks at both requests at once, by one of the calls of MPI 4.1. */
static void until_both_done(int number, MPI_Request requests[2])
{
    int flag = 0, index, found, indices[2];
    MPI_Status statuses[2];
    for (int seen = 0; seen != 3;) {
        if (number == 9) {
            MPI_Request_get_status_all(2, requests, &flag, statuses);
            seen = flag ? 3 : 0;
        } else if (number == 10) {
            MPI_Request_get_status_any(2, requests, &index, &flag, statuses);
            seen = flag ? 3 : 0;
        } else {
            MPI_Request_get_status_some(2, requests, &found, indices, MPI_STATUSES_IGNORE);
            for (int place = 0; place < found; place++)
                seen |= 1 << indices[place];
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, flag = 0, bytes = atoi(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    char *out = calloc(bytes, 1), *in = calloc(bytes, 1);
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    MPI_Status status;
    int number = atoi(argv[1]);
    if (number == 6) {
        if (rank == 0)
            MPI_Irecv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &receive);
        else if (rank == 1)
            MPI_Isend(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &send);
        until_done(send, &status);
    } else {
        MPI_Irecv(in, bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD, &receive);
        if (number < 3 || number == 4 || number > 8)
            MPI_Isend(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &send);
        else
            MPI_Send(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD);
    }
    switch (number) {
    case 1:
        MPI_Request_free(&send);
        break;
    case 2:
        until_done(receive, &status);
        break;
    case 3:
        until_done(receive, MPI_STATUS_IGNORE);
        break;
    case 4:
        MPI_Request_free(&send);
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 7: /* The request is complete, and is waited for only after the next exchange. */
        until_done(receive, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, last, 2, MPI_COMM_WORLD, &status);
        break;
    case 9:
    case 10:
    case 11: {
        MPI_Request both[2] = { send, receive };
        until_both_done(number, both);
        break;
    }
    case 8:
        while (!flag)
            MPI_Test(&receive, &flag, &status);
        break;
    }
    MPI_Wait(&receive, &status);
    MPI_Wait(&send, &status);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}

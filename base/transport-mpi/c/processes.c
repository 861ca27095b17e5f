/* Bytes between the processes of a job, over an MPI library. This is compiled with the wrapper of
 * that library, and loaded by a command that links to none. Calls never overlap: the caller sees to
 * it. An error of the library ends the job, which is what MPI does unless it is told otherwise. */

#include <mpi.h>
#include <stdlib.h>

#define VISIBLE __attribute__((visibility("default")))

static MPI_Comm peers, ends;

/* Joins the job. Returns 0, or 1 if the library allows no calls from several threads in turn. */
VISIBLE int heddle_processes_start(int *me, int *count)
{
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &peers);
    MPI_Comm_dup(MPI_COMM_WORLD, &ends);
    MPI_Comm_rank(peers, me);
    MPI_Comm_size(peers, count);
    return provided < MPI_THREAD_SERIALIZED;
}

/* Begins to send, and returns the request, which the caller hands to heddle_processes_sent. */
VISIBLE void *heddle_processes_send(int to, const void *bytes, int length)
{
    MPI_Request *request = malloc(sizeof *request);

    if (request == NULL)
        MPI_Abort(peers, 1);
    MPI_Isend(bytes, length, MPI_BYTE, to, 0, peers, request);
    return request;
}

/* Returns true if what was sent has left its buffer. The request is then gone. */
VISIBLE int heddle_processes_sent(void *request)
{
    int done;

    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done)
        free(request);
    return done;
}

/* Returns the length of the next message from a process, or -1 if there is none yet. */
VISIBLE int heddle_processes_probe(int from)
{
    int there, length = -1;
    MPI_Status status;

    MPI_Iprobe(from, 0, peers, &there, &status);
    if (there)
        MPI_Get_count(&status, MPI_BYTE, &length);
    return length;
}

/* Takes the message that was there. */
VISIBLE void heddle_processes_receive(int from, void *bytes, int length)
{
    MPI_Recv(bytes, length, MPI_BYTE, from, 0, peers, MPI_STATUS_IGNORE);
}

/* Says that this process has failed. */
VISIBLE void heddle_processes_fail(void)
{
    int me, count, to;
    MPI_Request request;

    MPI_Comm_rank(ends, &me);
    MPI_Comm_size(ends, &count);
    for (to = 0; to < count; to++)
        if (to != me) {
            MPI_Isend(NULL, 0, MPI_BYTE, to, 0, ends, &request);
            MPI_Request_free(&request);
        }
}

/* Returns true if another process has failed; each failure is told once. */
VISIBLE int heddle_processes_failed(void)
{
    int there;
    MPI_Status status;

    MPI_Iprobe(MPI_ANY_SOURCE, 0, ends, &there, &status);
    if (there)
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, 0, ends, MPI_STATUS_IGNORE);
    return there;
}

/* Leaves the job, and waits until all others do. */
VISIBLE void heddle_processes_end(void)
{
    MPI_Comm_free(&peers);
    MPI_Comm_free(&ends);
    MPI_Finalize();
}

/* Ends the job at once. */
VISIBLE void heddle_processes_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

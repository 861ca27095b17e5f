/* Messages through an MPI library. */

#include "transport.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int rank, ranks, place;
static MPI_Comm pair;
static int peer, pending;
static MPI_Request requests[1024];
static MPI_Status statuses[1024];

void end_others(void)
{
    /* Launchers that end all at once may not have passed on yet why. */
    const struct timespec moment = {.tv_nsec = 200000000};
    nanosleep(&moment, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void start(int *count, char ***arguments)
{
    MPI_Init(count, arguments);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    pair = MPI_COMM_WORLD;
    rank = place < 2 ? place : -1;
    peer = 1 - rank;
}

void pair_with(int partner)
{
    if (pair != MPI_COMM_WORLD && pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
    int first = place < partner ? place : partner;
    MPI_Comm_split(MPI_COMM_WORLD, partner < 0 ? MPI_UNDEFINED : first, place, &pair);
    rank = partner < 0 ? -1 : place > partner;
    peer = 1 - rank;
}

void share(void *data, uint64_t bytes)
{
    enum { PART = 1 << 20 };
    for (uint64_t done = 0; done < bytes; done += PART) {
        uint64_t size = bytes - done < PART ? bytes - done : PART;
        MPI_Bcast((char *)data + done, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
}

char *bring(int from, char *text)
{
    if (from == 0)
        return text;
    if (place == from) {
        uint64_t length = strlen(text) + 1;
        MPI_Send(&length, sizeof length, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Send(text, (int)length, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        return text;
    }
    uint64_t length;
    MPI_Recv(&length, sizeof length, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    text = malloc(length);
    if (!text)
        fail("no memory for %llu bytes of results", (unsigned long long)length);
    MPI_Recv(text, (int)length, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return text;
}

void meet(void)
{
#ifdef SIMULATED_CLOCK
    MPI_Barrier(MPI_COMM_WORLD);
#else
    /* Waiting in MPI would keep a processor busy, perhaps one that measures. */
    const struct timespec moment = {.tv_nsec = 1000000};
    MPI_Request request;
    int done;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        nanosleep(&moment, NULL);
#endif
}

void end(void)
{
    /* MPICH over UCX's TCP may wait for ever for the last message if one rank comes here first. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

double now(void)
{
#ifdef SIMULATED_CLOCK
    /* The clocks of the host show nothing of a simulation. */
    return MPI_Wtime() * 1e9;
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
#endif
}

const char *library(void)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return version;
}

void host_name(char name[HOST])
{
    char whole[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(whole, &length);
    snprintf(name, HOST, "%s", whole);
}

void send_to(const void *data, uint64_t bytes)
{
    MPI_Send(data, (int)bytes, MPI_BYTE, peer, 0, pair);
}

void receive(void *data, uint64_t bytes)
{
    MPI_Recv(data, (int)bytes, MPI_BYTE, peer, 0, pair, MPI_STATUS_IGNORE);
}

void start_send(const void *data, uint64_t bytes)
{
    MPI_Isend(data, (int)bytes, MPI_BYTE, peer, 0, pair, &requests[pending++]);
}

void post_receive(void *data, uint64_t bytes)
{
    MPI_Irecv(data, (int)bytes, MPI_BYTE, peer, 0, pair, &requests[pending++]);
}

void wait_all(void)
{
    MPI_Waitall(pending, requests, statuses);
    pending = 0;
}

void exchange(const void *outgoing, void *incoming, uint64_t bytes)
{
    MPI_Sendrecv(outgoing, (int)bytes, MPI_BYTE, peer, 0, incoming, (int)bytes, MPI_BYTE, peer, 0,
                 pair, MPI_STATUS_IGNORE);
}

void reduce(const void *own, void *sums, uint64_t count)
{
    MPI_Allreduce(own, sums, (int)count, MPI_DOUBLE, MPI_SUM, pair);
}

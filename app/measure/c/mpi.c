/* Messages through an MPI library. */

#include "transport.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int rank;
static int peer, pending;
static MPI_Request requests[1024];
static MPI_Status statuses[1024];

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void start(int *count, char ***arguments)
{
    int ranks;
    MPI_Init(count, arguments);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    if (ranks != 2 && rank == 0)
        fail("measuring takes two ranks, and the launcher started %d; mpirun -n 2 starts two",
             ranks);
    /* Other ranks wait here for the end. */
    MPI_Barrier(MPI_COMM_WORLD);
}

void end(void)
{
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
    MPI_Send(data, (int)bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
}

void receive(void *data, uint64_t bytes)
{
    MPI_Recv(data, (int)bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void start_send(const void *data, uint64_t bytes)
{
    MPI_Isend(data, (int)bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[pending++]);
}

void post_receive(void *data, uint64_t bytes)
{
    MPI_Irecv(data, (int)bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[pending++]);
}

void wait_all(void)
{
    MPI_Waitall(pending, requests, statuses);
    pending = 0;
}

void exchange(const void *outgoing, void *incoming, uint64_t bytes)
{
    MPI_Sendrecv(outgoing, (int)bytes, MPI_BYTE, peer, 0, incoming, (int)bytes, MPI_BYTE, peer, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void reduce(const void *own, void *sums, uint64_t count)
{
    MPI_Allreduce(own, sums, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

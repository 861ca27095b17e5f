/* Offsets between the ranks' clocks: rank 0 answers each other rank's pings with its time. Of many
 * rounds the fastest counts (F. Cristian, "Probabilistic clock synchronization", Distributed
 * Computing 3, 1989): the answer was given between the ping and the pong, in the middle if both
 * ways took the same, so that the error is at most half the round.
 *
 * Ranks that run under one kernel have one clock: their offset is 0 and not measured, unless
 * HEDDLE_RECORD_CLOCK=measure asks for it, or their clocks tell processor time. Nor is it where
 * time is simulated: messages of the recorder would change the run. */
#include "recorder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 32
#define DEFINE_CLOCK 4

static MPI_Comm clocks;
static bool *measured;
static bool mine;

static void start_kernel(char id[64])
{
    int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    memset(id, 0, 64);
    if (descriptor < 0 || read(descriptor, id, 63) <= 0)
        gethostname(id, 63);
    if (descriptor >= 0)
        close(descriptor);
}

static int64_t offset_of(int root)
{
    uint64_t fastest = UINT64_MAX, theirs;
    int64_t offset = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sent = now();
        PMPI_Send(&sent, 8, MPI_BYTE, root, 0, clocks);
        PMPI_Recv(&theirs, 8, MPI_BYTE, root, 0, clocks, MPI_STATUS_IGNORE);
        uint64_t took = now() - sent;
        if (took < fastest) {
            fastest = took;
            offset = (int64_t)(theirs - (sent + took / 2));
        }
    }
    return offset;
}

static void answer(int rank)
{
    uint64_t time;
    for (int round = 0; round < ROUNDS; round++) {
        PMPI_Recv(&time, 8, MPI_BYTE, rank, 0, clocks, MPI_STATUS_IGNORE);
        time = now();
        PMPI_Send(&time, 8, MPI_BYTE, rank, 0, clocks);
    }
}

static void measure(void)
{
    int rank, size;
    int64_t offset = 0;
    PMPI_Comm_rank(world, &rank);
    PMPI_Comm_size(world, &size);
    for (int other = 1; rank == 0 && measured && other < size; other++)
        if (measured[other])
            answer(other);
    if (rank != 0 && mine)
        offset = offset_of(0);
    if (!recording)
        return;
    lock();
    out_t out = put(trace_define(DEFINE_CLOCK, 64), now() - trace_start);
    trace_defined(put_signed(out, offset));
    unlock();
}

void clock_start(void)
{
    char id[64], root[64];
    int rank, size;
    const char *wish = getenv("HEDDLE_RECORD_CLOCK");
    if (heddle_now) {
        measure();
        return;
    }
    bool apart = computation_start();
    /* A communicator of its own: a program's wildcards never see these messages. */
    PMPI_Comm_dup(world, &clocks);
    PMPI_Comm_rank(clocks, &rank);
    PMPI_Comm_size(clocks, &size);
    start_kernel(id);
    memcpy(root, id, sizeof root);
    PMPI_Bcast(root, sizeof root, MPI_BYTE, 0, clocks);
    apart = apart || memcmp(id, root, sizeof root) != 0 || (wish && !strcmp(wish, "measure"));
    mine = rank != 0 && apart;
    if (rank == 0)
        measured = calloc((size_t)size, sizeof *measured);
    PMPI_Gather(&mine, sizeof mine, MPI_BYTE, measured, sizeof mine, MPI_BYTE, 0, clocks);
    measure();
}

void clock_stop(void)
{
    measure();
    if (!heddle_now) {
        computation_stop(clocks);
        PMPI_Comm_free(&clocks);
    }
    free(measured);
    measured = NULL;
}

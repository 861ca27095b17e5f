/* Messages between two processes of a host through a ring of shared memory in each direction.
 *
 * A sender copies its message into the ring, and the receiver copies it out; both wait busily, as
 * the shared-memory transports of MPI libraries do. */

#define _GNU_SOURCE
#include "transport.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RING = 1 << 18, LINE = 64 };

struct ring {
    /* The numbers of bytes that were ever written and read. */
    _Alignas(LINE) _Atomic uint64_t written;
    _Alignas(LINE) _Atomic uint64_t read;
    _Alignas(LINE) char bytes[RING];
};

struct message {
    char *data;
    uint64_t bytes;
};

int rank, place;
int ranks = 2;
static pid_t other;
static struct ring *to_peer, *from_peer;
static struct message posted[1024];
static int posted_count;

void end_others(void)
{
    if (other > 0)
        kill(other, SIGKILL);
}

/* Lets the rank run on the processor of this number among those that it may use. With one processor
 * for both, waiting gives it up. */
static void pin(int place)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && place-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

void start(int *count, char ***arguments)
{
    (void)count, (void)arguments;
    struct ring *rings = mmap(NULL, 2 * sizeof *rings, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rings == MAP_FAILED)
        fail("no shared memory: %s", strerror(errno));
    memset(rings, 0, 2 * sizeof *rings);
    other = fork();
    if (other < 0)
        fail("cannot start the second process: %s", strerror(errno));
    rank = place = other == 0;
    if (rank == 1)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    to_peer = &rings[rank];
    from_peer = &rings[1 - rank];
    pin(rank);
}

void end(void)
{
    /* A second process that is gone is taken for dead. So it stays until the first has all messages
     * and waits for none. */
    if (rank == 1) {
        receive(NULL, 0);
        return;
    }
    send_to(NULL, 0);
    int status;
    if (waitpid(other, &status, 0) != other || status != 0)
        fail("the second process failed");
}

/* There is one pair, and its results are at place 0. */
void pair_with(int partner)
{
    (void)partner;
}

void share(void *data, uint64_t bytes)
{
    if (rank == 0)
        send_to(data, bytes);
    else
        receive(data, bytes);
}

char *bring(int from, char *text)
{
    (void)from;
    return text;
}

void meet(void)
{
}

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

const char *library(void)
{
    return "shared memory";
}

void host_name(char name[HOST])
{
    if (gethostname(name, HOST - 1) != 0)
        strcpy(name, "localhost");
}

/* Lets others have the processor. One who gives it up among others that compute comes last each
 * time, and one who sleeps comes soon after waking: so it sleeps for some times when giving up took
 * long. */
static void give_up(void)
{
    static int sleeps;
    const struct timespec moment = {.tv_nsec = 20000};
    if (sleeps > 0) {
        sleeps--;
        nanosleep(&moment, NULL);
        return;
    }
    double start = now();
    sched_yield();
    if (now() - start > 1e6)
        sleeps = 100;
}

/* Waits a moment. Looks from time to time whether the other process is still there. */
static void pause_for(uint64_t *waits)
{
    if (++*waits % 4096 != 0) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        return;
    }
    give_up();
    int status;
    if (rank == 0 && waitpid(other, &status, WNOHANG) == other) {
        other = 0;
        fail("the second process died");
    }
}

/* Writes what there is room for; returns how much. */
static uint64_t write_some(const char *data, uint64_t bytes)
{
    uint64_t written = atomic_load_explicit(&to_peer->written, memory_order_relaxed);
    uint64_t read = atomic_load_explicit(&to_peer->read, memory_order_acquire);
    uint64_t place = written % RING, most = RING - (written - read);
    if (most > RING - place)
        most = RING - place;
    /* Pieces let the receiver begin before the sender has copied all. */
    if (most > RING / 8)
        most = RING / 8;
    uint64_t size = bytes < most ? bytes : most;
    memcpy(to_peer->bytes + place, data, size);
    atomic_store_explicit(&to_peer->written, written + size, memory_order_release);
    return size;
}

static uint64_t read_some(char *data, uint64_t bytes)
{
    uint64_t read = atomic_load_explicit(&from_peer->read, memory_order_relaxed);
    uint64_t written = atomic_load_explicit(&from_peer->written, memory_order_acquire);
    uint64_t place = read % RING, size = written - read;
    if (size > RING - place)
        size = RING - place;
    if (size > bytes)
        size = bytes;
    memcpy(data, from_peer->bytes + place, size);
    atomic_store_explicit(&from_peer->read, read + size, memory_order_release);
    return size;
}

static void write_all(const void *data, uint64_t bytes)
{
    uint64_t done = 0, waits = 0;
    while (done < bytes) {
        uint64_t size = write_some((const char *)data + done, bytes - done);
        done += size;
        if (size == 0)
            pause_for(&waits);
    }
}

static void read_all(void *data, uint64_t bytes)
{
    uint64_t done = 0, waits = 0;
    while (done < bytes) {
        uint64_t size = read_some((char *)data + done, bytes - done);
        done += size;
        if (size == 0)
            pause_for(&waits);
    }
}

void send_to(const void *data, uint64_t bytes)
{
    write_all(&bytes, sizeof bytes);
    write_all(data, bytes);
}

void receive(void *data, uint64_t bytes)
{
    uint64_t length;
    read_all(&length, sizeof length);
    if (length != bytes)
        fail("a message of %llu bytes where %llu were expected", (unsigned long long)length,
             (unsigned long long)bytes);
    read_all(data, bytes);
}

void start_send(const void *data, uint64_t bytes)
{
    send_to(data, bytes);
}

void post_receive(void *data, uint64_t bytes)
{
    posted[posted_count++] = (struct message){data, bytes};
}

void wait_all(void)
{
    for (int i = 0; i < posted_count; i++)
        receive(posted[i].data, posted[i].bytes);
    posted_count = 0;
}

void exchange(const void *outgoing, void *incoming, uint64_t bytes)
{
    uint64_t sent = 0, received = 0, waits = 0;
    while (sent < bytes || received < bytes) {
        uint64_t out = write_some((const char *)outgoing + sent, bytes - sent);
        uint64_t in = read_some((char *)incoming + received, bytes - received);
        sent += out;
        received += in;
        if (out + in == 0)
            pause_for(&waits);
    }
}

void reduce(const void *own, void *sums, uint64_t count)
{
    exchange(own, sums, count * sizeof(double));
    for (uint64_t i = 0; i < count; i++)
        ((double *)sums)[i] += ((const double *)own)[i];
}

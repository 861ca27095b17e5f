/* Carries out a plan of measurements on two ranks: measure PLAN RESULTS.
 *
 * A line of the plan is an operation, the number of messages, the wait between them in nanoseconds,
 * their size in bytes, and the number of the repetition, which is negative for a warm-up. Rank 0
 * reads the plan, tells it to rank 1, measures, and writes a line for each time:
 *
 *     operation,n,d_ns,bytes,repetition,time_ns,at_ns
 *
 * Lines that begin with # name the library and the hosts; the last line is "# end". The operations
 * are those of samples.csv, which the book describes (docs/src/measure.md). A time has one look at
 * the clock taken off, which is what no operation at all would show. */

#include "transport.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_LINES = 1 << 20, MOST_MESSAGES = 1024 };
#define LARGEST ((uint64_t)1 << 26)

enum operation { PRTT, SEND, ISEND, RECV, RECV_BUSY, PINGPONG, EXCHANGE, TOUCH, FIRST, ALLREDUCE };

static const char *const names[] = {"prtt",     "send",  "isend", "recv",
                                    "recv-busy", "pingpong", "exchange", "touch",
                                    "first",    "collective:allreduce"};

struct step {
    uint64_t operation, messages, wait, bytes;
    int64_t repetition;
};

static char *outgoing, *incoming;
static uint64_t largest;
/* The time that a look at the clock takes, in nanoseconds. */
static double look;

/* Computes from `start` until `length` has passed; returns by how much longer it took. */
static double compute(double start, double length)
{
    double end = start + length, time;
    do {
        time = now();
    } while (time < end);
    return time - end;
}

/* Returns a buffer whose pages are there but which MPI has never seen. */
static char *fresh(uint64_t bytes)
{
    uint64_t length = bytes > 0 ? bytes : 1;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *buffer = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (buffer == MAP_FAILED)
        fail("no memory for a buffer of %" PRIu64 " bytes: %s", bytes, strerror(errno));
    memset(buffer, 1, length);
    return buffer;
}

/* Returns the time of a round trip of n messages with a wait between them, and one answer. Waits
 * count as long as they were to be: a longer one is late by what it is longer. */
static double round_trip(const struct step *step, const char *buffer)
{
    double late = 0, start = now();
    for (uint64_t i = 0; i + 1 < step->messages; i++) {
        send_to(buffer, step->bytes);
        if (step->wait > 0)
            late += look + compute(now(), (double)step->wait);
    }
    send_to(buffer, step->bytes);
    receive(incoming, step->bytes);
    return now() - start - late;
}

/* Returns the time of n sends to a partner that has posted its receives. */
static double sends(const struct step *step)
{
    receive(NULL, 0);
    double start = now();
    for (uint64_t i = 0; i < step->messages; i++) {
        if (step->operation == SEND)
            send_to(outgoing, step->bytes);
        else
            start_send(outgoing, step->bytes);
    }
    double time = now() - start;
    if (step->operation == ISEND)
        wait_all();
    receive(NULL, 0);
    return time;
}

/* Returns the time of n receives of messages that are there already: this rank computes until they
 * must be. That of `recv-busy` includes the wait, as its definition says. */
static double receives(const struct step *step)
{
    send_to(NULL, 0);
    compute(now(), (double)step->wait);
    double start = now();
    for (uint64_t i = 0; i < step->messages; i++)
        receive(incoming, step->bytes);
    double time = now() - start;
    send_to(NULL, 0);
    return step->operation == RECV_BUSY ? time + (double)step->wait : time;
}

static double exchanges(const struct step *step)
{
    send_to(NULL, 0);
    receive(NULL, 0);
    double start = now();
    for (uint64_t i = 0; i < step->messages; i++)
        exchange(outgoing, incoming, step->bytes);
    return now() - start;
}

static double reductions(const struct step *step)
{
    send_to(NULL, 0);
    receive(NULL, 0);
    double start = now();
    for (uint64_t i = 0; i < step->messages; i++)
        reduce(outgoing, incoming, step->bytes / sizeof(double));
    return now() - start;
}

static double measure(const struct step *step)
{
    switch (step->operation) {
    case SEND:
    case ISEND:
        return sends(step);
    case RECV:
    case RECV_BUSY:
        return receives(step);
    case EXCHANGE:
        return exchanges(step);
    case ALLREDUCE:
        return reductions(step);
    case TOUCH: {
        char *buffer = fresh(step->bytes);
        double time = round_trip(step, buffer);
        munmap(buffer, step->bytes > 0 ? step->bytes : 1);
        return time;
    }
    default:
        return round_trip(step, outgoing);
    }
}

/* Does the other rank's part of an operation. */
static void answer(const struct step *step)
{
    uint64_t count = step->messages;
    switch (step->operation) {
    case SEND:
    case ISEND:
        for (uint64_t i = 0; i < count; i++)
            post_receive(incoming, step->bytes);
        send_to(NULL, 0);
        wait_all();
        send_to(NULL, 0);
        break;
    case RECV:
    case RECV_BUSY:
        receive(NULL, 0);
        for (uint64_t i = 0; i < count; i++)
            start_send(outgoing, step->bytes);
        wait_all();
        receive(NULL, 0);
        break;
    case EXCHANGE:
        exchanges(step);
        break;
    case ALLREDUCE:
        reductions(step);
        break;
    default:
        for (uint64_t i = 0; i < count; i++)
            receive(incoming, step->bytes);
        send_to(outgoing, step->bytes);
    }
}

static int operation_named(const char *name, uint64_t *operation)
{
    for (*operation = 0; *operation < sizeof names / sizeof *names; ++*operation)
        if (strcmp(names[*operation], name) == 0)
            return 1;
    return 0;
}

static struct step *read_plan(const char *path, uint64_t *count)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail("rank 0 cannot read %s: %s; the folder must be one that its host has", path,
             strerror(errno));
    struct step *steps = NULL, step;
    char name[64];
    for (*count = 0;;) {
        int read = fscanf(file, "%63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64, name,
                          &step.messages, &step.wait, &step.bytes, &step.repetition);
        if (read == EOF)
            break;
        if (read != 5 || !operation_named(name, &step.operation) || step.messages < 1 ||
            step.messages > MOST_MESSAGES || step.bytes > LARGEST || *count >= MOST_LINES)
            fail("%s: step %" PRIu64 " is wrong", path, *count + 1);
        if ((*count & (*count - 1)) == 0)
            steps = realloc(steps, (*count ? 2 * *count : 1) * sizeof *steps);
        if (!steps)
            fail("no memory for the plan");
        steps[(*count)++] = step;
    }
    fclose(file);
    return steps;
}

/* Tells the other rank the plan; both then have it. */
static struct step *share_plan(struct step *steps, uint64_t *count)
{
    if (rank == 0)
        send_to(count, sizeof *count);
    else
        receive(count, sizeof *count);
    if (rank != 0)
        steps = malloc((*count ? *count : 1) * sizeof *steps);
    if (!steps)
        fail("no memory for the plan");
    if (rank == 0)
        send_to(steps, *count * sizeof *steps);
    else
        receive(steps, *count * sizeof *steps);
    for (uint64_t i = 0; i < *count; i++)
        if (steps[i].bytes > largest)
            largest = steps[i].bytes;
    outgoing = fresh(largest);
    incoming = fresh(largest);
    return steps;
}

/* Finds the time of a look at the clock: the least mean of ten series. Both ranks take part. */
static void time_looks(void)
{
    look = 1e9;
    for (int i = 0; i < 10; i++) {
        double start = now(), end = start;
        for (int j = 0; j < 50; j++)
            end = now();
        double each = (end - start) / 50;
        if (each < look)
            look = each;
        /* A simulation lets looks in a row take longer unless there is a call between them. */
        send_to(NULL, 0);
        receive(NULL, 0);
    }
}

static void write_comment(FILE *file, const char *name, const char *text)
{
    fprintf(file, "# %s: ", name);
    for (; *text && *text != '\n' && *text != '\r'; text++)
        fputc(*text, file);
    fputc('\n', file);
}

/* Carries out the steps; rank 0 writes the times. A step begins when both ranks are done with the
 * one before, and no message of rank 1 comes between the end of a step and its time. A time of
 * nothing is that of one look at the clock. */
static void carry_out(const struct step *steps, uint64_t count, FILE *file)
{
    double begin = now();
    for (uint64_t i = 0; i < count; i++) {
        const struct step *step = &steps[i];
        if (rank != 0) {
            receive(NULL, 0);
            send_to(NULL, 0);
            answer(step);
            continue;
        }
        send_to(NULL, 0);
        receive(NULL, 0);
        double at = now() - begin, time = measure(step) - look;
        if (step->repetition >= 0)
            fprintf(file, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%.3f,%.0f\n",
                    names[step->operation], step->messages, step->wait, step->bytes,
                    step->repetition, time > 0.001 ? time : 0.001, at);
    }
}

int main(int count, char **arguments)
{
    char host[2][HOST] = {"", ""};
    start(&count, &arguments);
    if (count != 3)
        fail("usage: %s PLAN RESULTS", arguments[0]);
    uint64_t steps_count = 0;
    struct step *steps = rank == 0 ? read_plan(arguments[1], &steps_count) : NULL;
    steps = share_plan(steps, &steps_count);
    host_name(host[rank]);
    if (rank == 0)
        receive(host[1], HOST);
    else
        send_to(host[1], HOST);
    FILE *file = NULL;
    if (rank == 0) {
        file = fopen(arguments[2], "wx");
        if (!file)
            fail("rank 0 cannot write %s: %s", arguments[2], strerror(errno));
        write_comment(file, "library", library());
        write_comment(file, "source", host[0]);
        write_comment(file, "destination", host[1]);
    }
    time_looks();
    carry_out(steps, steps_count, file);
    if (rank == 0) {
        fputs("# end\n", file);
        if (fclose(file) != 0)
            fail("rank 0 cannot write %s: %s", arguments[2], strerror(errno));
    }
    end();
    return 0;
}

/* Carries out a plan of measurements on two ranks, or on pairs of more: measure PLAN RESULTS
 * NANOSECONDS [ROUNDS].
 *
 * A line of the plan is an operation, the number of messages, the wait between them in nanoseconds,
 * their size in bytes, and the number of the repetition, which is negative for a warm-up. A line of
 * the rounds is the number of a round, from 0 on, and the places of two ranks; the pairs of a round
 * measure at the same time, each the whole plan. The rank at place 0 reads both files and tells all
 * others. Rank 0 of each pair measures, and place 0 writes what it found behind "# pair: A B":
 *
 *     operation,n,d_ns,bytes,repetition,time_ns,at_ns
 *
 * The time is that of each pair. A warm-up ends when it has taken half of it, and no repetition
 * begins when it is over but the first, which is numbered 0 and always done. "# stopped: N" behind
 * the times of a pair tells that repetition N and those behind it were left out.
 *
 * Lines that begin with # name the library and the host of each rank; the last line is "# end". The
 * operations are those of samples.csv, which the book describes (docs/src/measure.md). A time has
 * one look at the clock taken off, which is what no operation at all would show. */

#include "transport.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
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

/* Two ranks that measure with each other. */
struct pair {
    uint64_t round;
    int32_t first, second;
};

/* The message by which rank 0 of a pair tells the other rank before each step what to do: to end,
 * to carry out the step, or to leave it out. */
enum order { STOP, GO, SKIP };

static char *outgoing, *incoming;
static uint64_t largest;
/* The time that a look at the clock takes, in nanoseconds. */
static double look;

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    end_others();
    exit(1);
}

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

static FILE *open_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail("rank 0 cannot read %s: %s; the folder must be one that its host has", path,
             strerror(errno));
    return file;
}

/* Returns room for one more element behind `count` ones. */
static void *grown(void *elements, uint64_t count, size_t size)
{
    if ((count & (count - 1)) == 0)
        elements = realloc(elements, (count ? 2 * count : 1) * size);
    if (!elements)
        fail("no memory for the plan");
    return elements;
}

static struct step *read_plan(const char *path, uint64_t *count)
{
    FILE *file = open_file(path);
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
        steps = grown(steps, *count, sizeof step);
        steps[(*count)++] = step;
    }
    fclose(file);
    return steps;
}

static struct pair *read_rounds(const char *path, uint64_t *count)
{
    FILE *file = open_file(path);
    struct pair *pairs = NULL, pair;
    for (*count = 0;;) {
        int read = fscanf(file, "%" SCNu64 " %" SCNd32 " %" SCNd32, &pair.round, &pair.first,
                          &pair.second);
        if (read == EOF)
            break;
        uint64_t before = *count ? pairs[*count - 1].round : 0;
        int is_next = pair.round == before || (*count && pair.round == before + 1);
        if (read != 3 || !is_next || pair.first < 0 || pair.first >= pair.second ||
            pair.second >= ranks || *count >= MOST_LINES)
            fail("%s: pair %" PRIu64 " is wrong, of %d ranks", path, *count + 1, ranks);
        pairs = grown(pairs, *count, sizeof pair);
        pairs[(*count)++] = pair;
    }
    fclose(file);
    return pairs;
}

/* Tells all ranks what place 0 has read: `count` elements of a size. */
static void *shared(void *elements, uint64_t *count, size_t size)
{
    share(count, sizeof *count);
    if (place != 0)
        elements = malloc((*count ? *count : 1) * size);
    if (*count > 0 && !elements)
        fail("no memory for the plan");
    share(elements, *count * size);
    return elements;
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

/* Returns what to do at a step when so many nanoseconds of the time have passed. */
static char order_at(const struct step *steps, uint64_t i, double passed, double time)
{
    int64_t repetition = steps[i].repetition;
    if (repetition < 0)
        return passed > time / 2 ? SKIP : GO;
    int begins = i > 0 && steps[i - 1].repetition != repetition;
    return begins && repetition > 0 && passed > time ? STOP : GO;
}

/* Carries out the steps; rank 0 of the pair writes the times. A step begins when both ranks are
 * done with the one before, and no message of rank 1 comes between the end of a step and its time.
 * A time of nothing is that of one look at the clock. */
static void carry_out(const struct step *steps, uint64_t count, double limit, FILE *file)
{
    double begin = now();
    for (uint64_t i = 0; i < count; i++) {
        const struct step *step = &steps[i];
        char order = rank == 0 ? order_at(steps, i, now() - begin, limit) : 0;
        if (rank == 0)
            send_to(&order, 1);
        else
            receive(&order, 1);
        if (order == SKIP)
            continue;
        if (order == STOP) {
            if (rank == 0)
                fprintf(file, "# stopped: %" PRId64 "\n", step->repetition);
            break;
        }
        if (rank != 0) {
            send_to(NULL, 0);
            answer(step);
            continue;
        }
        receive(NULL, 0);
        double at = now() - begin, time = measure(step) - look;
        if (step->repetition >= 0)
            fprintf(file, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%.3f,%.0f\n",
                    names[step->operation], step->messages, step->wait, step->bytes,
                    step->repetition, time > 0.001 ? time : 0.001, at);
    }
}

/* Writes what is known of all ranks before they measure. */
static FILE *open_results(const char *path)
{
    char *host = malloc(HOST);
    if (!host)
        fail("no memory for a name");
    host_name(host);
    FILE *file = NULL;
    if (place == 0) {
        file = fopen(path, "wx");
        if (!file)
            fail("rank 0 cannot write %s: %s", path, strerror(errno));
        write_comment(file, "library", library());
    }
    for (int from = 0; from < ranks; from++) {
        if (place != 0 && place != from)
            continue;
        char *name = bring(from, host);
        if (place == 0)
            write_comment(file, "host", name);
        if (name != host)
            free(name);
    }
    free(host);
    return file;
}

/* Lets the pairs of a round measure at the same time, each for so many nanoseconds, and writes what
 * they found. */
static void measure_round(const struct step *steps, uint64_t count, double limit,
                          const struct pair *pairs, uint64_t pairs_count, FILE *file)
{
    int partner = -1;
    for (uint64_t i = 0; i < pairs_count; i++) {
        if (pairs[i].first == place)
            partner = pairs[i].second;
        if (pairs[i].second == place)
            partner = pairs[i].first;
    }
    pair_with(partner);
    char *text = NULL;
    size_t length = 0;
    if (partner >= 0) {
        FILE *found = rank == 0 ? open_memstream(&text, &length) : NULL;
        if (rank == 0 && !found)
            fail("no memory for results");
        time_looks();
        carry_out(steps, count, limit, found);
        if (found && fclose(found) != 0)
            fail("no memory for results");
    }
    meet();
    for (uint64_t i = 0; i < pairs_count; i++) {
        if (place != 0 && place != pairs[i].first)
            continue;
        char *whole = bring(pairs[i].first, text);
        if (place == 0)
            fprintf(file, "# pair: %d %d\n%s", pairs[i].first, pairs[i].second, whole);
        if (whole != text)
            free(whole);
    }
    free(text);
}

int main(int count, char **arguments)
{
    start(&count, &arguments);
    if (count != 4 && count != 5)
        fail("usage: %s PLAN RESULTS NANOSECONDS [ROUNDS]", arguments[0]);
    char *rest;
    double limit = strtod(arguments[3], &rest);
    if (*rest || !(limit >= 0))
        fail("expected a number of nanoseconds, found %s", arguments[3]);
    if (count == 4 && ranks != 2) {
        if (place == 0)
            fail("measuring takes two ranks, and the launcher started %d; mpirun -n 2 starts two, "
                 "and --pairs measures between more",
                 ranks);
        meet();
    }
    struct pair only = {.round = 0, .first = 0, .second = 1}, *pairs = &only;
    uint64_t steps_count = 0, pairs_count = 1;
    struct step *steps = place == 0 ? read_plan(arguments[1], &steps_count) : NULL;
    steps = shared(steps, &steps_count, sizeof *steps);
    if (count == 5) {
        pairs = place == 0 ? read_rounds(arguments[4], &pairs_count) : NULL;
        pairs = shared(pairs, &pairs_count, sizeof *pairs);
    }
    for (uint64_t i = 0; i < steps_count; i++)
        if (steps[i].bytes > largest)
            largest = steps[i].bytes;
    outgoing = fresh(largest);
    incoming = fresh(largest);
    FILE *file = open_results(arguments[2]);
    for (uint64_t from = 0, to; from < pairs_count; from = to) {
        for (to = from; to < pairs_count && pairs[to].round == pairs[from].round; to++)
            ;
        measure_round(steps, steps_count, limit, pairs + from, to - from, file);
    }
    if (place == 0) {
        fputs("# end\n", file);
        if (fclose(file) != 0)
            fail("rank 0 cannot write %s: %s", arguments[2], strerror(errno));
    }
    end();
    return 0;
}

/* What the component asks of openmpi/core: the scheduler of rails, their parameters and the cache.
 *
 * Functions that can fail return -1 or NULL, and write the reason into `reason`. Texts end with a
 * zero. Times are in 1/1024 ns, G in 2^-20 ns per byte, unless a name says nanoseconds. */

#ifndef HEDDLE_RAILS_H
#define HEDDLE_RAILS_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_MOST_RAILS 8

/* A rail: its parameters of LogGP, what a message takes of the processors that takes it after one
 * that took another, and its name. */
struct heddle_rail {
    uint64_t send_overhead, receive_overhead, latency, gap, gap_per_byte, change;
    char name[32];
};

/* Room for the reason of an error. */
struct heddle_reason {
    char *text;
    size_t length;
};

typedef struct heddle_host heddle_host;
typedef struct heddle_samples heddle_samples;

/* The scheduler of a host. `segment` names shared memory of the `processes` of this job on the
 * host; NULL keeps the state in this process. */
heddle_host *heddle_host_new(const struct heddle_rail *rails, uint32_t count, const char *policy,
                             const char *segment, uint32_t processes, struct heddle_reason reason);
void heddle_host_free(heddle_host *host);

/* The state that the scheduler keeps for a destination; zeros at first. */
struct heddle_toward {
    uint64_t arrives;
    uint8_t rail, turn;
};

/* The rail of a message whose send begins now. `usable` has a bit for each rail that leads to the
 * destination, at least one; `toward` belongs to the destination. One thread at a time. */
uint8_t heddle_choose(heddle_host *host, uint64_t bytes, uint8_t usable,
                      struct heddle_toward *toward);

/* A rail carries bytes that nobody asked it about, those of a large message. */
void heddle_used(const heddle_host *host, uint8_t rail, uint64_t bytes);

/* heddle_next tells the rail that a large message of a process takes if its data is asked for now,
 * and notes nothing; heddle_taken notes that it was asked for over a rail. `turn` belongs to the
 * process, and is zero at first. */
uint8_t heddle_next(const heddle_host *host, uint64_t bytes, uint8_t usable, uint8_t turn);
void heddle_taken(heddle_host *host, uint8_t rail, uint64_t bytes, uint8_t usable, uint8_t *turn);

/* The part of a large message that each usable rail should carry so that all parts arrive at the
 * same time; they add up to 1. `shares` has room for HEDDLE_MOST_RAILS. */
void heddle_shares(const heddle_host *host, uint64_t bytes, uint8_t usable, double *shares);

/* Whether a rail was found to be slower than its parameters say. */
int heddle_is_slower(const heddle_host *host, uint8_t rail);

/* What a byte takes on a rail, as far as is known. */
uint64_t heddle_rate(const heddle_host *host, uint8_t rail);

/* Bytes take so many `times` as long on a rail as `rate` says, at least. */
void heddle_slower(const heddle_host *host, uint8_t rail, uint64_t rate, double times);

/* A rail is as fast as its parameters say. */
void heddle_as_fast(const heddle_host *host, uint8_t rail);

/* How long a rail is busy, as far as the scheduler knows, in nanoseconds, and with how many bytes
 * that would be by its parameters. */
double heddle_ahead(const heddle_host *host, uint8_t rail);
uint64_t heddle_backlog(const heddle_host *host, uint8_t rail);

/* How many bytes should lie between two that are confirmed: `least`, or what the rail takes in some
 * milliseconds, if that is more. */
uint64_t heddle_spacing(const heddle_host *host, uint8_t rail, uint64_t least);

/* How many bytes beside the backlog may be on their way over a rail without a confirmation:
 * the spacing, and what it takes in two round trips. */
uint64_t heddle_limit(const heddle_host *host, uint8_t rail, uint64_t least);

/* The rails of a machine file into `rails`, which has room for HEDDLE_MOST_RAILS; how many. */
int heddle_read(const char *path, struct heddle_rail *rails, struct heddle_reason reason);

/* The rails that were kept for a key for at most so many seconds; 0 if there are none. `folder` may
 * be NULL: the user's cache folder. */
int heddle_cache_read(const char *folder, const char *key, uint64_t seconds,
                      struct heddle_rail *rails, struct heddle_reason reason);
int heddle_cache_write(const char *folder, const char *key, const struct heddle_rail *rails,
                       uint32_t count, struct heddle_reason reason);

/* Samples of one rail: of round trips of `messages` messages with a pause of `delay` nanoseconds
 * between them and one answer of the same size, and of sends. heddle_fit frees them. */
heddle_samples *heddle_samples_new(void);
void heddle_trip(heddle_samples *samples, uint32_t messages, double delay, uint64_t bytes,
                 double nanoseconds);
void heddle_send(heddle_samples *samples, uint64_t bytes, double nanoseconds);
void heddle_samples_free(heddle_samples *samples);
int heddle_fit(heddle_samples *samples, const char *name, struct heddle_rail *rail,
               struct heddle_reason reason);

#endif

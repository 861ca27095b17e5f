/* What the measurements need of a way to exchange messages between two ranks, which are a pair.
 * Messages of a rank arrive in the order in which it sent them. Errors end the program. */

#ifndef HEDDLE_TRANSPORT_H
#define HEDDLE_TRANSPORT_H

#include <stdint.h>

/* The room for a host's name, and its terminating zero. */
enum { HOST = 256 };

/* The number of this rank in its pair: 0 or 1; -1 if it is in none. */
extern int rank;
/* The number of all ranks, and that of this one among them. */
extern int ranks, place;

/* Begins; all ranks are there from here on. Takes its own arguments from the command line. */
void start(int *count, char ***arguments);
/* Ends; all ranks call it. */
void end(void);
/* Ends the other ranks at once, after an error. */
void end_others(void);
/* Prints a message and ends all ranks. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

/* Makes this rank and the one at `partner` a pair, of which the one at the smaller place is rank 0;
 * without a pair if `partner` is negative. All ranks call it. */
void pair_with(int partner);
/* Copies data from the rank at place 0 to all. */
void share(void *data, uint64_t bytes);
/* Brings the text of the rank at `from` to the one at place 0, which may free it. Both call it. */
char *bring(int from, char *text);
/* Waits until all ranks are here, and leaves the processor to others meanwhile. */
void meet(void);

/* Returns the time in nanoseconds since some moment. */
double now(void);
/* Returns the name and the version of the library that carries the messages. */
const char *library(void);
/* Writes the name of this rank's host. */
void host_name(char name[HOST]);

/* Sends to the other rank; the buffer is free again when this returns. */
void send_to(const void *data, uint64_t bytes);
/* Receives the other rank's next message, which has this size. */
void receive(void *data, uint64_t bytes);
/* Starts a send or a receive, of which there are at most 1024 before the next `wait_all`. */
void start_send(const void *data, uint64_t bytes);
void post_receive(void *data, uint64_t bytes);
/* Waits for all that was started. */
void wait_all(void);
/* Sends and receives at the same time; both ranks call it. */
void exchange(const void *outgoing, void *incoming, uint64_t bytes);
/* Adds vectors of numbers of both ranks of the pair; both get the sums. */
void reduce(const void *own, void *sums, uint64_t count);

#endif

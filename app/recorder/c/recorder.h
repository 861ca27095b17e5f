/* The recorder: a library that is loaded before an MPI program's own libraries and writes what each
 * rank called. `docs/src/recording.md` says how it is used, `docs/src/trace-format.md` what it
 * writes.
 *
 * A wrapper (generated: wrappers.c; by hand: calls.c) takes the time, calls the MPI library, takes
 * the time again, and appends a record to the trace (trace.c), with handles turned into numbers
 * (handles.c). The Fortran bindings of Open MPI and MPICH call the C functions, by their MPI_ or
 * their PMPI_ names, so that defining both covers Fortran too. */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#ifdef OPEN_MPI
/* Open MPI's handles are addresses of objects. A process that is not an MPI program loads this
 * library too, so that they are looked up when the program starts MPI, not linked. */
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)find_symbol(#global))
#define LIBRARIES "libmpi.so.40", "libmpi.so"
#elif defined STANDARD_INTERFACE
#define LIBRARIES "libmpi_abi.so.1", "libmpi_abi.so.0"
#else
#define LIBRARIES "libmpich.so.12", "libmpi.so.12"
#endif

#define PUBLIC __attribute__((visibility("default")))
/* The second name of a wrapper: tools and the Fortran bindings call it. */
#define ALIAS(name) extern PUBLIC __typeof__(name) P##name __attribute__((alias(#name)));
#define likely(condition) __builtin_expect(!!(condition), 1)

/* Finds a symbol of the MPI library; NULL if there is none. */
void *find_symbol(const char *name);
/* The MPI library's function of a number; the names are those of the table. */
void *find_function(unsigned number);

extern const char *const function_names[];
extern void *functions[];
/* The MPI library's function. */
#define REAL(name) \
    ((__typeof__(&P##name))(likely(functions[F_##name]) ? functions[F_##name] \
                                                      : find_function(F_##name)))

/* ---- Time and state ---- */

/* Whether calls are recorded: from the return of MPI_Init to that of MPI_Finalize. */
extern bool recording;
/* Whether several threads may call at a time. */
extern bool threaded;
/* This thread is in an MPI call: what the library calls itself is not recorded. */
extern __thread bool inside __attribute__((tls_model("initial-exec")));
#define NO_THREAD (~0u)
extern __thread unsigned thread_number __attribute__((tls_model("initial-exec")));

struct call {
    /* In a simulated run also when it looked at or changed what ranks share; 0 if it did not. */
    uint64_t enter, leave, moment, turn;
};

/* What the library of heddle has for recorders, once `find_simulation` has found it in the process;
 * NULL in a real run. */
/* The clock of a rank of `heddle mpirun`, in picoseconds of simulated time. */
extern uint64_t (*heddle_now)(void);
/* The same when a call begins: when what the program has computed since the last one will have
 * passed. */
extern uint64_t (*heddle_computed)(void);
/* Recording begins, as it does with heddle_computed: what this thread does is no computation of the
 * program. */
extern void (*heddle_records)(void);
/* The call is written down: what the program does next is its own. */
extern void (*heddle_recorded)(void);
/* When the call that ends looked at or changed what ranks share, such as locks of windows; 0 if it
 * did not. */
extern uint64_t (*heddle_moment)(void);
extern uint64_t (*heddle_turn)(void);
extern void (*heddle_tell_agreements)(void (*)(uint64_t, uint64_t, bool));
/* Looks at the clock are told from now on: when they began, as calls do, and ended. */
extern void (*heddle_tell_looks)(void (*)(uint64_t, uint64_t));

static inline uint64_t nanoseconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- Computation by the clock and in processor time (computation.c) ---- */

/* Computation between two calls is being measured. */
extern __thread bool measuring __attribute__((tls_model("initial-exec")));
/* The time by which this thread's clock is behind the clock of the system, because computation is
 * told in processor time. */
extern __thread uint64_t behind __attribute__((tls_model("initial-exec")));
/* Returns whether computation is told in processor time. */
bool computation_start(void);
void computation_begins(void);
void computation_ends(void);
void computation_stop(MPI_Comm comm);

/* Nanoseconds; in simulated time, picoseconds. */
static inline uint64_t now(void)
{
    return heddle_now ? heddle_now() : nanoseconds(CLOCK_MONOTONIC) - behind;
}

/* Whether the call is to be recorded. */
static inline bool enter(struct call *call)
{
    if (!recording || inside)
        return false;
    inside = true;
    if (measuring)
        computation_ends();
    call->enter = heddle_computed ? heddle_computed() : now();
    return true;
}

static inline void leave(struct call *call)
{
    call->leave = now();
    /* Calls that do nothing do not wait for what was computed before them; it passes before the
     * next one that does. */
    if (call->leave < call->enter)
        call->leave = call->enter;
    call->moment = heddle_moment ? heddle_moment() : 0;
    call->turn = heddle_turn ? heddle_turn() : 0;
}

/* The call is over, and with it what recording it takes, which is no computation of the program. */
static inline void done(void)
{
    if (heddle_recorded)
        heddle_recorded();
    else
        computation_begins();
    inside = false;
}

void lock_slowly(void);
void unlock_slowly(void);
static inline void lock(void)
{
    if (threaded)
        lock_slowly();
}
static inline void unlock(void)
{
    if (threaded)
        unlock_slowly();
}

/* ---- The trace (trace.c). All under the lock. ---- */

/* Where the next byte of the record in hand goes. */
typedef unsigned char *out_t;

void trace_open(int rank, int size, uint64_t start, uint64_t wall);
/* Starts a record of a call for which so many bytes suffice. */
out_t trace_begin(unsigned number, const struct call *call, size_t most);
/* Ends it: from here on it is part of the trace. */
void trace_end(out_t out);
/* Starts a definition; its body is ended by trace_defined. */
out_t trace_define(unsigned kind, size_t most);
void trace_defined(out_t out);
/* The call of a function outside the table of calls, or of one that failed. */
void trace_unlisted(unsigned function, const struct call *call, bool failed);
/* A look at the clock of a simulated run. */
void trace_look(uint64_t begin, uint64_t end);
void trace_agreement(uint64_t begin, uint64_t end, bool is_turn);
/* Writes what is buffered as a block. */
void trace_flush(void);
/* Writes the index and closes the file. */
void trace_close(void);

/* Bytes that suffice for a record's fixed fields, and for each item of its lists. */
#define FIXED_BYTES 512
#define ITEM_BYTES 32

static inline out_t put(out_t out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *out++ = (unsigned char)value;
    return out;
}

static inline out_t put_signed(out_t out, int64_t value)
{
    return put(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static inline out_t put_buffer(out_t out, const void *buffer)
{
    if (buffer == MPI_IN_PLACE)
        return put(out, 1);
    return put(out, buffer == MPI_BOTTOM ? 0 : (uintptr_t)buffer);
}

static inline out_t put_rank(out_t out, int rank)
{
    if (rank == MPI_ANY_SOURCE)
        rank = -1;
    else if (rank == MPI_PROC_NULL)
        rank = -2;
    else if (rank == MPI_ROOT)
        rank = -3;
    return put_signed(out, rank);
}

static inline out_t put_tag(out_t out, int tag)
{
    return put_signed(out, tag == MPI_ANY_TAG ? -1 : tag);
}

static inline out_t put_index(out_t out, int index)
{
    return put_signed(out, index == MPI_UNDEFINED ? -1 : index);
}

static inline out_t put_nothing(out_t out)
{
    return put_signed(put_signed(put_signed(out, -4), -4), -4);
}

#ifdef STANDARD_INTERFACE
/* The standard binary interface does not say where a status keeps these: the library is asked. */
int64_t status_bytes(const MPI_Status *status);
bool cancelled(const MPI_Status *status);
#else
static inline int64_t status_bytes(const MPI_Status *status)
{
#ifdef OPEN_MPI
    return (int64_t)status->_ucount;
#else
    return (int64_t)(((uint64_t)(unsigned)status->count_hi_and_cancelled >> 1) << 32 |
                     (unsigned)status->count_lo);
#endif
}

/* Whether a completed request was cancelled. */
static inline bool cancelled(const MPI_Status *status)
{
#ifdef OPEN_MPI
    return status->_cancelled != 0;
#else
    return (status->count_hi_and_cancelled & 1) != 0;
#endif
}
#endif

/* The status of something received; of nothing, for MPI_PROC_NULL too. */
static inline out_t put_status(out_t out, const MPI_Status *status, bool received)
{
    if (!received || status->MPI_SOURCE == MPI_PROC_NULL || status->MPI_SOURCE == MPI_ANY_SOURCE)
        return put_nothing(out);
    out = put_signed(out, status->MPI_SOURCE);
    out = put_signed(out, status->MPI_TAG);
    return put_signed(out, status_bytes(status));
}

/* Lists of nothing have length 0. */
static inline out_t put_ints(out_t out, const int *values, int count)
{
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++)
        out = put_signed(out, values[index]);
    return out;
}

#if MPI_VERSION >= 4
static inline out_t put_counts(out_t out, const MPI_Count *values, int count)
{
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++)
        out = put_signed(out, values[index]);
    return out;
}
#endif

/* ---- Handles (handles.c). All under the lock. ---- */

struct communicator {
    uint64_t number;
    /* Ranks of the other group of an intercommunicator; 0 if it is none. */
    int remote;
    int rank, size;
    /* Neighbours from which and to which its neighbourhood collectives go. */
    int sources, destinations;
    /* Calls of MPI_Comm_idup so far. */
    unsigned duplicates;
};

/* What is known of a request: what status it will have. Number 0: unknown, or null. */
struct request {
    uint32_t number;
    bool receive;
};

void handles_start(void);
void requests_start(void);

/* A communicator; one that is not known is defined first. */
struct communicator *communicator_of(MPI_Comm handle);
/* A communicator that all its members have just made of another one, or of MPI_COMM_NULL if these
 * are several. */
void communicator_made(MPI_Comm parent, MPI_Comm handle);
void communicator_freed(MPI_Comm handle);
/* Defines what MPI_Comm_idup makes, and gives its number. The handle comes when the request is
 * complete. */
uint64_t communicator_duplicated(MPI_Comm parent);
/* The one that was defined last, and the handle of one. */
uint32_t communicator_latest(void);
void communicator_named(uint32_t index, MPI_Comm handle);

/* The communicator of the file that this thread is at, its number and one; 0 if it is at none. */
extern __thread uint64_t meeting __attribute__((tls_model("initial-exec")));
void file_opens(MPI_Comm comm);
void file_opened(MPI_Comm comm, MPI_File file);
void file_enters(MPI_File file);
void file_closes(MPI_File file);

/* Ranks with which a rank of the communicator exchanges data in a collective. */
static inline int peers(const struct communicator *comm)
{
    return comm->remote ? comm->remote : comm->size;
}
static inline bool at_root(const struct communicator *comm, int root)
{
    return comm->remote ? root == MPI_ROOT : root == comm->rank;
}
/* Whether it is one of those who send to the root or receive from it. */
static inline bool at_leaf(const struct communicator *comm, int root)
{
    return comm->remote ? root != MPI_ROOT && root != MPI_PROC_NULL : true;
}

out_t put_type(out_t out, MPI_Datatype handle, bool matters);
out_t put_types(out_t out, const MPI_Datatype *handles, const int *counts, int count);
out_t put_types_of(out_t out, const MPI_Datatype *handles, const MPI_Count *counts, int count);
void type_freed(MPI_Datatype handle);
out_t put_operation(out_t out, MPI_Op handle, bool matters);
void operation_freed(MPI_Op handle);
uint64_t window_of(MPI_Win handle);
void window_freed(MPI_Win handle);
/* Members of a group as a list of ranks of the world. */
size_t group_bytes(MPI_Group group);
out_t put_group(out_t out, MPI_Group group);

/* Takes in a request that has just been made; the number of MPI_REQUEST_NULL is 0. */
uint32_t request_made(const MPI_Request *handle, bool receive);
/* Takes in that of a MPI_Comm_idup. */
uint32_t request_duplicates(const MPI_Request *handle, uint32_t communicator, MPI_Comm *made);
/* What is known of a request before a call that may complete it; the call is its own until it is
 * settled. */
struct request request_of(const MPI_Request *handle);
/* After the call: the request may have ended. */
void request_settled(struct request request, const MPI_Request *handle);
/* Messages in hand. */
uint32_t message_made(const MPI_Message *handle);
uint32_t message_taken(const MPI_Message *handle);

/* Handles that are looked up once. */
extern MPI_Comm world;
extern MPI_Request no_request;

/* ---- Clocks (clock.c) ---- */

/* All ranks together measure what rank 0's clock shows more than theirs, and write it to their
 * traces. */
void clock_start(void);
void clock_stop(void);
/* When the trace starts. */
extern uint64_t trace_start;

#include "functions.h"

#endif

/* What ranks compute between calls, by the clock on the wall and in processor time. Where both
 * differ by much, ranks did not have a processor each, and a replay would take their waiting for
 * one for computation: this is said at the end. With HEDDLE_RECORD_COMPUTE=cpu the clock of a
 * thread stands still while it waits for a processor, so that the trace tells processor time.
 *
 * Not modelled: sleep and input or output between calls are waiting, too. */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>

/* Processor time costs a system call, so that only one of so many computations is measured. */
#define ONE_OF 16
/* Less computation than this, in nanoseconds, says nothing. */
#define LEAST 5000000u

__thread bool measuring;
__thread uint64_t behind;

static bool in_processor_time;
static __thread unsigned computations __attribute__((tls_model("initial-exec")));
static __thread uint64_t began_at, began_with;
/* By the clock on the wall, and in processor time. */
static uint64_t measured[2];

bool computation_start(void)
{
    const char *wish = getenv("HEDDLE_RECORD_COMPUTE");
    in_processor_time = wish && !strcmp(wish, "cpu");
    return in_processor_time;
}

void computation_begins(void)
{
    if (!recording || (!in_processor_time && computations++ % ONE_OF != 0))
        return;
    began_at = nanoseconds(CLOCK_MONOTONIC);
    began_with = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    measuring = true;
}

void computation_ends(void)
{
    uint64_t computed = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - began_with;
    uint64_t took = nanoseconds(CLOCK_MONOTONIC) - began_at;
    measuring = false;
    __atomic_fetch_add(&measured[0], took, __ATOMIC_RELAXED);
    __atomic_fetch_add(&measured[1], computed, __ATOMIC_RELAXED);
    if (in_processor_time && took > computed)
        behind += took - computed;
}

void computation_stop(MPI_Comm comm)
{
    uint64_t all[2] = {0, 0};
    PMPI_Reduce(measured, all, 2, MPI_UINT64_T, MPI_SUM, 0, comm);
    if (!in_processor_time && all[0] >= LEAST && all[1] < all[0] / 5 * 4)
        fprintf(stderr,
                "heddle record: warning: while they computed, ranks had %d %% of a processor each; "
                "are there more ranks than processors? heddle record --compute cpu tells their "
                "processor time instead\n",
                (int)(100 * all[1] / all[0]));
}

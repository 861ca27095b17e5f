/* The interface of MPICH 4 (its mpi.h): handles are numbers, but files are pointers. */
typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Group, MPI_Win, MPI_Info, MPI_Request, MPI_Message,
    MPI_Errhandler, MPI_Session;
typedef struct file *MPI_File;
typedef struct {
    int count_lo, count_hi_and_cancelled;
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

#define LAST_CODE_THERE 0x3fffffff
#include "translate.h"

/* Handles of what a program makes: the two highest bits are 10, four bits say what it is, and the
 * first few of datatypes are those of pairs. */
enum { SKIPPED = 16, NUMBER_BITS = 26 };

UNUSED handle made_in(uint32_t pattern, uint32_t value)
{
    uint32_t number = value & ((1u << NUMBER_BITS) - 1);
    if (value >> NUMBER_BITS != pattern >> NUMBER_BITS || number < SKIPPED)
        return INVALID;
    return FIRST + number - SKIPPED;
}

/* What is not the program's and has no name here is null, which is the first of its kind among what
 * is built in. */
enum { BUILT_IN = 0xc0000000 };
UNUSED int made_out(uint32_t pattern, handle value)
{
    if (value < FIRST)
        return (int)(pattern & ~(uint32_t)BUILT_IN);
    return (int)(pattern | (uint32_t)(value - FIRST + SKIPPED));
}

#define MADE(kind, type, pattern)                  \
    UNUSED handle made_in_##kind(type value)       \
    {                                              \
        return made_in(pattern, (uint32_t)value);  \
    }                                              \
    UNUSED type made_out_##kind(handle value)      \
    {                                              \
        return made_out(pattern, value);           \
    }
MADE(comm, MPI_Comm, 0x84000000)
MADE(group, MPI_Group, 0x88000000)
MADE(type, MPI_Datatype, 0x8c000000)
MADE(errh, MPI_Errhandler, 0x94000000)
MADE(op, MPI_Op, 0x98000000)
MADE(info, MPI_Info, 0x9c000000)
MADE(win, MPI_Win, 0xa0000000)
MADE(req, MPI_Request, 0xac000000)
MADE(msg, MPI_Message, 0xac000000)
MADE(session, MPI_Session, 0xb8000000)

UNUSED handle made_in_file(MPI_File value)
{
    return (handle)value >= FIRST ? (handle)value : INVALID;
}

UNUSED MPI_File made_out_file(handle value)
{
    return (MPI_File)value;
}

#include "values.h"

/* Sentinels. */
UNUSED int in_place(const void *buffer)
{
    return buffer == (void *)-1;
}

UNUSED const void *buffer_in(const void *buffer)
{
    return in_place(buffer) ? (void *)1 : buffer;
}

extern int *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY;
UNUSED const int *weights_in(const int *weights)
{
    return weights == MPI_UNWEIGHTED      ? (const int *)10
           : weights == MPI_WEIGHTS_EMPTY ? (const int *)11
                                          : weights;
}

extern void *const MPI_T_PVAR_ALL_HANDLES;
UNUSED MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle value)
{
    return value == MPI_T_PVAR_ALL_HANDLES ? (MPI_T_pvar_handle)1 : value;
}

int MPIR_Dup_fn(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag);
UNUSED function copy_in(function given)
{
    return given == (function)MPIR_Dup_fn ? (function)1 : given;
}

UNUSED function delete_in(function given)
{
    return given;
}

UNUSED function conversion_in(function given)
{
    return given;
}

/* Statuses. */
UNUSED int ignored(const MPI_Status *status)
{
    return status == NULL || status == (const MPI_Status *)1;
}

UNUSED void status_in(const MPI_Status *theirs, status_t *ours)
{
    status_blank(ours);
    if (!ignored(theirs)) {
        ours->source = rank_in(theirs->MPI_SOURCE);
        ours->tag = tag_in(theirs->MPI_TAG);
        ours->error = error_in(theirs->MPI_ERROR);
        ours->internal[0] = theirs->count_lo;
        ours->internal[1] = (int)((unsigned)theirs->count_hi_and_cancelled >> 1);
        ours->internal[2] = theirs->count_hi_and_cancelled & 1;
    }
}

UNUSED void status_out(const status_t *ours, MPI_Status *theirs)
{
    if (ours->source != UNTOUCHED) {
        theirs->MPI_SOURCE = rank_out(ours->source);
        theirs->MPI_TAG = tag_out(ours->tag);
        theirs->count_lo = ours->internal[0];
        theirs->count_hi_and_cancelled =
            (int)((unsigned)ours->internal[1] << 1 | (ours->internal[2] != 0));
    }
    if (ours->error != UNTOUCHED)
        theirs->MPI_ERROR = error_out(ours->error);
}

/* Handles are the same numbers in Fortran, and those of files ours. */
#define SAME(kind, type)                            \
    UNUSED int kind##_to_fortran(type value)        \
    {                                               \
        return (int)(intptr_t)value;                \
    }                                               \
    UNUSED type kind##_from_fortran(int value)      \
    {                                               \
        return (type)(intptr_t)value;               \
    }
SAME(comm, MPI_Comm)
SAME(type, MPI_Datatype)
SAME(op, MPI_Op)
SAME(group, MPI_Group)
SAME(win, MPI_Win)
SAME(file, MPI_File)
SAME(info, MPI_Info)
SAME(req, MPI_Request)
SAME(msg, MPI_Message)
SAME(errh, MPI_Errhandler)
SAME(session, MPI_Session)

/* As Fortran hands them on to C. */
#define THEIR_IN_PLACE ((void *)-1)
#define THEIR_STATUS_IGNORE ((MPI_Status *)1)
#define THEIR_UNWEIGHTED ((int *)MPI_UNWEIGHTED)
#define THEIR_WEIGHTS_EMPTY ((int *)MPI_WEIGHTS_EMPTY)
#define THEIR_DUP_FN ((function)MPIR_Dup_fn)
#define THEIR_NULL_COPY_FN ((function)0)
#define THEIR_NULL_DELETE_FN ((function)0)
#define MPICH_SENTINELS
#define F08_TYPES(name) __mpi_f08_types_MOD_##name
#define F08_EQUAL(kind) __mpi_f08_types_MOD_mpi_##kind##_eq
#define F08_UNEQUAL(kind) __mpi_f08_types_MOD_mpi_##kind##_neq

/* The interface of Open MPI 4 (its mpi.h): handles are addresses of objects that the library
 * defines. An executable may hold copies of them (copy relocations), so that an object is
 * recognised by what it says of itself, never by its address. */
typedef struct communicator *MPI_Comm;
typedef struct datatype *MPI_Datatype;
typedef struct operation *MPI_Op;
typedef struct group *MPI_Group;
typedef struct window *MPI_Win;
typedef struct info *MPI_Info;
typedef struct request *MPI_Request;
typedef struct message *MPI_Message;
typedef struct error_handler *MPI_Errhandler;
typedef struct session *MPI_Session;
typedef struct file *MPI_File;
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, _cancelled;
    size_t _ucount;
} MPI_Status;

#define LAST_CODE_THERE 92
#include "translate.h"

enum kind {
    KIND_COMM = 1,
    KIND_TYPE,
    KIND_OP,
    KIND_GROUP,
    KIND_WIN,
    KIND_FILE,
    KIND_INFO,
    KIND_REQ,
    KIND_MSG,
    KIND_ERRH,
    KIND_SESSION
};

/* The beginning of an object. */
struct object {
    uint64_t magic;
    uint32_t kind, id;
};
#define MAGIC 0x656c64646568206full /* "o heddle" */

#ifdef DEFINE_OBJECTS
#define OBJECT(name, bytes, kind, id)                                      \
    PUBLIC struct {                                                        \
        struct object is;                                                  \
        char rest[bytes - sizeof(struct object)];                          \
    } name __attribute__((aligned(32))) = {{MAGIC, kind, id}, {0}};
#else
#define OBJECT(name, bytes, kind, id) extern PUBLIC struct object name;
#endif

/* What a program makes has no object: its handle is an address that there cannot be, with kind and
 * number. */
#define MADE_BIT ((uintptr_t)1 << 63)
enum { KIND_SHIFT = 48 };

UNUSED handle object_in(enum kind kind, const void *value)
{
    uintptr_t bits = (uintptr_t)value;
    const struct object *object = value;
    if (bits & MADE_BIT) {
        uintptr_t number = bits & (((uintptr_t)1 << KIND_SHIFT) - 1);
        return (bits & ~MADE_BIT) >> KIND_SHIFT == kind ? number : INVALID;
    }
    return object && object->magic == MAGIC && object->kind == kind ? object->id : INVALID;
}

UNUSED void *made_out(enum kind kind, handle value)
{
    return (void *)(MADE_BIT | (uintptr_t)kind << KIND_SHIFT | value);
}

#include "values.h"

/* Sentinels. */
UNUSED int in_place(const void *buffer)
{
    return buffer == (void *)1;
}

UNUSED const void *buffer_in(const void *buffer)
{
    return buffer;
}

UNUSED const int *weights_in(const int *weights)
{
    return weights == (const int *)2 ? (const int *)10 : weights == (const int *)3 ? (const int *)11
        : weights;
}

UNUSED MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle value)
{
    return value == (MPI_T_pvar_handle)-1 ? (MPI_T_pvar_handle)1 : value;
}

function copy_in(function given);
function delete_in(function given);

UNUSED function conversion_in(function given)
{
    return given;
}

/* Statuses. */
UNUSED int ignored(const MPI_Status *status)
{
    return status == NULL;
}

UNUSED void status_in(const MPI_Status *theirs, status_t *ours)
{
    status_blank(ours);
    if (!ignored(theirs)) {
        ours->source = rank_in(theirs->MPI_SOURCE);
        ours->tag = tag_in(theirs->MPI_TAG);
        ours->error = error_in(theirs->MPI_ERROR);
        ours->internal[0] = (int)(uint32_t)theirs->_ucount;
        ours->internal[1] = (int)(uint32_t)((uint64_t)theirs->_ucount >> 32);
        ours->internal[2] = theirs->_cancelled;
    }
}

UNUSED void status_out(const status_t *ours, MPI_Status *theirs)
{
    if (ours->source != UNTOUCHED) {
        theirs->MPI_SOURCE = rank_out(ours->source);
        theirs->MPI_TAG = tag_out(ours->tag);
        theirs->_cancelled = ours->internal[2] != 0;
        theirs->_ucount = (uint64_t)(uint32_t)ours->internal[1] << 32 | (uint32_t)ours->internal[0];
    }
    if (ours->error != UNTOUCHED)
        theirs->MPI_ERROR = error_out(ours->error);
}

/* As Fortran hands them on to C. */
#define THEIR_IN_PLACE ((void *)1)
#define THEIR_STATUS_IGNORE ((MPI_Status *)0)
#define THEIR_UNWEIGHTED ((int *)2)
#define THEIR_WEIGHTS_EMPTY ((int *)3)
#ifndef DEFINE_OBJECTS
void OMPI_C_MPI_COMM_DUP_FN(void), OMPI_C_MPI_COMM_NULL_COPY_FN(void),
    OMPI_C_MPI_COMM_NULL_DELETE_FN(void);
/* What mpi_f08 compares handles with. */
#define F08_EQUAL(kind) __mpi_f08_types_MOD_ompi_##kind##_op_eq
#define F08_UNEQUAL(kind) __mpi_f08_types_MOD_ompi_##kind##_op_ne

#endif
#define THEIR_DUP_FN OMPI_C_MPI_COMM_DUP_FN
#define THEIR_NULL_COPY_FN OMPI_C_MPI_COMM_NULL_COPY_FN
#define THEIR_NULL_DELETE_FN OMPI_C_MPI_COMM_NULL_DELETE_FN

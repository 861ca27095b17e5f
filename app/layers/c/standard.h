/* The standard interface of MPI 5.0: what our library itself works with. */
typedef handle MPI_Comm, MPI_Datatype, MPI_Op, MPI_Group, MPI_Win, MPI_Info, MPI_Request,
    MPI_Message,
    MPI_Errhandler, MPI_Session, MPI_File;
typedef status_t MPI_Status;

UNUSED int error_out(int code)
{
    return code;
}

/* Handles are the same numbers in Fortran. */
#define SAME(kind)                                   \
    UNUSED int kind##_to_fortran(handle value)       \
    {                                                \
        return (int)value;                           \
    }                                                \
    UNUSED handle kind##_from_fortran(int value)     \
    {                                                \
        return (handle)value;                        \
    }
SAME(comm)
SAME(type)
SAME(op)
SAME(group)
SAME(win)
SAME(file)
SAME(info)
SAME(req)
SAME(msg)
SAME(errh)
SAME(session)

UNUSED int keyval_in(int keyval)
{
    return keyval;
}

UNUSED int keyval_out(int keyval)
{
    return keyval;
}

UNUSED int error_in(int code)
{
    return code;
}

/* Handles need no translation. */
#define COMMON(kind)                              \
    UNUSED handle kind##_in(handle value)         \
    {                                             \
        return value;                             \
    }                                             \
    UNUSED handle kind##_out(handle value)        \
    {                                             \
        return value;                             \
    }
COMMON(comm)
COMMON(type)
COMMON(win)
COMMON(file)
COMMON(session)

UNUSED int in_place(const void *buffer)
{
    return buffer == (void *)1;
}

/* As Fortran hands them on to C. */
#define THEIR_IN_PLACE ((void *)1)
#define THEIR_STATUS_IGNORE ((MPI_Status *)0)
#define THEIR_UNWEIGHTED ((int *)10)
#define THEIR_WEIGHTS_EMPTY ((int *)11)
#define THEIR_DUP_FN ((function)1)
#define THEIR_NULL_COPY_FN ((function)0)
#define THEIR_NULL_DELETE_FN ((function)0)

UNUSED void status_out(const status_t *ours, MPI_Status *theirs)
{
    *theirs = *ours;
}

UNUSED void status_in(const MPI_Status *theirs, status_t *ours)
{
    *ours = *theirs;
}

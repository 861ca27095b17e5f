/* The standard interface of MPI 5.0: what our library itself works with. */
typedef handle MPI_Comm, MPI_Datatype, MPI_Op, MPI_Group, MPI_Win, MPI_Info, MPI_Request, MPI_Message,
    MPI_Errhandler, MPI_Session, MPI_File;
typedef status_t MPI_Status;

UNUSED int error_out(int code)
{
    return code;
}

UNUSED handle type_in(MPI_Datatype type)
{
    return type;
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

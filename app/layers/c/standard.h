/* The standard interface of MPI 5.0: what our library itself works with. */
typedef handle MPI_Comm, MPI_Datatype, MPI_Op, MPI_Group, MPI_Win, MPI_Info, MPI_Request, MPI_Message,
    MPI_Errhandler, MPI_Session, MPI_File;
typedef status_t MPI_Status;

UNUSED int error_out(int code)
{
    return code;
}

/* Functions of the standard interface that are about numbers for handles (MPI-5.0, section 20.4): the handles themselves. */
#include "layer.h"

#define NUMBERS(kind, type)                                       \
    PUBLIC int PMPI_##kind##_toint(type value)                    \
    {                                                             \
        return (int)value;                                        \
    }                                                             \
    ALIAS(MPI_##kind##_toint, int, (type value))                  \
    PUBLIC type PMPI_##kind##_fromint(int value)                  \
    {                                                             \
        return (type)value;                                       \
    }                                                             \
    ALIAS(MPI_##kind##_fromint, type, (int value))
NUMBERS(Comm, MPI_Comm)
NUMBERS(Errhandler, MPI_Errhandler)
NUMBERS(File, MPI_File)
NUMBERS(Group, MPI_Group)
NUMBERS(Info, MPI_Info)
NUMBERS(Message, MPI_Message)
NUMBERS(Op, MPI_Op)
NUMBERS(Request, MPI_Request)
NUMBERS(Session, MPI_Session)
NUMBERS(Type, MPI_Datatype)
NUMBERS(Win, MPI_Win)

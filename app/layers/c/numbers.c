/* Numbers for handles, under their old names and those of MPI-5.0 (section 20.4); and what is about
 * devices. */
#include "layer.h"

#define NUMBERS(kind, type, translate)                                    \
    PUBLIC int PMPI_##kind##_toint(type value)                            \
    {                                                                     \
        return translate##_to_fortran(value);                             \
    }                                                                     \
    ALIAS(MPI_##kind##_toint, int, (type value))                          \
    PUBLIC type PMPI_##kind##_fromint(int value)                          \
    {                                                                     \
        return translate##_from_fortran(value);                           \
    }                                                                     \
    ALIAS(MPI_##kind##_fromint, type, (int value))                        \
    PUBLIC int PMPI_##kind##_c2f(type value)                              \
    {                                                                     \
        return translate##_to_fortran(value);                             \
    }                                                                     \
    ALIAS(MPI_##kind##_c2f, int, (type value))                            \
    PUBLIC type PMPI_##kind##_f2c(int value)                              \
    {                                                                     \
        return translate##_from_fortran(value);                           \
    }                                                                     \
    ALIAS(MPI_##kind##_f2c, type, (int value))
NUMBERS(Comm, MPI_Comm, comm)
NUMBERS(Errhandler, MPI_Errhandler, errh)
NUMBERS(File, MPI_File, file)
NUMBERS(Group, MPI_Group, group)
NUMBERS(Info, MPI_Info, info)
NUMBERS(Message, MPI_Message, msg)
NUMBERS(Op, MPI_Op, op)
NUMBERS(Request, MPI_Request, req)
NUMBERS(Session, MPI_Session, session)
NUMBERS(Type, MPI_Datatype, type)
NUMBERS(Win, MPI_Win, win)

/* Devices whose memory the library could use: none. */
#define NO_SUPPORT(name)       \
    PUBLIC int PMPIX_##name(void) \
    {                          \
        return 0;              \
    }                          \
    PUBLIC int MPIX_##name(void) __attribute__((weak, alias("PMPIX_" #name)));
NO_SUPPORT(Query_cuda_support)
NO_SUPPORT(Query_hip_support)
NO_SUPPORT(Query_ze_support)

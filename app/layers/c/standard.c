/* What only the standard interface has. */
#include "layer.h"

/* Statuses in Fortran: the struct as integers; in mpi_f08, the struct itself. */
typedef MPI_Status MPI_F08_status;
static MPI_Fint fortran_status[8], fortran_statuses[8];
static MPI_F08_status f08_status, f08_statuses;
PUBLIC MPI_Fint *MPI_F_STATUS_IGNORE = fortran_status, *MPI_F_STATUSES_IGNORE = fortran_statuses;
PUBLIC MPI_F08_status *MPI_F08_STATUS_IGNORE = &f08_status,
    *MPI_F08_STATUSES_IGNORE = &f08_statuses;

enum { ERR_ARG = 13 };
STATUS_COPY(c2f, MPI_Status, MPI_Fint)
STATUS_COPY(f2c, MPI_Fint, MPI_Status)
STATUS_COPY(c2f08, MPI_Status, MPI_F08_status)
STATUS_COPY(f082c, MPI_F08_status, MPI_Status)
STATUS_COPY(f082f, MPI_F08_status, MPI_Fint)
STATUS_COPY(f2f08, MPI_Fint, MPI_F08_status)

/* Handlers and operations with a state, an extension of MPICH 5. */
NOT_HERE(MPIX_Comm_create_errhandler_x)
NOT_HERE(MPIX_File_create_errhandler_x)
NOT_HERE(MPIX_Op_create_x)
NOT_HERE(MPIX_Session_create_errhandler_x)
NOT_HERE(MPIX_Win_create_errhandler_x)

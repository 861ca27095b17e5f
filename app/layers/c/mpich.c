/* What only MPICH's interface has. */
#include "layer.h"

/* Sentinels whose addresses count. */
static int unweighted, weights_empty, all_handles;
PUBLIC int *const MPI_UNWEIGHTED = &unweighted, *const MPI_WEIGHTS_EMPTY = &weights_empty;
PUBLIC void *const MPI_T_PVAR_ALL_HANDLES = &all_handles;

/* Statuses in Fortran: integers in the order of the struct; in mpi_f08, the struct itself. */
typedef MPI_Status MPI_F08_status;
static MPI_Fint fortran_status[5], fortran_statuses[5];
static MPI_F08_status f08_status, f08_statuses;
PUBLIC MPI_Fint *MPI_F_STATUS_IGNORE = fortran_status, *MPI_F_STATUSES_IGNORE = fortran_statuses;
PUBLIC MPI_F08_status *MPI_F08_STATUS_IGNORE = &f08_status,
    *MPI_F08_STATUSES_IGNORE = &f08_statuses;

enum { ERR_ARG = 12 };

STATUS_COPY(c2f, MPI_Status, MPI_Fint)
STATUS_COPY(f2c, MPI_Fint, MPI_Status)
STATUS_COPY(c2f08, MPI_Status, MPI_F08_status)
STATUS_COPY(f082c, MPI_F08_status, MPI_Status)
STATUS_COPY(f082f, MPI_F08_status, MPI_Fint)
STATUS_COPY(f2f08, MPI_Fint, MPI_F08_status)

PUBLIC int MPIR_Dup_fn(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)copy = value;
    *flag = 1;
    return 0;
}

/* MPICH's own generalised requests. */
NOT_HERE(MPIX_Grequest_class_allocate)
NOT_HERE(MPIX_Grequest_class_create)
NOT_HERE(MPIX_Grequest_start)

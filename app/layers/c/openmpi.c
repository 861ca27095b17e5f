/* What only Open MPI's interface has. The objects that handles are the addresses of are defined
 * here. */
#define DEFINE_OBJECTS
#include "layer.h"

/* Predefined attribute functions: functions with names of their own, which our library knows as
 * numbers. */
#define COPY_NOTHING(name, type)                                                                   \
    PUBLIC int OMPI_C_MPI_##name(type of, int keyval, void *extra, void *value, void *copy, \
                                 int *flag) \
    {                                                                                              \
        (void)of, (void)keyval, (void)extra, (void)value, (void)copy;                              \
        *flag = 0;                                                                                 \
        return 0;                                                                                  \
    }
#define COPY_VALUE(name, type)                                                                     \
    PUBLIC int OMPI_C_MPI_##name(type of, int keyval, void *extra, void *value, void *copy, \
                                 int *flag) \
    {                                                                                              \
        (void)of, (void)keyval, (void)extra;                                                       \
        *(void **)copy = value;                                                                    \
        *flag = 1;                                                                                 \
        return 0;                                                                                  \
    }
#define DELETE_NOTHING(name, type)                                                     \
    PUBLIC int OMPI_C_MPI_##name(type of, int keyval, void *value, void *extra)        \
    {                                                                                  \
        (void)of, (void)keyval, (void)value, (void)extra;                              \
        return 0;                                                                      \
    }
COPY_NOTHING(NULL_COPY_FN, MPI_Comm)
COPY_NOTHING(COMM_NULL_COPY_FN, MPI_Comm)
COPY_NOTHING(TYPE_NULL_COPY_FN, MPI_Datatype)
COPY_NOTHING(WIN_NULL_COPY_FN, MPI_Win)
COPY_VALUE(DUP_FN, MPI_Comm)
COPY_VALUE(COMM_DUP_FN, MPI_Comm)
COPY_VALUE(TYPE_DUP_FN, MPI_Datatype)
COPY_VALUE(WIN_DUP_FN, MPI_Win)
DELETE_NOTHING(NULL_DELETE_FN, MPI_Comm)
DELETE_NOTHING(COMM_NULL_DELETE_FN, MPI_Comm)
DELETE_NOTHING(TYPE_NULL_DELETE_FN, MPI_Datatype)
DELETE_NOTHING(WIN_NULL_DELETE_FN, MPI_Win)

#define IS(name) (given == (function)OMPI_C_MPI_##name)

function copy_in(function given)
{
    if (IS(NULL_COPY_FN) || IS(COMM_NULL_COPY_FN) || IS(TYPE_NULL_COPY_FN) || IS(WIN_NULL_COPY_FN))
        return NULL;
    if (IS(DUP_FN) || IS(COMM_DUP_FN) || IS(TYPE_DUP_FN) || IS(WIN_DUP_FN))
        return (function)1;
    return given;
}

function delete_in(function given)
{
    int nothing = IS(NULL_DELETE_FN) || IS(COMM_NULL_DELETE_FN) || IS(TYPE_NULL_DELETE_FN) ||
                  IS(WIN_NULL_DELETE_FN);
    return nothing ? NULL : given;
}

/* Statuses in Fortran: the struct as integers. */
static MPI_Fint fortran_status[6], fortran_statuses[6];
PUBLIC MPI_Fint *MPI_F_STATUS_IGNORE = fortran_status, *MPI_F_STATUSES_IGNORE = fortran_statuses;

enum { ERR_ARG = 13 };

STATUS_COPY(c2f, MPI_Status, MPI_Fint)
STATUS_COPY(f2c, MPI_Fint, MPI_Status)

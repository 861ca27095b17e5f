/* What the layers that translate share, besides the generated functions. */
#include "layer.h"

/* What the layers themselves ask our library. */
extern int heddle_Comm_test_inter(handle, int *) __attribute__((weak));
extern int heddle_Comm_size(handle, int *) __attribute__((weak));
extern int heddle_Comm_rank(handle, int *) __attribute__((weak));
extern int heddle_Comm_remote_size(handle, int *) __attribute__((weak));
extern int heddle_Topo_test(handle, int *) __attribute__((weak));
extern int heddle_Cartdim_get(handle, int *) __attribute__((weak));
extern int heddle_Graph_neighbors_count(handle, int, int *) __attribute__((weak));
extern int heddle_Dist_graph_neighbors_count(handle, int *, int *, int *) __attribute__((weak));
extern int heddle_Type_get_envelope_c(handle, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *)
    __attribute__((weak));
extern int heddle_Type_get_extent(handle, MPI_Aint *, MPI_Aint *) __attribute__((weak));

/* Constants of the standard interface. */
enum {
    COMM_NULL = 0x100,
    CART = 211,
    GRAPH = 212,
    DIST_GRAPH = 213,
    COMBINER_SUBARRAY = 111,
    COMBINER_DARRAY = 112,
    KEYVAL_IO = 502,
    KEYVAL_HOST = 503,
    KEYVAL_WIN_CREATE_FLAVOR = 604,
    KEYVAL_WIN_MODEL = 605
};

/* Whether a call about a communicator can be asked for details. What is no communicator is reported by the call itself. */
static int usable(handle comm)
{
    return comm != COMM_NULL && comm != INVALID;
}

int peers(handle comm)
{
    int between = 0, size = 0;
    if (!usable(comm) || !heddle_Comm_test_inter || heddle_Comm_test_inter(comm, &between))
        return 0;
    if (between ? heddle_Comm_remote_size(comm, &size) : heddle_Comm_size(comm, &size))
        return 0;
    return size;
}

int at_root(handle comm, int root)
{
    int rank = -1;
    return usable(comm) && heddle_Comm_rank && !heddle_Comm_rank(comm, &rank) && rank == root;
}

static void degrees(handle comm, int *in, int *out)
{
    int topology = 0, count = 0, weighted = 0;
    *in = *out = 0;
    if (!usable(comm) || !heddle_Topo_test || heddle_Topo_test(comm, &topology))
        return;
    if (topology == CART && !heddle_Cartdim_get(comm, &count)) {
        *in = *out = 2 * count;
    } else if (topology == GRAPH && !heddle_Comm_rank(comm, &count) &&
               !heddle_Graph_neighbors_count(comm, count, &count)) {
        *in = *out = count;
    } else if (topology == DIST_GRAPH) {
        heddle_Dist_graph_neighbors_count(comm, in, out, &weighted);
    }
}

int in_degree(handle comm)
{
    int in, out;
    degrees(comm, &in, &out);
    return in;
}

int out_degree(handle comm)
{
    int in, out;
    degrees(comm, &in, &out);
    return out;
}

/* The address of a number that stays as it is: constants of the program's interface, as values of attributes. */
enum { KEPT_FROM = -8, KEPT = 24 };
static int *kept(int value)
{
    static int values[KEPT];
    if (value < KEPT_FROM || value >= KEPT_FROM + KEPT)
        return NULL;
    values[value - KEPT_FROM] = value;
    return &values[value - KEPT_FROM];
}

void attribute_out(int keyval, void *value)
{
    int **at = value, number;
    if (!*at)
        return;
    switch (keyval) {
    case KEYVAL_IO:
    case KEYVAL_HOST: number = rank_out(**at); break;
    case KEYVAL_WIN_CREATE_FLAVOR: number = flavor_out(**at); break;
    case KEYVAL_WIN_MODEL: number = model_out(**at); break;
    default: return;
    }
    if (kept(number))
        *at = kept(number);
}

/* Of the constructors' integers (MPI-4.1, section 5.1.13), orders, distributions and their arguments are constants. Counts are
 * among them unless the type was made with large ones. */
void contents_out(handle type, int *integers)
{
    MPI_Count numbers = 0, addresses, large = 0, types;
    int combiner = 0;
    if (!integers || !heddle_Type_get_envelope_c ||
        heddle_Type_get_envelope_c(type, &numbers, &addresses, &large, &types, &combiner))
        return;
    if (combiner == COMBINER_SUBARRAY) {
        integers[numbers - 1] = order_out(integers[numbers - 1]);
    } else if (combiner == COMBINER_DARRAY) {
        int dimensions = integers[2];
        int *distributions = integers + 3 + (large ? 0 : dimensions);
        for (int i = 0; i < dimensions; i++) {
            distributions[i] = distribution_out(distributions[i]);
            distributions[dimensions + i] = darg_out(distributions[dimensions + i]);
        }
        integers[numbers - 1] = order_out(integers[numbers - 1]);
    }
}

/* Functions that MPI-3.0 removed. */
PUBLIC int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lower;
    return heddle_Type_get_extent ? error_out(heddle_Type_get_extent(type_in(datatype), &lower, extent))
                                  : missing("MPI_Type_extent");
}
ALIAS(MPI_Type_extent, int, (MPI_Datatype datatype, MPI_Aint *extent))

PUBLIC int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return heddle_Type_get_extent
               ? error_out(heddle_Type_get_extent(type_in(datatype), displacement, &extent))
               : missing("MPI_Type_lb");
}
ALIAS(MPI_Type_lb, int, (MPI_Datatype datatype, MPI_Aint *displacement))

PUBLIC int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lower = 0, extent = 0;
    if (!heddle_Type_get_extent)
        return missing("MPI_Type_ub");
    int result = heddle_Type_get_extent(type_in(datatype), &lower, &extent);
    if (!result)
        *displacement = lower + extent;
    return error_out(result);
}
ALIAS(MPI_Type_ub, int, (MPI_Datatype datatype, MPI_Aint *displacement))

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

/* Numbers for handles (MPI-5.0, section 20.4) are those of Fortran. */
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

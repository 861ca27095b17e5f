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

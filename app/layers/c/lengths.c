/* Lengths of arguments that the call does not say. */
#include "layer.h"
#include "translate.h"

extern int heddle_Comm_test_inter(handle, int *) __attribute__((weak));
extern int heddle_Comm_size(handle, int *) __attribute__((weak));
extern int heddle_Comm_rank(handle, int *) __attribute__((weak));
extern int heddle_Comm_remote_size(handle, int *) __attribute__((weak));
extern int heddle_Topo_test(handle, int *) __attribute__((weak));
extern int heddle_Cartdim_get(handle, int *) __attribute__((weak));
extern int heddle_Graph_neighbors_count(handle, int, int *) __attribute__((weak));
extern int heddle_Dist_graph_neighbors_count(handle, int *, int *, int *) __attribute__((weak));

/* Constants of the standard interface. */
enum { COMM_NULL = 0x100, CART = 211, GRAPH = 212, DIST_GRAPH = 213 };

/* Whether a call about a communicator can be asked for details. What is no communicator is reported
 * by the call itself. */
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

extern int heddle_spawned(void) __attribute__((weak));

/* Error codes of processes that were started, of which the library knows how many it has written.
 */
void errcodes_out(int *codes)
{
    int count = codes && heddle_spawned ? heddle_spawned() : 0;
    for (int i = 0; i < count; i++)
        if (codes[i])
            codes[i] = error_out(codes[i]);
}

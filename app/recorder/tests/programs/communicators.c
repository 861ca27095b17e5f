/* Communicators and windows made in all ways, for at least two ranks; and what is received from
 * anyone comes in the order of a run that nobody records. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm all = MPI_COMM_WORLD;
static int rank, size;

static void use(MPI_Comm made)
{
    if (made == MPI_COMM_NULL)
        return;
    MPI_Barrier(made);
    MPI_Comm_free(&made);
}

static void topologies(void)
{
    MPI_Comm made, part;
    int length[2] = {size, 1}, fewer = size - 1, around[2] = {1, 1}, first[2] = {1, 0}, one = 1;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int *index = malloc(2 * (size_t)size * sizeof *index), *edges = index + size;
    for (int node = 0; node < size; node++) {
        index[node] = node + 1;
        edges[node] = (node + 1) % size;
    }
    MPI_Cart_create(all, 2, length, around, 0, &made);
    MPI_Cart_sub(made, first, &part);
    use(part);
    use(made);
    MPI_Cart_create(all, 1, &fewer, around, 0, &made);
    use(made);
    MPI_Graph_create(all, size, index, edges, 0, &made);
    use(made);
    MPI_Dist_graph_create_adjacent(all, 1, &next, &one, 1, &before, &one, MPI_INFO_NULL, 0, &made);
    use(made);
    MPI_Dist_graph_create(all, 1, &rank, &one, &next, &one, MPI_INFO_NULL, 0, &made);
    use(made);
    free(index);
}

static void two_groups(void)
{
    MPI_Comm half, inter, made;
    MPI_Group group;
    int middle = size / 2;
    MPI_Comm_split(all, rank >= middle, 0, &half);
    MPI_Intercomm_create(half, 0, all, rank >= middle ? 0 : middle, 5, &inter);
    MPI_Comm_dup(inter, &made);
    use(made);
    MPI_Comm_split(inter, 0, rank, &made);
    use(made);
    MPI_Comm_group(inter, &group);
    MPI_Comm_create(inter, group, &made);
    use(made);
    MPI_Intercomm_merge(inter, rank >= middle, &made);
    use(made);
    use(inter);
    use(half);
}

static void windows(void)
{
    MPI_Win window;
    int memory = 0, value = rank, *base;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, all, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, all, &base, &window);
    MPI_Win_free(&window);
    MPI_Win_allocate_shared(sizeof memory, 1, MPI_INFO_NULL, all, &base, &window);
    MPI_Win_free(&window);
    MPI_Win_create_dynamic(MPI_INFO_NULL, all, &window);
    MPI_Win_free(&window);
}

/* Rank 0 answers as many bytes as messages came before. */
static void anyone(void)
{
    char bytes[1000] = {0};
    MPI_Status status;
    if (rank > 0) {
        MPI_Send(bytes, 1, MPI_CHAR, 0, 1, all);
        MPI_Recv(bytes, 1000, MPI_CHAR, 0, 2, all, &status);
    } else {
        for (int came = 0; came < size - 1; came++) {
            MPI_Recv(bytes, 1000, MPI_CHAR, MPI_ANY_SOURCE, 1, all, &status);
            MPI_Send(bytes, came * 100 % 1000, MPI_CHAR, status.MPI_SOURCE, 2, all);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm made;
    MPI_Group everyone, some;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    anyone();
    MPI_Comm_dup(all, &made);
    use(made);
    MPI_Comm_idup(all, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(made);
    MPI_Comm_split(all, rank % 2, 0, &made);
    use(made);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    use(made);
    MPI_Comm_group(all, &everyone);
    MPI_Group_excl(everyone, 1, (int[]){0}, &some);
    MPI_Comm_create(all, some, &made);
    use(made);
    if (rank > 0) {
        MPI_Comm_create_group(all, some, 3, &made);
        use(made);
    }
    topologies();
    two_groups();
    windows();
    anyone();
    MPI_Finalize();
    return 0;
}

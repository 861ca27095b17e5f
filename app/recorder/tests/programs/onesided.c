/* Put, get and accumulate in epochs of all kinds. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, *memory, value = 1, fetched, next;
    MPI_Win window;
    MPI_Group group, neighbour;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int index = 0; index < 4; index++)
        memory[index] = 0;
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Accumulate(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    int good = memory[0] == (rank + size - 1) % size && (rank != 0 || memory[1] == size);

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    int previous = (rank + size - 1) % size;
    MPI_Group_incl(group, 1, &previous, &neighbour);
    MPI_Win_post(neighbour, 0, window);
    MPI_Group_free(&neighbour);
    MPI_Group_incl(group, 1, &next, &neighbour);
    MPI_Win_start(neighbour, 0, window);
    MPI_Put(&rank, 1, MPI_INT, next, 2, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&neighbour);
    MPI_Group_free(&group);

    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
    MPI_Get(&fetched, 1, MPI_INT, next, 2, 1, MPI_INT, window);
    MPI_Win_unlock(next, window);
    good = good && fetched == rank;
    MPI_Win_lock_all(0, window);
    MPI_Rget(&fetched, 1, MPI_INT, next, 2, 1, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return good ? 0 : 1;
}

/* One-sided accesses by all ranks at a time, in all kinds of epochs: requests of several ranks,
 * large ones and small ones, reach a target while it sends itself, and overtake each other. */
#include <mpi.h>

#define EACH 600

static double memory[8 * EACH], from[8 * EACH], into[8 * EACH];

int main(int argc, char **argv)
{
    int rank, size, next, previous;
    double one = 1, result;
    MPI_Win window;
    MPI_Group all, targets, origins;
    MPI_Request requests[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &targets);
    MPI_Group_incl(all, 1, &previous, &origins);

    for (int times = 0; times < 2; times++) {
        MPI_Win_fence(0, window);
        for (int step = 1; step < size; step++)
            MPI_Put(from, 100 * step, MPI_DOUBLE, (rank + step) % size, 0, 100 * step, MPI_DOUBLE,
                    window);
        MPI_Win_fence(0, window);
        for (int step = 1; step < size; step++)
            MPI_Get(into + EACH * step, 100, MPI_DOUBLE, (rank + step) % size, 0, 100, MPI_DOUBLE,
                    window);
        MPI_Win_fence(0, window);
        if (rank > 0) {
            MPI_Accumulate(from, 500, MPI_DOUBLE, 0, 0, 500, MPI_DOUBLE, MPI_SUM, window);
            MPI_Get_accumulate(from, 10, MPI_DOUBLE, into, 10, MPI_DOUBLE, 0, 0, 10, MPI_DOUBLE,
                               MPI_SUM, window);
        }
        MPI_Win_fence(0, window);

        MPI_Win_post(origins, 0, window);
        MPI_Win_start(targets, 0, window);
        MPI_Put(from, 300, MPI_DOUBLE, next, 0, 300, MPI_DOUBLE, window);
        MPI_Get(into, 30, MPI_DOUBLE, next, 500, 30, MPI_DOUBLE, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);

        MPI_Win_lock_all(0, window);
        for (int step = 1; step < size; step++)
            MPI_Rget(into + EACH * step, 50, MPI_DOUBLE, (rank + step) % size, 0, 50, MPI_DOUBLE,
                     window, &requests[step - 1]);
        MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
        for (int count = 0; count < 4; count++) {
            MPI_Fetch_and_op(&one, &result, MPI_DOUBLE, 0, 0, MPI_SUM, window);
            MPI_Win_flush(0, window);
        }
        MPI_Win_unlock_all(window);

        for (int target = 0; target < size; target++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
            MPI_Put(from, 100, MPI_DOUBLE, target, 0, 100, MPI_DOUBLE, window);
            MPI_Get(into, 100, MPI_DOUBLE, target, 200, 100, MPI_DOUBLE, window);
            MPI_Win_unlock(target, window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }

    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
    MPI_Group_free(&all);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

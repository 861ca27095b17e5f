/* Prints how long an access or a send takes, in nanoseconds of simulated time. */
#include "check.h"
#include <string.h>

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int *memory, value = 1, got, teller = 0;
    MPI_Win win;
    /* Both ranks leave this at the same time. */
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    double start = MPI_Wtime(), end_of_it;
    if (!strcmp(argv[1], "put") && rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    if (!strcmp(argv[1], "get") && rank == 0) {
        MPI_Win_lock_all(0, win);
        MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush_local(1, win);
    }
    if (!strcmp(argv[1], "fence")) {
        teller = 1;
        if (rank == 0) {
            MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
            MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
            MPI_Win_unlock(1, win);
        }
        MPI_Win_fence(0, win);
    }
    if (!strcmp(argv[1], "group")) {
        MPI_Group all, other;
        int partner = 1 - rank;
        MPI_Win_get_group(win, &all);
        MPI_Group_incl(all, 1, &partner, &other);
        if (rank == 1) {
            MPI_Win_post(other, 0, win);
            MPI_Win_wait(win);
        } else {
            MPI_Win_start(other, 0, win);
            MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
            MPI_Win_complete(win);
        }
        teller = 1;
    }
    if (!strcmp(argv[1], "ssend")) {
        if (rank == 0) MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!strcmp(argv[1], "send")) {
        static char data[2156];
        int size = sizeof(data);
        if (rank == 0) MPI_Send(data, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(data, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    end_of_it = MPI_Wtime();
    if (rank == teller) printf("%.0f\n", (end_of_it - start) * 1e9);
    fflush(stdout);
    if (!strcmp(argv[1], "get") && rank == 0) MPI_Win_unlock_all(win);
    /* The other rank does nothing until then. */
    if (rank == teller) MPI_Send(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    else MPI_Recv(&value, 1, MPI_INT, teller, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
    return end();
}

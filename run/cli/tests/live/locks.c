/* Locks, flushes, and accesses with requests. */
#include "check.h"

/* Each rank adds to a counter of rank 0 with plain accesses, which only a lock makes safe. */
static void exclusive(void) {
    int *counter, rounds = 5, value;
    MPI_Win win;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < rounds; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
        value++;
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    CHECK(value == rounds * size);
    MPI_Win_free(&win);
}

/* Tickets: each number is drawn once. */
static void tickets(MPI_Win win, long *memory) {
    enum { DRAWS = 6 };
    long one = 1, drawn[DRAWS], sum = 0, all;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < DRAWS; i++) {
        MPI_Fetch_and_op(&one, drawn + i, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(i == 0 || drawn[i] > drawn[i - 1]);
        sum += drawn[i];
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long count = (long)DRAWS * size;
    CHECK(all == count * (count - 1) / 2);
    if (rank == 0) CHECK(*memory == count);
}

/* One rank wins. */
static void election(MPI_Win win) {
    long none = -1, me = rank, old, winner;
    int won;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Compare_and_swap(&me, &none, &old, MPI_LONG, size - 1, 1, win);
    MPI_Win_flush_local(size - 1, win);
    won = old == -1;
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&winner, 1, MPI_LONG, size - 1, 1, 1, MPI_LONG, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_unlock_all(win);
    CHECK(won == (winner == rank));
    CHECK(won || old == winner);
}

/* Accesses that are waited for one by one. */
static void requests(MPI_Win win, long *memory) {
    long value = 3 * rank, got = -1, before = -1, two = 2;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Status status;
    memory[2] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&value, 1, MPI_LONG, right, 2, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Win_flush_all(win);
    MPI_Rget(&got, 1, MPI_LONG, right, 2, 1, MPI_LONG, win, &request);
    int flag = 0;
    while (!flag) MPI_Test(&request, &flag, &status);
    CHECK(got == value);
    MPI_Raccumulate(&two, 1, MPI_LONG, right, 2, 1, MPI_LONG, MPI_PROD, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(&two, 1, MPI_LONG, &before, 1, MPI_LONG, right, 2, 1, MPI_LONG, MPI_SUM,
                        win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(before == 2 * value);
    MPI_Rput(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[2] == 6 * left + 2);
}

/* Flushes complete accesses with requests, however their requests are asked afterwards. */
static void flushed(MPI_Win win) {
    long value[6] = {0, 1, 2, 3, 4, 5}, got[6];
    int right = (rank + 1) % size, flag = 0, number, places[6];
    MPI_Request requests[6];
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 6; i++)
        MPI_Rput(&value[i], 1, MPI_LONG, right, 2 + i, 1, MPI_LONG, win, &requests[i]);
    MPI_Win_flush(right, win);
    MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(flag && requests[0] == MPI_REQUEST_NULL);
    MPI_Waitany(2, requests, &number, MPI_STATUS_IGNORE);
    CHECK(number == 1);
    MPI_Testany(3, requests, &number, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && number == 2);
    MPI_Waitsome(4, requests, &number, places, MPI_STATUSES_IGNORE);
    CHECK(number == 1 && places[0] == 3);
    MPI_Testsome(5, requests, &number, places, MPI_STATUSES_IGNORE);
    CHECK(number == 1 && places[0] == 4);
    MPI_Wait(&requests[5], MPI_STATUS_IGNORE);
    for (int i = 0; i < 6; i++)
        MPI_Rget(&got[i], 1, MPI_LONG, right, 2 + i, 1, MPI_LONG, win, &requests[i]);
    MPI_Win_flush_local_all(win);
    MPI_Testall(6, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag && got[5] == 5);
    MPI_Rput(value, 1, MPI_LONG, right, 2, 1, MPI_LONG, win, requests);
    MPI_Win_unlock_all(win);
    MPI_Waitany(1, requests, &number, MPI_STATUS_IGNORE);
    CHECK(number == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A rank that looks at its own memory sees what another puts there. */
static void looking(MPI_Win win, long *memory) {
    volatile long *flag = memory + 3;
    *flag = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0 && size > 1) {
        while (*flag == 0) MPI_Win_sync(win);
        CHECK(*flag == 77);
    }
    if (rank == 1) {
        long value = 77;
        MPI_Put(&value, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The same, as accesses with requests see it. */
    if (rank == 0 && size > 1) {
        long seen = 0;
        MPI_Request request;
        MPI_Win_lock_all(0, win);
        while (seen != 79) {
            MPI_Rget(&seen, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Win_unlock_all(win);
    }
    if (rank == 1) {
        long value = 79;
        MPI_Win_lock_all(0, win);
        MPI_Put(&value, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
        MPI_Win_unlock_all(win);
    }
    /* The same, with a lock for each look. */
    if (rank == 0 && size > 1) {
        long seen = 0;
        while (seen != 78) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            seen = *flag;
            MPI_Win_unlock(0, win);
        }
    }
    if (rank == 1) {
        long value = 78;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&value, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    long own[8] = {0, -1}, *memory;
    MPI_Win win;
    exclusive();
    MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    tickets(win, own);
    election(win);
    requests(win, own);
    flushed(win);
    looking(win, own);
    MPI_Win_free(&win);
    MPI_Win_allocate(8 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[0] = 0;
    memory[1] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    tickets(win, memory);
    election(win);
    requests(win, memory);
    flushed(win);
    looking(win, memory);
    MPI_Win_free(&win);
    return end();
}

/* Fences and epochs of groups, over every kind of window. */
#include "check.h"
#include <string.h>

#define COUNT 64

static void fences(MPI_Win win, int *memory, MPI_Aint first) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, value[4], got[4];
    for (int i = 0; i < COUNT; i++) memory[i] = -1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < 4; i++) value[i] = 100 * rank + i;
    MPI_Put(value, 4, MPI_INT, right, first, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) CHECK(memory[i] == 100 * left + i);
    CHECK(memory[4] == -1);
    MPI_Get(got, 4, MPI_INT, right, first, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) CHECK(got[i] == 100 * rank + i);

    /* Every second element of eight, from a column of a 4 by 2 matrix. */
    MPI_Datatype column, spread;
    MPI_Type_vector(4, 1, 2, MPI_INT, &column);
    MPI_Type_vector(4, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&column);
    MPI_Type_commit(&spread);
    int matrix[8];
    for (int i = 0; i < 8; i++) matrix[i] = 10 * rank + i;
    MPI_Put(matrix + 1, 1, column, right, first + 8, 1, spread, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) CHECK(memory[8 + 2 * i] == 10 * left + 1 + 2 * i);
    for (int i = 0; i < 4; i++) CHECK(memory[9 + 2 * i] == -1);
    memset(got, 0, sizeof got);
    MPI_Get(got, 4, MPI_INT, right, first + 8, 1, spread, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) CHECK(got[i] == 10 * rank + 1 + 2 * i);
    MPI_Type_free(&column);
    MPI_Type_free(&spread);

    /* All add to rank 0. */
    memory[20] = 1000;
    memory[21] = rank == 0 ? 5 : 0;
    MPI_Win_fence(0, win);
    int mine[2] = {rank + 1, rank};
    MPI_Accumulate(mine, 1, MPI_INT, 0, first + 20, 1, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(mine + 1, 1, MPI_INT, 0, first + 21, 1, MPI_INT, MPI_MAX, win);
    MPI_Accumulate(mine, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_MAX, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(memory[20] == (rank == 0 ? 1000 + size * (size + 1) / 2 : 1000));
    if (rank == 0) CHECK(memory[21] == (size - 1 > 5 ? size - 1 : 5));
}

/* Even ranks write to the odd rank after them. */
static void groups(MPI_Win win, int *memory, MPI_Aint first) {
    MPI_Group world, partner;
    MPI_Win_get_group(win, &world);
    for (int i = 0; i < COUNT; i++) memory[i] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 3; round++) {
        int other = rank ^ 1, value = 7 * rank + round, got = 0;
        if (other >= size) break;
        MPI_Group_incl(world, 1, &other, &partner);
        if (rank % 2 == 0) {
            MPI_Win_start(partner, 0, win);
            MPI_Put(&value, 1, MPI_INT, other, first + 3, 1, MPI_INT, win);
            MPI_Get(&got, 1, MPI_INT, other, first + 4, 1, MPI_INT, win);
            MPI_Win_complete(win);
            CHECK(got == 50 + round);
        } else {
            memory[4] = 50 + round;
            MPI_Win_post(partner, 0, win);
            if (round == 1) {
                int done = 0;
                while (!done) MPI_Win_test(win, &done);
            } else {
                MPI_Win_wait(win);
            }
            CHECK(memory[3] == 7 * other + round);
        }
        MPI_Group_free(&partner);
    }
    MPI_Group_free(&world);
}

/* A value and its place: the largest value, of equals the lowest place. */
static void pairs(void) {
    struct { double value; int place; } *memory, mine = {rank % 2 ? 4.5 : 2.5, rank},
                                        old = {-1, -1};
    MPI_Win win;
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory->value = 1.5;
    memory->place = 99;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        CHECK(memory->value == (size > 1 ? 4.5 : 2.5));
        CHECK(memory->place == (size > 1 ? 1 : 0));
    }
    MPI_Get_accumulate(&mine, 1, MPI_DOUBLE_INT, &old, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT,
                       MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    CHECK(old.place == (size > 1 ? 1 : 0));
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

static void attributes(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor) {
    void *value;
    int flag;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint *)value == bytes);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int *)value == unit);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int *)value == flavor);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED);
}

/* Ranks of one process take turns at this address. */
static int global[COUNT];

/* The memory of a window has zeros, whatever was there before. */
static void fresh(void) {
    for (int shared = 0; shared < 2; shared++) {
        for (int times = 0; times < 3; times++) {
            char *memory, used = 0;
            MPI_Win win;
            if (shared)
                MPI_Win_allocate_shared(5000, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
            else MPI_Win_allocate(5000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
            for (int place = 0; place < 5000; place++) used |= memory[place];
            CHECK(used == 0);
            memset(memory, 7, 5000);
            MPI_Win_free(&win);
        }
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int own[COUNT], *memory;
    MPI_Win win;

    MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    attributes(win, own, sizeof own, sizeof(int), MPI_WIN_FLAVOR_CREATE);
    fences(win, own, 0);
    groups(win, own, 0);
    MPI_Win_free(&win);

    MPI_Win_create(global, sizeof global, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    fences(win, global, 0);
    groups(win, global, 0);
    MPI_Win_free(&win);

    MPI_Win_allocate(sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    attributes(win, memory, sizeof own, sizeof(int), MPI_WIN_FLAVOR_ALLOCATE);
    fences(win, memory, 0);
    groups(win, memory, 0);
    MPI_Win_free(&win);
    fresh();

    /* Ranks of several hosts share nothing; an argument says that they are. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int refused = MPI_Win_allocate_shared(sizeof own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                                          &memory, &win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(!refused == (argc == 1 || size == 1));
    if (!refused) {
        fences(win, memory, 0);
        for (int other = 0; other < size; other++) {
            MPI_Aint bytes;
            int unit, *theirs;
            MPI_Win_shared_query(win, other, &bytes, &unit, &theirs);
            CHECK(bytes == sizeof own && unit == sizeof(int)
                  && theirs == memory + (other - rank) * COUNT);
        }
        memory[30] = 11 * rank;
        MPI_Win_fence(0, win);
        CHECK(memory[30 + ((rank + 1) % size - rank) * COUNT] == 11 * ((rank + 1) % size));
        MPI_Win_free(&win);
    }

    /* Elements of four bytes, at addresses that each rank tells the one before it. */
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, own, sizeof own);
    MPI_Aint here, there;
    int value = rank + 40, left = (rank + size - 1) % size;
    MPI_Get_address(own + 5, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, (rank + 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, there, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(own[5] == left + 40);
    MPI_Win_detach(win, own);
    MPI_Win_free(&win);

    pairs();
    return end();
}

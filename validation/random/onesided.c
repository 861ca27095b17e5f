/* Random one-sided operations in epochs and windows of all kinds: what is in everybody's window
 * then, and what was got, a line for each window. What does not commute goes to a place of its own.
 *
 *   onesided SEED COUNT
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* Each rank has a part of every window to change as it likes; behind those is one to add to, and
 * one to read. */
#define PART 256
#define STEPS 12
#define SLOT 20
#define MOST 32

enum { CREATED, ALLOCATED, SHARED, DYNAMIC };
enum { FENCE, GROUPS, LOCK_ALL, LOCK };

static int from[STEPS][PART], into[STEPS][PART];
static int rank, ranks, words;

static int *window(int flavour, int unit, MPI_Win *win) {
    int *memory = NULL;
    MPI_Aint bytes = (MPI_Aint)words * 4;
    switch (flavour) {
    case CREATED:
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory);
        MPI_Win_create(memory, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, win);
        break;
    case ALLOCATED:
        MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win);
        break;
    case SHARED:
        MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win);
        break;
    default:
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win);
        memory = malloc((size_t)bytes);
        MPI_Win_attach(*win, memory, bytes);
        break;
    }
    return memory;
}

static void operate(int step, int target, MPI_Aint base, int unit, int by_request, MPI_Win win) {
    MPI_Datatype here = MPI_INT, there = MPI_INT;
    MPI_Request request = MPI_REQUEST_NULL;
    int what = (int)below(8), count = 1 + (int)below(SLOT), stride = 1 + (int)below(3),
        place = (int)below(PART - 3 * SLOT);
    int heres = count, theres = count;
    if (below(2)) {
        MPI_Type_contiguous(count, MPI_INT, &here);
        MPI_Type_commit(&here);
        heres = 1;
    }
    if (below(2) && count * stride <= SLOT) {
        MPI_Type_vector(count, 1, stride, MPI_INT, &there);
        MPI_Type_commit(&there);
        theres = 1;
    }
    for (int i = 0; i < PART; i++) {
        from[step][i] = (int)below(100000);
        into[step][i] = -1;
    }
    int *give = from[step], *get = into[step], compared = step * SLOT;
    MPI_Aint own = (base + (MPI_Aint)(PART * rank + step * SLOT) * 4) / unit;
    MPI_Aint sum = (base + (MPI_Aint)(PART * ranks + place) * 4) / unit,
        read = sum + (MPI_Aint)PART * 4 / unit;
    switch (what) {
    case 0:
        by_request ? MPI_Rput(give, heres, here, target, own, theres, there, win, &request)
                   : MPI_Put(give, heres, here, target, own, theres, there, win);
        break;
    case 1:
        by_request ? MPI_Rget(get, heres, here, target, read, theres, there, win, &request)
                   : MPI_Get(get, heres, here, target, read, theres, there, win);
        break;
    case 2:
        by_request ? MPI_Raccumulate(give, heres, here, target, sum, theres, there, MPI_SUM, win,
                                     &request)
                   : MPI_Accumulate(give, heres, here, target, sum, theres, there, MPI_SUM, win);
        break;
    case 3:
        MPI_Get_accumulate(give, heres, here, get, heres, here, target, own, theres, there,
                           below(2) ? MPI_REPLACE : MPI_NO_OP,
                           win);
        break;
    case 4:
        MPI_Fetch_and_op(give, get, MPI_INT, target, own, below(2) ? MPI_SUM : MPI_REPLACE, win);
        break;
    case 5:
        MPI_Compare_and_swap(give, &compared, get, MPI_INT, target, own, win);
        break;
    case 6:
        MPI_Accumulate(give, heres, here, target, own, theres, there, below(2) ? MPI_MAX : MPI_BXOR,
                       win);
        break;
    default:
        MPI_Get_accumulate(NULL, 0, MPI_INT, get, heres, here, target, read, theres, there,
                           MPI_NO_OP, win);
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (here != MPI_INT)
        MPI_Type_free(&here);
    if (there != MPI_INT)
        MPI_Type_free(&there);
}

static void epoch(int kind, int steps, const MPI_Aint *bases, int unit, MPI_Win win) {
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (kind == FENCE)
        MPI_Win_fence(0, win);
    if (kind == GROUPS) {
        MPI_Win_post(world, 0, win);
        MPI_Win_start(world, 0, win);
    }
    if (kind == LOCK_ALL)
        MPI_Win_lock_all(0, win);
    for (int step = 0; step < steps; step++) {
        int target = (int)below((unsigned)ranks), passive = kind >= LOCK_ALL;
        if (kind == LOCK)
            MPI_Win_lock(below(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
        operate(step, target, bases[target], unit, passive && below(2), win);
        if (kind == LOCK_ALL && below(3) == 0)
            MPI_Win_flush(target, win);
        if (kind == LOCK)
            MPI_Win_unlock(target, win);
    }
    if (kind == FENCE)
        MPI_Win_fence(0, win);
    if (kind == GROUPS) {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    if (kind == LOCK_ALL)
        MPI_Win_unlock_all(win);
    MPI_Group_free(&world);
}

static void one(unsigned long long seed, int number) {
    MPI_Win win;
    MPI_Aint bases[MOST] = {0}, mine;
    begin(seed, (unsigned)number);
    int kind = (int)below(4), flavour = (int)below(4),
        unit = below(2) && flavour != DYNAMIC ? 4 : 1;
    int *memory = window(flavour, unit, &win);
    MPI_Get_address(memory, &mine);
    if (flavour == DYNAMIC)
        MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < words; i++)
        memory[i] = i * 7 + rank * 1000 + number;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);

    begin(seed + 7919, (unsigned)(number * MOST + rank));
    int steps = 1 + (int)below(STEPS);
    epoch(kind, steps, bases, unit, win);
    MPI_Barrier(MPI_COMM_WORLD);

    unsigned long long found[2], all[2 * MOST];
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    found[0] = fingerprint(memory, (size_t)words * 4);
    MPI_Win_unlock(rank, win);
    found[1] = fingerprint(into, sizeof into[0] * (size_t)steps);
    MPI_Gather(found, 2, MPI_UNSIGNED_LONG_LONG, all, 2, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d epoch %d window %d of units of %d:", number, kind, flavour, unit);
        for (int i = 0; i < 2 * ranks; i++)
            printf(" %llx", all[i]);
        printf("\n");
    }
    if (flavour == DYNAMIC)
        MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    if (flavour == CREATED)
        MPI_Free_mem(memory);
    if (flavour == DYNAMIC)
        free(memory);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    words = PART * (ranks + 2);
    unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 50;
    for (int number = 0; number < count; number++)
        one(seed, number);
    MPI_Finalize();
    return 0;
}

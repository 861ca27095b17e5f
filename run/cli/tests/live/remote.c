/* One-sided communication: datatypes at both sides, every operation, atomic ones, and what programs
 * build of them. */
#include "conformance.h"

enum { ROOM = 64 };

/* A column of an array here becomes a row there, and the other way round. */
static void layouts(void) {
    int memory[ROOM], from[ROOM], to = (rank + 1) % ranks, got[8];
    MPI_Win window;
    MPI_Datatype column, gaps;
    for (int i = 0; i < ROOM; i++)
        memory[i] = -1, from[i] = 100 * rank + i;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_indexed(3, (int[]){1, 2, 1}, (int[]){6, 1, 9}, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(from + 2, 1, column, to, 8, 8, MPI_INT, window);
    MPI_Put(from, 4, MPI_INT, to, 40, 1, gaps, window);
    MPI_Win_fence(0, window);
    int sender = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 8; i++)
        CHECK(memory[8 + i] == 100 * sender + 2 + 8 * i);
    CHECK(memory[46] == 100 * sender && memory[41] == 100 * sender + 1
          && memory[42] == 100 * sender + 2 && memory[49] == 100 * sender + 3);
    CHECK(memory[40] == -1 && memory[43] == -1);
    MPI_Win_fence(0, window);
    memset(got, 0, sizeof got);
    MPI_Get(got, 4, MPI_INT, to, 40, 1, gaps, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 4; i++)
        CHECK(got[i] == 100 * rank + i);
    /* Sums of every other element, by all ranks at once. */
    MPI_Datatype sparse;
    for (int i = 0; i < ROOM; i++)
        memory[i] = 1;
    MPI_Type_vector(4, 1, 2, MPI_INT, &sparse);
    MPI_Type_commit(&sparse);
    MPI_Win_fence(0, window);
    int add[4] = {rank, 2 * rank, 3, 4};
    MPI_Accumulate(add, 4, MPI_INT, 0, 3, 1, sparse, MPI_SUM, window);
    MPI_Win_fence(0, window);
    int sum = ranks * (ranks - 1) / 2;
    if (rank == 0)
        CHECK(memory[3] == 1 + sum && memory[5] == 1 + 2 * sum && memory[7] == 1 + 3 * ranks
              && memory[9] == 1 + 4 * ranks && memory[4] == 1);
    MPI_Win_free(&window);
    MPI_Type_free(&column);
    MPI_Type_free(&gaps);
    MPI_Type_free(&sparse);
}

#define ACCUMULATES(type, name, op, first, mine, expected) do { \
        type value = (type)(first), give = (type)(mine), before; \
        MPI_Win window; \
        MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, WORLD, &window); \
        MPI_Win_fence(0, window); \
        MPI_Accumulate(&give, 1, name, 0, 0, 1, name, op, window); \
        MPI_Win_fence(0, window); \
        if (rank == 0) \
            CHECK(value == (type)(expected)); \
        value = (type)(first); \
        MPI_Win_fence(0, window); \
        if (rank == ranks - 1) \
            MPI_Get_accumulate(&give, 1, name, &before, 1, name, 0, 0, 1, name, op, window); \
        MPI_Win_fence(0, window); \
        if (rank == ranks - 1) \
            CHECK(before == (type)(first)); \
        MPI_Win_free(&window); \
    } while (0)

static void operations(void) {
    int sum = ranks * (ranks - 1) / 2, all = (1 << ranks) - 1;
    ACCUMULATES(int, MPI_INT, MPI_SUM, 5, rank, 5 + sum);
    ACCUMULATES(double, MPI_DOUBLE, MPI_SUM, 0.5, rank, 0.5 + sum);
    ACCUMULATES(long, MPI_LONG, MPI_MAX, 3, rank, ranks - 1 > 3 ? ranks - 1 : 3);
    ACCUMULATES(short, MPI_SHORT, MPI_MIN, 3, rank + 1, 1);
    ACCUMULATES(double, MPI_DOUBLE, MPI_PROD, 3, 2, 3 * (1 << ranks));
    ACCUMULATES(unsigned, MPI_UNSIGNED, MPI_BOR, 0, 1 << rank, all);
    ACCUMULATES(unsigned char, MPI_BYTE, MPI_BAND, 0xff, ~(1 << rank), 0xff & ~all);
    ACCUMULATES(long long, MPI_LONG_LONG, MPI_BXOR, 0, 3, ranks % 2 ? 3 : 0);
    ACCUMULATES(int, MPI_INT, MPI_LAND, 1, 1, 1);
    ACCUMULATES(int, MPI_INT, MPI_LOR, 0, rank == 0, 1);
    struct { double value; int index; } best = {-1, -1}, mine = {(rank * 7) % 5, rank};
    MPI_Win window;
    MPI_Win_create(&best, sizeof best, 1, MPI_INFO_NULL, WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, window);
    MPI_Win_fence(0, window);
    if (rank == 0) {
        int at = 0;
        for (int i = 1; i < ranks; i++)
            if (i * 7 % 5 > at * 7 % 5)
                at = i;
        CHECK(best.value == at * 7 % 5 && best.index == at);
    }
    MPI_Win_free(&window);
}

/* Values with an index, of which others are made: the gaps stay as they are. */
static void pairs(void) {
    struct { double value; int index; } memory[4], mine[2] = {{rank, rank}, {-rank, rank}}, old[2];
    MPI_Datatype sparse;
    MPI_Win window;
    for (int i = 0; i < 4; i++)
        memory[i].value = 0, memory[i].index = 99;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE_INT, &sparse);
    MPI_Type_commit(&sparse);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(mine, 2, MPI_DOUBLE_INT, 0, 0, 1, sparse, MPI_MAXLOC, window);
    MPI_Win_fence(0, window);
    MPI_Get_accumulate(mine, 2, MPI_DOUBLE_INT, old, 2, MPI_DOUBLE_INT, 0, 1, 1, sparse, MPI_MINLOC,
                       window);
    MPI_Win_fence(0, window);
    if (rank == 0) {
        CHECK(memory[0].value == ranks - 1 && memory[0].index == ranks - 1);
        /* Of equal values the lowest index, rank 0's. */
        CHECK(memory[2].value == 0 && memory[2].index == 0);
        CHECK(memory[1].value == 0 && memory[1].index == 0);
        CHECK(memory[3].value == 1 - ranks && memory[3].index == ranks - 1);
    }
    MPI_Win_free(&window);
    MPI_Type_free(&sparse);
}

static void atomics(void) {
    long *shared, old, one = 1, nothing = 0;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, WORLD, &shared, &window);
    MPI_Win_lock_all(0, window);
    memset(shared, 0, 4 * sizeof(long));
    MPI_Win_sync(window);
    MPI_Barrier(WORLD);
    /* Tickets: each number is drawn once. */
    char *drawn = calloc(10 * ranks, 1), *all = calloc(10 * ranks, 1);
    for (int i = 0; i < 10; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        CHECK(old >= 0 && old < 10 * ranks);
        drawn[old]++;
    }
    MPI_Reduce(drawn, all, 10 * ranks, MPI_CHAR, MPI_SUM, 0, WORLD);
    for (int i = 0; i < 10 * ranks && rank == 0; i++)
        CHECK(all[i] == 1);
    free(drawn), free(all);
    /* One rank wins. */
    long me = rank + 1, won;
    MPI_Compare_and_swap(&me, &nothing, &old, MPI_LONG, 0, 1, window);
    MPI_Win_flush(0, window);
    int winner = old == 0, winners;
    MPI_Allreduce(&winner, &winners, 1, MPI_INT, MPI_SUM, WORLD);
    CHECK(winners == 1);
    MPI_Barrier(WORLD);
    MPI_Fetch_and_op(NULL, &won, MPI_LONG, 0, 1, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
    CHECK(won >= 1 && won <= ranks && (old == 0) == (won == me));
    /* By requests. */
    long values[2] = {rank, rank}, read[2] = {0, 0};
    MPI_Request requests[2];
    int to = (rank + 1) % ranks;
    MPI_Barrier(WORLD);
    MPI_Rput(values, 2, MPI_LONG, to, 2, 2, MPI_LONG, window, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(to, window);
    MPI_Rget(read, 2, MPI_LONG, to, 2, 2, MPI_LONG, window, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(read[0] == rank && read[1] == rank);
    MPI_Barrier(WORLD);
    MPI_Raccumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, window, &requests[0]);
    MPI_Rget_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, 0, 3, 1, MPI_LONG, MPI_SUM, window,
                        &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush_all(window);
    MPI_Barrier(WORLD);
    MPI_Win_sync(window);
    if (rank == 0)
        CHECK(shared[2] == ranks - 1 + ranks && shared[3] == ranks - 1 + ranks);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* The queue lock of Mellor-Crummey and Scott: each rank spins on a word of its own. */
static void queue_lock(void) {
    enum { NEXT, BLOCKED, TAIL, COUNTER, WORDS };
    int *words, nobody = -1, yes = 1, before, successor, me = rank;
    MPI_Win window;
    MPI_Win_allocate(WORDS * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &words, &window);
    words[NEXT] = words[TAIL] = -1, words[BLOCKED] = words[COUNTER] = 0;
    MPI_Barrier(WORLD);
    MPI_Win_lock_all(0, window);
    for (int round = 0; round < 5; round++) {
        MPI_Accumulate(&nobody, 1, MPI_INT, rank, NEXT, 1, MPI_INT, MPI_REPLACE, window);
        MPI_Accumulate(&yes, 1, MPI_INT, rank, BLOCKED, 1, MPI_INT, MPI_REPLACE, window);
        MPI_Win_flush(rank, window);
        MPI_Fetch_and_op(&me, &before, MPI_INT, 0, TAIL, MPI_REPLACE, window);
        MPI_Win_flush(0, window);
        if (before != -1) {
            int blocked = 1;
            MPI_Accumulate(&me, 1, MPI_INT, before, NEXT, 1, MPI_INT, MPI_REPLACE, window);
            MPI_Win_flush(before, window);
            while (blocked) {
                MPI_Fetch_and_op(NULL, &blocked, MPI_INT, rank, BLOCKED, MPI_NO_OP, window);
                MPI_Win_flush(rank, window);
            }
        }
        /* Only one at a time reads and writes. */
        int value;
        MPI_Get(&value, 1, MPI_INT, 0, COUNTER, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        value++;
        MPI_Put(&value, 1, MPI_INT, 0, COUNTER, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Compare_and_swap(&nobody, &me, &before, MPI_INT, 0, TAIL, window);
        MPI_Win_flush(0, window);
        if (before != me) {
            int no = 0;
            do {
                MPI_Fetch_and_op(NULL, &successor, MPI_INT, rank, NEXT, MPI_NO_OP, window);
                MPI_Win_flush(rank, window);
            } while (successor == -1);
            MPI_Accumulate(&no, 1, MPI_INT, successor, BLOCKED, 1, MPI_INT, MPI_REPLACE, window);
            MPI_Win_flush(successor, window);
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(WORLD);
    if (rank == 0)
        CHECK(words[COUNTER] == 5 * ranks);
    MPI_Win_free(&window);
}

struct element { int owner; MPI_Aint next; long value; };

/* A list whose elements lie in memory that ranks attach while they run: each adds one at the end.
 */
static void list(void) {
    struct element *mine = malloc(sizeof *mine), *first = NULL;
    MPI_Win window;
    MPI_Aint head = 0, own;
    mine->owner = -1, mine->next = 0, mine->value = 10 * rank;
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &window);
    MPI_Win_attach(window, mine, sizeof *mine);
    MPI_Get_address(mine, &own);
    if (rank == 0)
        head = own, first = mine;
    MPI_Bcast(&head, 1, MPI_AINT, 0, WORLD);
    for (int turn = 1; turn < ranks; turn++) {
        MPI_Barrier(WORLD);
        if (turn != rank)
            continue;
        struct element at;
        int owner = 0;
        MPI_Aint place = head;
        for (;;) {
            MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window);
            MPI_Get(&at, sizeof at, MPI_BYTE, owner, place, sizeof at, MPI_BYTE, window);
            MPI_Win_unlock(owner, window);
            if (at.owner == -1)
                break;
            owner = at.owner, place = at.next;
        }
        at.owner = rank, at.next = own;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window);
        MPI_Put(&at, sizeof at, MPI_BYTE, owner, place, sizeof at, MPI_BYTE, window);
        MPI_Win_unlock(owner, window);
    }
    MPI_Barrier(WORLD);
    struct element at = {0, 0, 0};
    int owner = 0, count = 0;
    for (MPI_Aint place = head; owner != -1; owner = at.owner, place = at.next) {
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window);
        MPI_Get(&at, sizeof at, MPI_BYTE, owner, place, sizeof at, MPI_BYTE, window);
        MPI_Win_unlock(owner, window);
        CHECK(at.value == 10 * count);
        count++;
    }
    CHECK(count == ranks && (rank != 0 || first == mine));
    MPI_Barrier(WORLD);
    MPI_Win_detach(window, mine);
    MPI_Win_free(&window);
    free(mine);
}

/* A ring of groups: each opens for the one before it and accesses the one behind. */
static void groups(void) {
    int value = -1, to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    MPI_Group all, before, behind;
    MPI_Win window;
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, &from, &before);
    MPI_Group_incl(all, 1, &to, &behind);
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, WORLD, &window);
    for (int round = 0; round < 3; round++) {
        int mine = 10 * rank + round;
        MPI_Win_post(before, 0, window);
        MPI_Win_start(behind, 0, window);
        MPI_Put(&mine, 1, MPI_INT, to, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
        if (round == 1)
            for (int done = 0; !done;)
                MPI_Win_test(window, &done);
        else
            MPI_Win_wait(window);
        CHECK(value == 10 * from + round);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&before);
    MPI_Group_free(&behind);
    MPI_Win_free(&window);
}

static int gone;
static char mark;

static int forget(MPI_Win window, int key, void *value, void *extra) {
    (void)window, (void)key, (void)extra;
    gone += value == &mark;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int key, flag, *unit, *model;
    void *value;
    MPI_Aint *size;
    MPI_Win window;
    static int memory[6];
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &window);
    MPI_Win_get_attr(window, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == memory);
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == sizeof memory);
    MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == sizeof(int));
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &model, &flag);
    CHECK(flag && *model == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &key, NULL);
    MPI_Win_set_attr(window, key, &mark);
    MPI_Win_get_attr(window, key, &value, &flag);
    CHECK(flag && value == &mark);
    MPI_Win_free(&window);
    CHECK(gone == 1 && window == MPI_WIN_NULL);
    MPI_Win_free_keyval(&key);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    layouts();
    operations();
    pairs();
    atomics();
    queue_lock();
    list();
    groups();
    attributes();
    MPI_Finalize();
    return 0;
}

/* Collectives on one group: all of them, with counts that differ, in place, for each root. */
#include "conformance.h"

enum { MOST = 32 };

static void from_each_root(int root) {
    int values[3] = {0}, all[MOST * 3], mine[3], counts[MOST], at[MOST], total = 0;
    if (rank == root) for (int i = 0; i < 3; i++) values[i] = root + 10 * i;
    MPI_Bcast(values, 3, MPI_INT, root, WORLD);
    CHECK(values[0] == root && values[2] == root + 20);
    for (int i = 0; i < 3; i++) mine[i] = 100 * rank + i;
    memset(all, -1, sizeof all);
    MPI_Gather(mine, 3, MPI_INT, all, 3, MPI_INT, root, WORLD);
    if (rank == root) for (int i = 0; i < 3 * ranks; i++) CHECK(all[i] == 100 * (i / 3) + i % 3);
    /* In place: the root's part lies where it belongs. */
    if (rank == root) {
        memset(all, -1, sizeof all);
        memcpy(&all[3 * root], mine, sizeof mine);
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 3, MPI_INT, root, WORLD);
        for (int i = 0; i < 3 * ranks; i++) CHECK(all[i] == 100 * (i / 3) + i % 3);
        MPI_Scatter(all, 3, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, WORLD);
    } else {
        MPI_Gather(mine, 3, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, WORLD);
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, values, 3, MPI_INT, root, WORLD);
        CHECK(values[0] == 100 * rank && values[2] == 100 * rank + 2);
    }
    /* Rank i has i % 4 values, with a gap of one after each. */
    for (int i = 0; i < ranks; i++) counts[i] = i % 4, at[i] = total, total += i % 4 + 1;
    memset(all, -1, sizeof all);
    for (int i = 0; i < 3; i++) mine[i] = 100 * rank + i;
    MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, at, MPI_INT, root, WORLD);
    if (rank == root) {
        for (int i = 0; i < ranks; i++) {
            for (int j = 0; j < counts[i]; j++) CHECK(all[at[i] + j] == 100 * i + j);
            CHECK(all[at[i] + counts[i]] == -1);
        }
    }
    memset(mine, 0, sizeof mine);
    MPI_Scatterv(all, counts, at, MPI_INT, mine, counts[rank], MPI_INT, root, WORLD);
    for (int j = 0; j < counts[rank]; j++) CHECK(mine[j] == 100 * rank + j);
    double number = rank + 1, product = 0;
    MPI_Reduce(&number, &product, 1, MPI_DOUBLE, MPI_PROD, root, WORLD);
    double factorial = 1;
    for (int i = 1; i <= ranks; i++) factorial *= i;
    if (rank == root) CHECK(product == factorial);
    if (rank == root) MPI_Reduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_PROD, root, WORLD);
    else MPI_Reduce(&number, NULL, 1, MPI_DOUBLE, MPI_PROD, root, WORLD);
    CHECK(number == (rank == root ? factorial : rank + 1));
}

static void to_all(void) {
    int all[MOST * MOST], counts[MOST], at[MOST], total = 0, mine[MOST];
    for (int i = 0; i < ranks; i++) counts[i] = (i + 1) % 3, at[i] = total, total += counts[i];
    for (int i = 0; i < 3; i++) mine[i] = 10 * rank + i;
    memset(all, -1, sizeof all);
    MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, at, MPI_INT, WORLD);
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < counts[i]; j++) CHECK(all[at[i] + j] == 10 * i + j);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, at, MPI_INT, WORLD);
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < counts[i]; j++) CHECK(all[at[i] + j] == 10 * i + j);
    for (int i = 0; i < ranks; i++) all[i] = 100 * rank + i;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
    for (int i = 0; i < ranks; i++) CHECK(all[i] == 100 * i + rank);
    /* Rank i sends (i + j) % 3 values to rank j. */
    int out[MOST * 3], out_at[MOST], in_counts[MOST], in_at[MOST], bytes[MOST], in_bytes[MOST];
    MPI_Datatype types[MOST];
    for (int j = 0; j < ranks; j++) {
        counts[j] = in_counts[j] = (rank + j) % 3;
        out_at[j] = in_at[j] = 3 * j;
        bytes[j] = in_bytes[j] = 3 * j * sizeof(int);
        types[j] = MPI_INT;
        for (int k = 0; k < 3; k++) out[3 * j + k] = 1000 * rank + 10 * j + k;
    }
    for (int way = 0; way < 2; way++) {
        memset(all, -1, sizeof all);
        if (way == 0)
            MPI_Alltoallv(out, counts, out_at, MPI_INT, all, in_counts, in_at, MPI_INT, WORLD);
        else MPI_Alltoallw(out, counts, bytes, types, all, in_counts, in_bytes, types, WORLD);
        for (int j = 0; j < 3 * ranks; j++) {
            CHECK(all[j] == (j % 3 < in_counts[j / 3] ? 1000 * (j / 3) + 10 * rank + j % 3 : -1));
        }
    }
}

static void reductions(void) {
    int values[MOST], block = -1, counts[MOST], total = 0, parts[3] = {-1, -1, -1};
    for (int i = 0; i < ranks; i++) values[i] = rank + i;
    MPI_Reduce_scatter_block(values, &block, 1, MPI_INT, MPI_SUM, WORLD);
    CHECK(block == ranks * (ranks - 1) / 2 + ranks * rank);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, values, 1, MPI_INT, MPI_MAX, WORLD);
    CHECK(values[0] == ranks - 1 + rank);
    int many[MOST * 3], before = 0;
    for (int i = 0; i < ranks; i++) {
        if (i == rank) before = total;
        total += counts[i] = (i + 2) % 3;
    }
    for (int i = 0; i < total; i++) many[i] = rank * i;
    MPI_Reduce_scatter(many, parts, counts, MPI_INT, MPI_SUM, WORLD);
    for (int i = 0; i < 3; i++)
        CHECK(parts[i] == (i < counts[rank] ? ranks * (ranks - 1) / 2 * (before + i) : -1));
    struct { double value; int place; } one = {rank % 3, rank}, most, least;
    MPI_Allreduce(&one, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, WORLD);
    MPI_Allreduce(&one, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, WORLD);
    CHECK(most.place == (ranks > 2 ? 2 : ranks - 1) && least.place == 0);
    unsigned bits = 1u << rank, any = 0, every = 1;
    MPI_Allreduce(&bits, &any, 1, MPI_UNSIGNED, MPI_BOR, WORLD);
    MPI_Allreduce(&bits, &every, 1, MPI_UNSIGNED, MPI_BAND, WORLD);
    CHECK(any == (1u << ranks) - 1 && every == (ranks == 1));
    int sum = rank, before_me = -7;
    MPI_Scan(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    CHECK(sum == rank * (rank + 1) / 2);
    MPI_Exscan(&rank, &before_me, 1, MPI_INT, MPI_SUM, WORLD);
    CHECK(before_me == (rank ? rank * (rank - 1) / 2 : -7));
    before_me = rank;
    MPI_Exscan(MPI_IN_PLACE, &before_me, 1, MPI_INT, MPI_MAX, WORLD);
    CHECK(before_me == (rank ? rank - 1 : 0));
    int ones[2] = {1, 2}, twos[2] = {10, 20};
    MPI_Reduce_local(ones, twos, 2, MPI_INT, MPI_SUM);
    CHECK(twos[0] == 11 && twos[1] == 22);
}

/* Products of 2 by 2 matrices depend on the order. */
static void product(void *left, void *right, int *count, MPI_Datatype *type) {
    (void)type;
    long *a = left, *b = right;
    for (int i = 0; i < *count; i++, a += 4, b += 4) {
        long c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                     a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof c);
    }
}

static void matrix(int of, long *made) {
    memcpy(made, (long[4]){1, of + 1, of % 2, 1}, 4 * sizeof(long));
}

static void order(void) {
    MPI_Datatype type;
    MPI_Op op;
    long mine[4], got[4], expected[4], until[4], one[4];
    int count = 1, commutes = 1;
    MPI_Type_contiguous(4, MPI_LONG, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(product, 0, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(!commutes);
    matrix(rank, mine);
    matrix(ranks - 1, expected);
    for (int i = ranks - 2; i >= 0; i--) matrix(i, one), product(one, expected, &count, &type);
    matrix(rank, until);
    for (int i = rank - 1; i >= 0; i--) matrix(i, one), product(one, until, &count, &type);
    MPI_Allreduce(mine, got, 1, type, op, WORLD);
    CHECK(!memcmp(got, expected, sizeof got));
    for (int root = 0; root < ranks; root++) {
        MPI_Reduce(mine, got, 1, type, op, root, WORLD);
        if (rank == root) CHECK(!memcmp(got, expected, sizeof got));
    }
    MPI_Scan(mine, got, 1, type, op, WORLD);
    CHECK(!memcmp(got, until, sizeof got));
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Type_free(&type);
}

enum { IN_FLIGHT = 100 };

/* Many collectives of one communicator are under way at once; messages of a late one do not meet
 * receives of an early one. */
static void in_flight(void) {
    int mine[IN_FLIGHT], got[IN_FLIGHT], number = 0, go = 1;
    MPI_Request requests[IN_FLIGHT];
    /* The others have started all when rank 0 begins. */
    if (rank == 0)
        for (int i = 1; i < ranks; i++) MPI_Recv(&go, 1, MPI_INT, i, 0, WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < IN_FLIGHT; i++) {
        mine[i] = i + rank;
        got[i] = i % 3 == 1 && i % ranks == rank ? i : -1;
        if (i % 3 == 0)
            MPI_Iscan(&mine[i], &got[i], 1, MPI_INT, MPI_SUM, WORLD, &requests[number++]);
        if (i % 3 == 1) MPI_Ibcast(&got[i], 1, MPI_INT, i % ranks, WORLD, &requests[number++]);
        if (i % 3 == 2)
            MPI_Ireduce(&mine[i], &got[i], 1, MPI_INT, MPI_MAX, i % ranks, WORLD,
                        &requests[number++]);
    }
    if (rank) MPI_Send(&go, 1, MPI_INT, 0, 0, WORLD);
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < IN_FLIGHT; i++) {
        if (i % 3 == 0) CHECK(got[i] == (rank + 1) * i + rank * (rank + 1) / 2);
        if (i % 3 == 1) CHECK(got[i] == i);
        if (i % 3 == 2) CHECK(got[i] == (rank == i % ranks ? i + ranks - 1 : -1));
    }
}

/* Persistent collectives are matched by the order in which they were made; the ranks may start them
 * in any (MPI 4.1, section 6.13). */
static void in_any_order(void) {
#if MPI_VERSION >= 4
    int one = 1, hundred = 100, root = 7 * (rank == 0), sums[2], sum;
    MPI_Request requests[3];
    MPI_Allreduce_init(&one, &sums[0], 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&hundred, &sums[1], 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Bcast_init(&root, 1, MPI_INT, 0, WORLD, MPI_INFO_NULL, &requests[2]);
    for (int round = 0; round < 4; round++) {
        sums[0] = sums[1] = 0;
        for (int i = 0; i < 3; i++) MPI_Start(&requests[(i * (1 + rank % 2) + rank + round) % 3]);
        /* Others are matched by the order of their calls. */
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        CHECK(sums[0] == ranks && sums[1] == 100 * ranks && sum == ranks && root == 7);
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
#endif
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int root = 0; root < ranks; root++) from_each_root(root);
    to_all();
    reductions();
    order();
    in_flight();
    in_any_order();
    MPI_Finalize();
    return 0;
}

/* Collectives between two groups (MPI 4.1, sections 6.2.3 and following), and the making of
 * inter-communicators. */
#include "conformance.h"

static MPI_Comm inter;
static int side, me, mine, theirs;

static void broadcast(void) {
    for (int from = 0; from < 2; from++)
        for (int root = 0; root < (from == side ? mine : theirs); root++) {
            int value = from == side && me == root ? 77 + root : 0;
            MPI_Bcast(&value, 1, MPI_INT, from == side ? (me == root ? MPI_ROOT : MPI_PROC_NULL)
                      : root, inter);
            CHECK(from == side ? value == (me == root ? 77 + root : 0) : value == 77 + root);
        }
}

static void rooted(void) {
    int *room = calloc(2 * theirs + 2, sizeof(int)), got[2];
    for (int to = 0; to < 2; to++) {
        int root = to == side ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, values[2] = {me, 10 + me};
        memset(room, 0, sizeof(int) * 2 * theirs);
        MPI_Gather(values, 2, MPI_INT, room, 2, MPI_INT, root, inter);
        for (int i = 0; i < theirs && root == MPI_ROOT; i++)
            CHECK(room[2 * i] == i && room[2 * i + 1] == 10 + i);
        for (int i = 0; i < 2 * theirs; i++)
            room[i] = 100 * side + i;
        got[0] = got[1] = -1;
        MPI_Scatter(room, 2, MPI_INT, got, 2, MPI_INT, root, inter);
        CHECK(to == side ? got[0] == -1 : got[0] == 100 * to + 2 * me
              && got[1] == 100 * to + 2 * me + 1);
        int sum = -1, one = me + 1;
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, inter);
        CHECK(root == MPI_ROOT ? sum == theirs * (theirs + 1) / 2 : sum == -1);
    }
    free(room);
}

static void of_lengths(void) {
    int *counts = malloc(sizeof(int) * theirs), *places = malloc(sizeof(int) * theirs), *room,
        values[64], length = me + 1;
    for (int i = 0; i < theirs; i++)
        counts[i] = i + 1, places[i] = i * (i + 1) / 2 + i;
    room = calloc((theirs + 1) * (theirs + 2), sizeof(int));
    for (int i = 0; i < length; i++)
        values[i] = 10 * me + i;
    MPI_Allgatherv(values, length, MPI_INT, room, counts, places, MPI_INT, inter);
    for (int i = 0; i < theirs; i++)
        for (int j = 0; j <= i; j++)
            CHECK(room[places[i] + j] == 10 * i + j);
    int root = side == 1 ? (me == mine - 1 ? MPI_ROOT : MPI_PROC_NULL) : theirs - 1;
    memset(room, 0, sizeof(int) * (theirs + 1) * (theirs + 2));
    MPI_Gatherv(values, length, MPI_INT, room, counts, places, MPI_INT, root, inter);
    for (int i = 0; i < theirs && root == MPI_ROOT; i++)
        CHECK(room[places[i] + i] == 11 * i);
    for (int i = 0; i < theirs && root == MPI_ROOT; i++)
        for (int j = 0; j <= i; j++)
            room[places[i] + j] = 1000 + 10 * i + j;
    MPI_Scatterv(room, counts, places, MPI_INT, values, length, MPI_INT, root, inter);
    for (int j = 0; j < length && side == 0; j++)
        CHECK(values[j] == 1000 + 10 * me + j);
    free(counts), free(places), free(room);
}

static void all(void) {
    int *from = malloc(sizeof(int) * theirs), *into = calloc(theirs, sizeof(int)), sum = 0,
        one = me + 10 * side;
    MPI_Allgather(&one, 1, MPI_INT, into, 1, MPI_INT, inter);
    for (int i = 0; i < theirs; i++) {
        CHECK(into[i] == i + 10 * !side);
        from[i] = 100 * me + i;
    }
    MPI_Alltoall(from, 1, MPI_INT, into, 1, MPI_INT, inter);
    for (int i = 0; i < theirs; i++)
        CHECK(into[i] == 100 * i + me);
    one = me + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == theirs * (theirs + 1) / 2);
    MPI_Barrier(inter);
    int *counts = malloc(sizeof(int) * theirs), *places = malloc(sizeof(int) * theirs);
    MPI_Datatype *types = malloc(sizeof(MPI_Datatype) * theirs);
    for (int i = 0; i < theirs; i++)
        counts[i] = 1, places[i] = i, types[i] = MPI_INT;
    MPI_Alltoallv(from, counts, places, MPI_INT, into, counts, places, MPI_INT, inter);
    for (int i = 0; i < theirs; i++) {
        CHECK(into[i] == 100 * i + me);
        places[i] = i * (int)sizeof(int), into[i] = 0;
    }
    MPI_Alltoallw(from, counts, places, types, into, counts, places, types, inter);
    for (int i = 0; i < theirs; i++)
        CHECK(into[i] == 100 * i + me);
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_MAX, inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == theirs);
    free(from), free(into), free(counts), free(places), free(types);
}

static void messages(void) {
    int size, is_inter, got = -1;
    MPI_Group here, there;
    MPI_Status status;
    MPI_Comm_test_inter(inter, &is_inter);
    MPI_Comm_remote_size(inter, &size);
    CHECK(is_inter && size == theirs);
    MPI_Comm_group(inter, &here);
    MPI_Comm_remote_group(inter, &there);
    MPI_Group_size(here, &size);
    CHECK(size == mine);
    MPI_Group_size(there, &size);
    CHECK(size == theirs);
    MPI_Group_free(&here);
    MPI_Group_free(&there);
    if (me < theirs) {
        MPI_Sendrecv(&rank, 1, MPI_INT, me, 3, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter,
                     &status);
        CHECK(status.MPI_SOURCE == me && status.MPI_TAG == 3 && got == 2 * me + !side);
    }
}

static void descendants(void) {
    MPI_Comm copy, merged, part;
    int size, number, result;
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_compare(inter, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Intercomm_merge(copy, side, &merged);
    MPI_Comm_size(merged, &size);
    MPI_Comm_rank(merged, &number);
    CHECK(size == ranks && number == (side == 0 ? me : theirs + me));
    MPI_Comm_split(inter, me % 2, me, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_remote_size(part, &size);
        CHECK(size == (theirs + (me % 2 == 0)) / 2);
        MPI_Barrier(part);
        MPI_Comm_free(&part);
    } else {
        CHECK(me % 2 == 1 && theirs == 1);
    }
    MPI_Comm_free(&merged);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (ranks > 1) {
        MPI_Comm local;
        side = rank % 2;
        MPI_Comm_split(WORLD, side, rank, &local);
        MPI_Comm_rank(local, &me);
        MPI_Comm_size(local, &mine);
        theirs = ranks - mine;
        MPI_Intercomm_create(local, 0, WORLD, !side, 12, &inter);
        messages();
        broadcast();
        rooted();
        of_lengths();
        all();
        descendants();
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
    }
    MPI_Finalize();
    return 0;
}

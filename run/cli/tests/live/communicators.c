/* Groups, communicators, inter-communicators, attributes, and names. */
#include "conformance.h"

static void groups(void) {
    MPI_Group world, odd, even, both, none;
    int size, result, place, zero = 0, last = ranks - 1, there;
    MPI_Comm_group(WORLD, &world);
    int range[1][3] = {{0, ranks - 1, 2}};
    MPI_Group_range_incl(world, 1, range, &even);
    MPI_Group_range_excl(world, 1, range, &odd);
    MPI_Group_size(odd, &size);
    CHECK(size == ranks / 2);
    MPI_Group_union(odd, even, &both);
    MPI_Group_compare(both, world, &result);
    CHECK(result == (ranks == 1 ? MPI_IDENT : MPI_SIMILAR));
    MPI_Group_intersection(odd, even, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    MPI_Group_translate_ranks(world, 1, &zero, both, &there);
    CHECK(there == ranks / 2);
    MPI_Group_translate_ranks(world, 1, &zero, odd, &there);
    CHECK(there == MPI_UNDEFINED);
    MPI_Group_rank(even, &place);
    CHECK(place == (rank % 2 ? MPI_UNDEFINED : rank / 2));
    MPI_Comm made, reversed;
    MPI_Comm_create(WORLD, even, &made);
    CHECK((made == MPI_COMM_NULL) == (rank % 2 == 1));
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(WORLD, even, 5, &made);
        MPI_Comm_size(made, &size);
        CHECK(size == (ranks + 1) / 2);
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
        CHECK(sum == (ranks + 1) / 2 * ((ranks + 1) / 2 - 1));
        MPI_Comm_free(&made);
    }
    MPI_Comm_split(WORLD, 0, ranks - rank, &reversed);
    MPI_Comm_compare(WORLD, reversed, &result);
    CHECK(result == (ranks == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    MPI_Comm_rank(reversed, &place);
    CHECK(place == last - rank);
    MPI_Comm_free(&reversed);
    MPI_Comm_split(WORLD, rank == last ? MPI_UNDEFINED : 1, 0, &made);
    CHECK((made == MPI_COMM_NULL) == (rank == last));
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    CHECK(made != MPI_COMM_NULL);
    MPI_Comm_free(&made);
    MPI_Group_free(&world);
    MPI_Group_free(&odd);
    MPI_Group_free(&even);
    MPI_Group_free(&both);
}

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag) {
    (void)comm, (void)key;
    copies++;
    CHECK(*(int *)extra == 77);
    *(void **)made = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int removed(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void attributes(void) {
    static int extra = 77;
    static char place[4];
    int key, flag, *top, length;
    char name[MPI_MAX_OBJECT_NAME];
    char *got;
    MPI_Comm one, two, three;
    MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &top, &flag);
    CHECK(flag && *top >= 32767);
    MPI_Comm_create_keyval(copy, removed, &key, &extra);
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Comm_get_attr(one, key, &got, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(one, key, place);
    MPI_Comm_dup(one, &two);
    MPI_Comm_get_attr(two, key, &got, &flag);
    CHECK(flag && got == place + 1 && copies == 1);
    MPI_Request request;
    MPI_Comm_idup(two, &three, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(three, key, &got, &flag);
    CHECK(flag && got == place + 2);
    MPI_Comm_delete_attr(one, key);
    CHECK(deletions == 1);
    MPI_Comm_set_attr(two, key, place);
    CHECK(deletions == 2);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
    MPI_Comm_free(&three);
    CHECK(deletions == 4);
    MPI_Comm_get_name(WORLD, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
    MPI_Comm_dup(WORLD, &one);
    MPI_Comm_get_name(one, name, &length);
    CHECK(length == 0);
    MPI_Comm_set_name(one, "mine");
    MPI_Comm_get_name(one, name, &length);
    CHECK(!strcmp(name, "mine"));
    MPI_Comm_free(&one);
}

/* The even ranks on one side, the odd ones on the other: their collectives, by both sides' rules.
 */
static void between(void) {
    if (ranks < 2) return;
    int side = rank % 2, here, there, flag, place, all[32], value = -1, sum, mine = rank;
    MPI_Comm half, inter, merged;
    MPI_Comm_split(WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, 1 - side, 9, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_size(inter, &here);
    MPI_Comm_remote_size(inter, &there);
    MPI_Comm_rank(inter, &place);
    CHECK(flag && here == (ranks + 1 - side) / 2 && there == ranks - here && place == rank / 2);
    /* To the remote rank of the same number, where there is one. */
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    if (place < there) {
        MPI_Isend(&mine, 1, MPI_INT, place, 1, inter, &request);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, &status);
        CHECK(value == 2 * place + 1 - side && status.MPI_SOURCE == place);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(inter);
    /* From the last even rank to all odd ones. */
    int root = (ranks + 1) / 2 - 1;
    value = rank * 3;
    MPI_Bcast(&value, 1, MPI_INT, side ? root : place == root ? MPI_ROOT : MPI_PROC_NULL, inter);
    CHECK(value == (side ? root * 6 : rank * 3));
    /* Each side gets what the other side gives. */
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    int expected = 0;
    for (int i = 1 - side; i < ranks; i += 2) expected += i;
    CHECK(sum == expected);
    MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < there; i++) CHECK(all[i] == 2 * i + 1 - side);
    int out[32];
    for (int i = 0; i < there; i++) out[i] = 100 * rank + i;
    MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < there; i++) CHECK(all[i] == 100 * (2 * i + 1 - side) + place);
    /* The odd ranks gather into the first even one, which scatters back. */
    int at = side ? 0 : place == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, at, inter);
    if (at == MPI_ROOT) for (int i = 0; i < there; i++) CHECK(all[i] == 2 * i + 1);
    MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, at, inter);
    if (side) CHECK(value == rank);
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, at, inter);
    if (at == MPI_ROOT) CHECK(sum == 2 * there - 1);
    MPI_Intercomm_merge(inter, !side, &merged);
    MPI_Comm_rank(merged, &place);
    /* The odd side says low, so it comes first. */
    CHECK(place == (side ? rank / 2 : ranks / 2 + rank / 2));
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* More communicators than there can be at a time, one after the other; the others free theirs
 * before rank 0 uses its own first. */
static void one_by_one(void) {
    for (int round = 0; round < 8500; round++) {
        MPI_Comm copy;
        int mine = round, got = -1;
        MPI_Comm_dup(WORLD, &copy);
        if (rank) MPI_Comm_free(&copy);
        if (round % 100 == 0) MPI_Barrier(WORLD);
        if (rank) continue;
        MPI_Sendrecv(&mine, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, copy, MPI_STATUS_IGNORE);
        CHECK(got == round);
        MPI_Comm_free(&copy);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    one_by_one();
    groups();
    attributes();
    between();
    MPI_Finalize();
    return 0;
}

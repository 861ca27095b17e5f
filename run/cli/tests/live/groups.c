/* Groups: how they are made, compared and translated; communicators of them. */
#include "conformance.h"

static int members(MPI_Group group, const int *expected, int count) {
    MPI_Group all;
    int size, theirs[32], mine[32];
    MPI_Group_size(group, &size);
    if (size != count)
        return 0;
    MPI_Comm_group(WORLD, &all);
    for (int i = 0; i < size; i++)
        mine[i] = i;
    MPI_Group_translate_ranks(group, size, mine, all, theirs);
    MPI_Group_free(&all);
    return size == 0 || !memcmp(theirs, expected, sizeof(int) * count);
}

static void of_seven(void) {
    MPI_Group all, some, others, result;
    int outcome, mine;
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 3, (int[]){5, 0, 2}, &some);
    CHECK(members(some, (int[]){5, 0, 2}, 3));
    MPI_Group_excl(all, 3, (int[]){5, 0, 2}, &others);
    CHECK(members(others, (int[]){1, 3, 4, 6}, 4));
    MPI_Group_union(others, some, &result);
    CHECK(members(result, (int[]){1, 3, 4, 6, 5, 0, 2}, 7));
    MPI_Group_compare(result, all, &outcome);
    CHECK(outcome == MPI_SIMILAR);
    MPI_Group_free(&result);
    MPI_Group_intersection(some, others, &result);
    CHECK(result == MPI_GROUP_EMPTY);
    MPI_Group_difference(all, some, &result);
    MPI_Group_compare(result, others, &outcome);
    CHECK(outcome == MPI_IDENT);
    MPI_Group_free(&result);
    MPI_Group_difference(some, all, &result);
    CHECK(result == MPI_GROUP_EMPTY);
    int ranges[2][3] = {{6, 2, -2}, {0, 1, 1}};
    MPI_Group_range_incl(all, 2, ranges, &result);
    CHECK(members(result, (int[]){6, 4, 2, 0, 1}, 5));
    MPI_Group_free(&result);
    MPI_Group_range_excl(all, 2, ranges, &result);
    CHECK(members(result, (int[]){3, 5}, 2));
    MPI_Group_free(&result);
    MPI_Group_rank(some, &mine);
    CHECK(mine == (rank == 5 ? 0 : rank == 0 ? 1 : rank == 2 ? 2 : MPI_UNDEFINED));
    int from[3] = {1, MPI_PROC_NULL, 2}, to[3];
    MPI_Group_translate_ranks(some, 3, from, others, to);
    CHECK(to[0] == MPI_UNDEFINED && to[1] == MPI_PROC_NULL && to[2] == MPI_UNDEFINED);
    MPI_Group_compare(some, others, &outcome);
    CHECK(outcome == MPI_UNEQUAL);
    /* Both sets make a communicator at once, without the others. */
    MPI_Comm made;
    int sum, size;
    MPI_Comm_create_group(WORLD, mine == MPI_UNDEFINED ? others : some, 3, &made);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == (mine == MPI_UNDEFINED ? 14 : 7));
    MPI_Comm_free(&made);
    MPI_Comm_create(WORLD, some, &made);
    CHECK((made == MPI_COMM_NULL) == (mine == MPI_UNDEFINED));
    if (made != MPI_COMM_NULL) {
        MPI_Comm_rank(made, &size);
        CHECK(size == mine);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    MPI_Group_free(&others);
    CHECK(all == MPI_GROUP_NULL);
}

static void of_any(void) {
    MPI_Group all, none, own;
    int size, mine, outcome;
    MPI_Comm one, two;
    MPI_Request request;
    MPI_Comm_group(WORLD, &all);
    MPI_Group_size(MPI_GROUP_EMPTY, &size);
    MPI_Group_rank(MPI_GROUP_EMPTY, &mine);
    CHECK(size == 0 && mine == MPI_UNDEFINED);
    MPI_Group_incl(all, 0, NULL, &none);
    MPI_Group_compare(none, MPI_GROUP_EMPTY, &outcome);
    CHECK(outcome == MPI_IDENT);
    MPI_Comm_group(MPI_COMM_SELF, &own);
    CHECK(members(own, &rank, 1));
    MPI_Group_free(&own);
    MPI_Comm_create(WORLD, MPI_GROUP_EMPTY, &one);
    CHECK(one == MPI_COMM_NULL);
    /* A group outlives its communicator. */
    MPI_Comm_split(WORLD, 0, -rank, &one);
    MPI_Comm_group(one, &own);
    MPI_Comm_compare(WORLD, one, &outcome);
    CHECK(outcome == (ranks == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    MPI_Comm_free(&one);
    MPI_Group_rank(own, &mine);
    CHECK(mine == ranks - 1 - rank);
    MPI_Group_free(&own);
    MPI_Comm_idup(WORLD, &one, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(WORLD, one, &outcome);
    CHECK(outcome == MPI_CONGRUENT);
    MPI_Comm_compare(one, one, &outcome);
    CHECK(outcome == MPI_IDENT);
    /* Colours as they come; who has none gets nothing. */
    MPI_Comm_split(one, rank % 3 == 2 ? MPI_UNDEFINED : rank % 3, 0, &two);
    CHECK((two == MPI_COMM_NULL) == (rank % 3 == 2));
    if (two != MPI_COMM_NULL) {
        MPI_Comm_size(two, &size);
        CHECK(size == (ranks - rank % 3 + 2) / 3);
        MPI_Comm_free(&two);
    }
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_get_name(WORLD, name, &size);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && size == 14);
    MPI_Comm_set_name(one, "mine");
    MPI_Comm_get_name(one, name, &size);
    CHECK(!strcmp(name, "mine"));
    MPI_Comm_free(&one);
    MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &one);
    MPI_Comm_size(one, &size);
    CHECK(size >= 1 && size <= ranks);
    MPI_Comm_free(&one);
    MPI_Comm_split_type(WORLD, MPI_UNDEFINED, rank, MPI_INFO_NULL, &one);
    CHECK(one == MPI_COMM_NULL);
    MPI_Group_free(&all);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    of_any();
    if (ranks == 7)
        of_seven();
    MPI_Finalize();
    return 0;
}

/* Buffers that must not be what they are, in each collective; what has failed leaves nothing
 * behind. */
#include "conformance.h"

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

#define REFUSED(call) CHECK(class_of(call) == MPI_ERR_BUFFER)

static int a[8], b[8], counts[1] = {1}, places[1];

/* What is sent lies where something is received. */
static void the_same(MPI_Comm comm) {
    REFUSED(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Reduce(a, a, 1, MPI_INT, MPI_SUM, 0, comm));
    REFUSED(MPI_Scan(a, a, 1, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Reduce_scatter_block(a, a, 1, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Reduce_scatter(a, a, counts, MPI_INT, MPI_SUM, comm));
    REFUSED(MPI_Gather(a, 1, MPI_INT, a, 1, MPI_INT, 0, comm));
    REFUSED(MPI_Gatherv(a, 1, MPI_INT, a, counts, places, MPI_INT, 0, comm));
    REFUSED(MPI_Scatter(a, 1, MPI_INT, a, 1, MPI_INT, 0, comm));
    REFUSED(MPI_Allgather(a, 1, MPI_INT, a, 1, MPI_INT, comm));
    REFUSED(MPI_Allgatherv(a, 1, MPI_INT, a, counts, places, MPI_INT, comm));
    REFUSED(MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, comm));
    REFUSED(MPI_Alltoallv(a, counts, places, MPI_INT, a, counts, places, MPI_INT, comm));
}

static void in_place(MPI_Comm comm) {
    REFUSED(MPI_Gather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, comm));
    REFUSED(MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, a, 1, MPI_INT, 0, comm));
    REFUSED(MPI_Allgather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
    REFUSED(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm));
}

/* Nothing, and what lies between, is no overlap. */
static void allowed(MPI_Comm comm) {
    MPI_Datatype odd, even;
    const int one = 1, lengths[1] = {1}, second[1] = {1};
    CHECK(MPI_Allreduce(a, a, 0, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    CHECK(MPI_Allgather(a, 0, MPI_INT, a, 0, MPI_INT, comm) == MPI_SUCCESS);
    MPI_Type_indexed(one, lengths, second, MPI_INT, &odd);
    MPI_Type_contiguous(1, MPI_INT, &even);
    MPI_Type_commit(&odd);
    MPI_Type_commit(&even);
    a[0] = 3, a[1] = 4;
    CHECK(MPI_Gatherv(a, 1, even, a, counts, places, odd, 0, comm) == MPI_SUCCESS && a[1] == 3);
    MPI_Type_free(&odd);
    MPI_Type_free(&even);
}

static int refuse(MPI_Datatype type, int key, void *extra, void *value, void *place, int *flag) {
    (void)type, (void)key, (void)extra, (void)value, (void)place;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static void no_copy(void) {
    int key;
    MPI_Datatype type, twin = MPI_INT;
    MPI_Type_create_keyval(refuse, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, NULL);
    CHECK(MPI_Type_dup(type, &twin) != MPI_SUCCESS && twin == MPI_DATATYPE_NULL);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
}

/* Only what also fetches may do nothing. */
static void nothing_to_accumulate(void) {
    MPI_Win win;
    MPI_Win_create(b, sizeof b, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    CHECK(class_of(MPI_Accumulate(a, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win)) == MPI_ERR_OP);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    the_same(MPI_COMM_SELF);
    in_place(MPI_COMM_SELF);
    allowed(MPI_COMM_SELF);
    no_copy();
    nothing_to_accumulate();
    MPI_Finalize();
    return 0;
}

/* Functions of the program that MPI calls may call MPI themselves: reductions, attribute functions,
 * error handlers, generalized requests. */
#include "conformance.h"

static void sum(void *from, void *into, int *count, MPI_Datatype *datatype) {
    int size, own;
    MPI_Aint lower, extent;
    double before = MPI_Wtime();
    MPI_Type_size(*datatype, &size);
    MPI_Type_get_extent(*datatype, &lower, &extent);
    MPI_Comm_rank(WORLD, &own);
    CHECK(size == sizeof(int) && extent == sizeof(int) && own == rank);
    CHECK(MPI_Wtime() >= before);
    for (int i = 0; i < *count; i++) ((int *)into)[i] += ((int *)from)[i];
}

static void reductions(void) {
    int given[3] = {rank, 1, 10 * rank}, got[3];
    MPI_Op op;
    MPI_Request request;
    MPI_Op_create(sum, 0, &op);
    MPI_Allreduce(given, got, 3, MPI_INT, op, WORLD);
    CHECK(got[0] == ranks * (ranks - 1) / 2 && got[1] == ranks && got[2] == 10 * got[0]);
    MPI_Iallreduce(given, got, 3, MPI_INT, op, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got[1] == ranks);
    MPI_Scan(given, got, 3, MPI_INT, op, WORLD);
    CHECK(got[1] == rank + 1);
    MPI_Reduce_local(given, got, 3, MPI_INT, op);
    CHECK(got[1] == rank + 2);
    MPI_Op_free(&op);
}

static int other_key, copied, deleted;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *place, int *flag) {
    int size, there, *other;
    MPI_Group group;
    (void)key, (void)extra;
    MPI_Comm_size(comm, &size);
    MPI_Comm_get_attr(comm, other_key, &other, &there);
    CHECK(size == ranks && there && other == &other_key);
    MPI_Comm_group(comm, &group);
    MPI_Group_free(&group);
    *(void **)place = value;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    MPI_Comm own;
    int size;
    (void)key, (void)value, (void)extra;
    MPI_Comm_size(comm, &size);
    CHECK(size == ranks);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_free(&own);
    deleted++;
    return MPI_SUCCESS;
}

static void attributes(void) {
    MPI_Comm first, second;
    int key;
    MPI_Comm_dup(WORLD, &first);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other_key, NULL);
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(first, other_key, &other_key);
    MPI_Comm_set_attr(first, key, &copied);
    MPI_Comm_dup(first, &second);
    CHECK(copied == 1 && deleted == 0);
    MPI_Comm_set_attr(second, key, &deleted);
    CHECK(deleted == 1);
    MPI_Comm_delete_attr(second, key);
    CHECK(deleted == 2);
    MPI_Comm_free(&second);
    MPI_Comm_free(&first);
    CHECK(copied == 1 && deleted == 3);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&other_key);
}

static int depth, deepest, handled;

/* Its own call fails, which it is told of in turn. */
static void handle(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length, value = 0;
    depth++;
    handled++;
    if (depth > deepest) deepest = depth;
    CHECK(*comm == MPI_COMM_SELF);
    MPI_Error_string(*code, text, &length);
    CHECK(length > 0);
    if (depth == 1) MPI_Send(&value, 1, MPI_INT, 0, -5, *comm);
    depth--;
}

static void errors(void) {
    MPI_Errhandler handler;
    int value = 0;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_SELF);
    CHECK(handled == 2 && deepest == 2);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
    CHECK(handled == 4 && depth == 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static int released;

static int query(void *state, MPI_Status *status) {
    int own;
    (void)state;
    MPI_Comm_rank(WORLD, &own);
    MPI_Status_set_elements(status, MPI_INT, own);
    MPI_Status_set_cancelled(status, 1);
    return MPI_SUCCESS;
}

static int release(void *state) {
    MPI_Datatype pair;
    (void)state;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_free(&pair);
    released++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    if (!complete) MPI_Grequest_complete(*(MPI_Request *)state);
    return MPI_SUCCESS;
}

static void requests(void) {
    MPI_Request request;
    MPI_Status status;
    int flag, count;
    MPI_Grequest_start(query, release, cancel, &request, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(flag && count == rank && released == 1 && request == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    reductions();
    attributes();
    errors();
    requests();
    MPI_Finalize();
    return 0;
}

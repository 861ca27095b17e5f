/* Attributes of communicators and datatypes; what is known before the program asks. */
#include "conformance.h"

static int copied, deleted, order[8], refuses;
static char first, second;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *place, int *flag) {
    (void)comm, (void)key;
    copied++;
    CHECK(extra == &first);
    *(void **)place = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int leave_out(MPI_Comm comm, int key, void *extra, void *value, void *place, int *flag) {
    (void)comm, (void)key, (void)extra, (void)value, (void)place;
    *flag = 0;
    return MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *value, void *place, int *flag) {
    (void)comm, (void)key, (void)extra, (void)value, (void)place;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    order[deleted++ % 8] = (int)(MPI_Aint)value;
    return refuses ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int forget_type(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void predefined(void) {
    int *value, flag;
    MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
    MPI_Comm_get_attr(WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    CHECK(!flag || *value == 0 || *value == 1);
    MPI_Comm_get_attr(WORLD, MPI_HOST, &value, &flag);
    CHECK(!flag || *value == MPI_PROC_NULL || (*value >= 0 && *value < ranks));
    MPI_Comm_get_attr(WORLD, MPI_IO, &value, &flag);
    CHECK(!flag || *value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL
          || (*value >= 0 && *value < ranks));
    MPI_Comm_get_attr(WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    CHECK(!flag || *value > 0);
    MPI_Comm_get_attr(WORLD, MPI_LASTUSEDCODE, &value, &flag);
    CHECK(flag && *value >= MPI_ERR_LASTCODE);
}

static void of_communicators(void) {
    int key, bare, left, flag;
    void *value = NULL;
    MPI_Comm one, two;
    MPI_Comm_dup(WORLD, &one);
    MPI_Comm_create_keyval(copy, forget, &key, &first);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &bare, NULL);
    MPI_Comm_create_keyval(leave_out, forget, &left, NULL);
    MPI_Comm_get_attr(one, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(one, key, (void *)(MPI_Aint)10);
    MPI_Comm_set_attr(one, bare, &second);
    MPI_Comm_set_attr(one, left, (void *)(MPI_Aint)99);
    /* A new value ends the old one. */
    MPI_Comm_set_attr(one, key, (void *)(MPI_Aint)20);
    CHECK(deleted == 1 && order[0] == 10);
    MPI_Comm_dup(one, &two);
    CHECK(copied == 1);
    MPI_Comm_get_attr(two, key, &value, &flag);
    CHECK(flag && (MPI_Aint)value == 21);
    MPI_Comm_get_attr(two, bare, &value, &flag);
    CHECK(!flag);
    MPI_Comm_get_attr(two, left, &value, &flag);
    CHECK(!flag);
    /* A freed key lives on with its values. */
    int freed = key;
    MPI_Comm_free_keyval(&freed);
    CHECK(freed == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&two);
    CHECK(deleted == 2 && order[1] == 21);
    MPI_Comm_delete_attr(one, left);
    CHECK(deleted == 3 && order[2] == 99);
    MPI_Comm_free(&one);
    CHECK(deleted == 4 && order[3] == 20);
    MPI_Comm_free_keyval(&bare);
    MPI_Comm_free_keyval(&left);
}

/* A copy that is refused is not made; a delete function that refuses keeps the value. */
static void refused(void) {
    int key, flag;
    void *value;
    MPI_Comm one, two = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(refuse_copy, forget, &key, NULL);
    MPI_Comm_set_attr(one, key, (void *)(MPI_Aint)5);
    CHECK(MPI_Comm_dup(one, &two) != MPI_SUCCESS);
    refuses = 1;
    CHECK(MPI_Comm_delete_attr(one, key) != MPI_SUCCESS);
    refuses = 0;
    MPI_Comm_get_attr(one, key, &value, &flag);
    CHECK(flag && (MPI_Aint)value == 5);
    CHECK(MPI_Comm_delete_attr(one, key) == MPI_SUCCESS);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&one);
}

static void of_datatypes(void) {
    int key, flag;
    void *value;
    MPI_Datatype type, twin;
    deleted = 0;
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, forget_type, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &first);
    MPI_Type_dup(type, &twin);
    MPI_Type_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == &first);
    MPI_Type_delete_attr(twin, key);
    MPI_Type_free(&twin);
    MPI_Type_free(&type);
    CHECK(deleted == 2);
    MPI_Type_free_keyval(&key);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    predefined();
    of_communicators();
    refused();
    of_datatypes();
    /* What is attached to the own communicator goes at the end, the last first. */
    int keys[3];
    deleted = 0;
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], (void *)(MPI_Aint)i);
    }
    MPI_Finalize();
    CHECK(deleted == 3 && order[0] == 2 && order[1] == 1 && order[2] == 0);
    return 0;
}

/* What is out of order or out of range fails with the right class. */
#include "check.h"

static int deleted;

static int forget(MPI_Win win, int keyval, void *value, void *extra) {
    (void)win, (void)keyval, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static void epochs(MPI_Win win) {
    int value = 0, old;
    MPI_Request request;
    MPI_Group group;
    MPI_Win_get_group(win, &group);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_test(win, &value), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        FAILS(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC);
    }
    MPI_Win_unlock(0, win);
    MPI_Win_post(group, 0, win);
    FAILS(MPI_Win_post(group, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    MPI_Win_start(group, 0, win);
    FAILS(MPI_Win_start(group, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, win);
    MPI_Get(&old, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Win_unlock(0, win);
    MPI_Group_free(&group);
}

static void arguments(MPI_Win win) {
    int value = 0, old;
    double real = 0, before;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    FAILS(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_lock(12345, 0, 0, win), MPI_ERR_LOCKTYPE);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    MPI_Win_fence(0, win);
    FAILS(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, -1, MPI_INT, win), MPI_ERR_COUNT);
    FAILS(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, pair, win), MPI_ERR_TYPE);
    FAILS(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    FAILS(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    FAILS(MPI_Get(&value, 1, MPI_INT, 0, 1000, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
    FAILS(MPI_Compare_and_swap(&real, &real, &before, MPI_DOUBLE, 0, 0, win), MPI_ERR_TYPE);
    MPI_Type_commit(&pair);
    FAILS(MPI_Fetch_and_op(&value, &old, pair, 0, 0, MPI_SUM, win), MPI_ERR_TYPE);
    MPI_Win_fence(0, win);
    FAILS(MPI_Win_attach(win, &value, sizeof value), MPI_ERR_RMA_FLAVOR);
    MPI_Type_free(&pair);
}

/* The end of an access is no number of 64 bits. */
static void too_far(MPI_Win win) {
    char bytes[4] = {0};
    MPI_Datatype far;
    MPI_Type_create_resized(MPI_CHAR, 0, (MPI_Aint)1 << 62, &far);
    MPI_Type_commit(&far);
    MPI_Win_lock_all(0, win);
    FAILS(MPI_Put(bytes, 2, MPI_CHAR, 0, 0, 2, far, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Put(bytes, 4, MPI_CHAR, rank, 0, 4, far, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Get(bytes, 4, MPI_CHAR, size - 1, 0, 4, far, win), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock_all(win);
    MPI_Type_free(&far);
}

/* Regions do not overlap; an empty one overlaps nothing. */
static void regions(void) {
    int memory[10];
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    FAILS(MPI_Win_attach(win, memory, sizeof memory), MPI_SUCCESS);
    FAILS(MPI_Win_attach(win, memory + 3, 0), MPI_SUCCESS);
    FAILS(MPI_Win_detach(win, memory), MPI_SUCCESS);
    FAILS(MPI_Win_attach(win, memory, sizeof memory), MPI_SUCCESS);
    FAILS(MPI_Win_attach(win, memory + 9, 8), MPI_ERR_RMA_ATTACH);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int memory[16] = {0}, keyval, one = 1, *got, flag, length, unit;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Aint bytes;
    MPI_Win win;
    FAILS(MPI_Win_create(memory, -1, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(memory, 16, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    epochs(win);
    arguments(win);
    too_far(win);
    regions();
    /* Memory of the program's own: nobody else can load from it. */
    MPI_Win_shared_query(win, 0, &bytes, &unit, &got);
    CHECK(rank == 0 ? got == memory && bytes == sizeof memory : bytes == 0);

    MPI_Win_get_name(win, name, &length);
    CHECK(length == 0);
    MPI_Win_set_name(win, "halo");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 4 && name[0] == 'h');
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &keyval, NULL);
    MPI_Win_set_attr(win, keyval, &one);
    MPI_Win_get_attr(win, keyval, &got, &flag);
    CHECK(flag && got == &one);
    MPI_Info info;
    char value[32];
    MPI_Win_get_info(win, &info);
    MPI_Info_get(info, "no_locks", 31, value, &flag);
    CHECK(flag && value[0] == 'f');
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    CHECK(deleted == 1);
    MPI_Win_free_keyval(&keyval);
    return end();
}

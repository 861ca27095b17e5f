/* Errors return their class through the handler of the communicator; information, clocks and the
 * environment. */
#include "conformance.h"
#include <unistd.h>

static int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void classes(void) {
    int value = 0, flag;
    MPI_Comm none = MPI_COMM_NULL, copy;
    MPI_Request request;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, ranks, 0, WORLD)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&value, 1, MPI_INT, 0, -5, WORLD)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(&value, -1, MPI_INT, 0, 0, WORLD)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, WORLD)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Comm_size(none, &flag)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, ranks, WORLD)) == MPI_ERR_ROOT);
    CHECK(class_of(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_OP_NULL, WORLD)) == MPI_ERR_OP);
    int *most;
    MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &most, &flag);
    CHECK(MPI_Sendrecv(&rank, 1, MPI_INT, rank, *most, &value, 1, MPI_INT, rank, *most, WORLD,
                       MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(value == rank);
    MPI_Datatype loose;
    MPI_Type_contiguous(2, MPI_INT, &loose);
    CHECK(class_of(MPI_Send(&value, 1, loose, 0, 0, WORLD)) == MPI_ERR_TYPE);
    MPI_Type_free(&loose);
    /* A communicator inherits the handler. */
    MPI_Comm_dup(WORLD, &copy);
    CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, ranks + 3, 0, copy, MPI_STATUS_IGNORE))
          == MPI_ERR_RANK);
    /* A message that does not fit. */
    int long_one[3] = {1, 2, 3}, short_one[4] = {0, 0, 0, 8};
    MPI_Isend(long_one, 3, MPI_INT, rank, 1, copy, &request);
    CHECK(class_of(MPI_Recv(short_one, 2, MPI_INT, rank, 1, copy, MPI_STATUS_IGNORE))
          == MPI_ERR_TRUNCATE);
    CHECK(short_one[2] == 0 && short_one[3] == 8);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
}

static int called;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    called = class_of(*code);
}

static void handled(void) {
    int class, code, length, value = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Errhandler mine;
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
    MPI_Errhandler_free(&mine);
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_SELF);
    CHECK(called == MPI_ERR_RANK);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the coffee is cold");
    MPI_Error_string(code, text, &length);
    CHECK(class > MPI_ERR_LASTCODE && class_of(code) == class && !strcmp(text, "the coffee is cold")
          && length == 18);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    CHECK(called == class);
    MPI_Error_string(MPI_ERR_RANK, text, &length);
    CHECK(length > 0);
}

static void information(void) {
    MPI_Info info, copy;
    int flag, count, length = 16;
    char text[MPI_MAX_INFO_VAL + 1];
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "red");
    MPI_Info_set(info, "size", "10");
    MPI_Info_set(info, "colour", "blue");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "size");
    MPI_Info_get_nkeys(info, &count);
    CHECK(count == 1);
#if MPI_VERSION >= 4
    MPI_Info_get_string(copy, "size", &length, text, &flag);
    CHECK(flag && length == 3 && !strcmp(text, "10"));
    MPI_Info_get_string(info, "size", &length, text, &flag);
    CHECK(!flag);
#endif
    MPI_Info_get(copy, "size", 8, text, &flag);
    CHECK(flag && !strcmp(text, "10"));
    MPI_Info_get_valuelen(copy, "size", &length, &flag);
    CHECK(flag && length == 2);
    MPI_Info_get_nthkey(copy, 0, text);
    CHECK(!strcmp(text, "colour"));
    MPI_Info_get(info, "size", 8, text, &flag);
    CHECK(!flag);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL);
}

static int ended;

static int at_end(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    int flag = 1;
    MPI_Finalized(&flag);
    CHECK(!flag);
    ended = 1;
    return MPI_SUCCESS;
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static int tells_kinds(MPI_Info info) {
    int length = MPI_MAX_INFO_VAL, flag;
    char text[MPI_MAX_INFO_VAL];
    MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, text, &flag);
    MPI_Info_free(&info);
    return flag && !strncmp(text, "mpi,system", 10);
}

/* What memory calls take (MPI 4.1, section 11.4.3). */
static void memory_kinds(void) {
    char name[64];
    MPI_Info info;
    MPI_Win window;
    MPI_File file;
    MPI_Session session;
    MPI_Info_dup(MPI_INFO_ENV, &info);
    CHECK(tells_kinds(info));
    MPI_Comm_get_info(WORLD, &info);
    CHECK(tells_kinds(info));
    MPI_Win_create(name, sizeof name, 1, MPI_INFO_NULL, WORLD, &window);
    MPI_Win_get_info(window, &info);
    CHECK(tells_kinds(info));
    MPI_Win_free(&window);
    snprintf(name, sizeof name, "/tmp/kinds-%d-%d", (int)getpid(), rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_get_info(file, &info);
    CHECK(tells_kinds(info));
    MPI_File_close(&file);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    CHECK(tells_kinds(info));
    MPI_Session_finalize(&session);
}
#else
static void memory_kinds(void) {}
#endif

int main(int argc, char **argv) {
    int provided, flag, key, length, version, sub;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_FUNNELED);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    MPI_Get_version(&version, &sub);
    CHECK(version == MPI_VERSION && sub == MPI_SUBVERSION);
    MPI_Get_processor_name(name, &length);
    CHECK(length == (int)strlen(name) && length > 0);
    classes();
    handled();
    information();
    memory_kinds();
    double before = MPI_Wtime();
    MPI_Barrier(WORLD);
    CHECK(MPI_Wtime() >= before && MPI_Wtick() > 0);
    void *memory;
    MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
    memset(memory, 1, 1000);
    MPI_Free_mem(memory);
    /* Attributes of the own communicator go first when all ends. */
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Finalize();
    CHECK(ended);
    MPI_Finalized(&flag);
    CHECK(flag);
    return 0;
}

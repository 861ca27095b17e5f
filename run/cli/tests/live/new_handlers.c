/* Errors of calls that make a communicator of groups, or a session, go to the error handler that
 * the call is given (MPI 4.1, sections 7.4.2, 7.6.2 and 11.3.1). With an argument: the call of that
 * name fails with a handler that ends the program. */
#include "conformance.h"

static int calls, last;

static void handle(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    calls++;
    MPI_Error_class(*code, &last);
}

/* The handler was called once since the last time, for an error of a class. */
static int heard(int class) {
    int once = calls == 1 && last == class;
    calls = 0;
    return once;
}

static void fatal(const char *call, MPI_Group group) {
    MPI_Comm comm;
    if (!strcmp(call, "session")) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, NULL);
    if (!strcmp(call, "group"))
        MPI_Comm_create_from_group(group, "a", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    if (!strcmp(call, "groups"))
        MPI_Intercomm_create_from_groups(group, 0, group, 0, "a", MPI_INFO_NULL,
                                         MPI_ERRORS_ARE_FATAL, &comm);
    printf("%s goes on\n", call);
}

int main(int argc, char **argv) {
    MPI_Session session;
    MPI_Group everybody;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler handler;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (argc > 1) fatal(argv[1], MPI_GROUP_NULL);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &everybody);
    MPI_Comm_create_from_group(everybody, "a", MPI_INFO_NULL, handler, NULL);
    CHECK(heard(MPI_ERR_ARG));
    MPI_Comm_create_from_group(MPI_GROUP_NULL, "a", MPI_INFO_NULL, handler, &comm);
    CHECK(heard(MPI_ERR_GROUP));
    MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, everybody, 0, "a", MPI_INFO_NULL, handler,
                                     &comm);
    CHECK(heard(MPI_ERR_GROUP));
    int code = MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "a", MPI_INFO_NULL, handler, &comm);
    CHECK(code == MPI_SUCCESS && calls == 0 && comm == MPI_COMM_NULL);
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL) != MPI_SUCCESS);
    MPI_Group_free(&everybody);
    MPI_Errhandler_free(&handler);
    MPI_Session_finalize(&session);
    return 0;
}

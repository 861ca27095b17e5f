/* What MPI_T counts: the messages of a rank and their bytes, from when a handle starts until it
 * stops. */
#include "check.h"

#define VARIABLES 4

static const char *names[VARIABLES] = {"messages_sent", "bytes_sent", "messages_received",
                                       "bytes_received"};
static MPI_T_pvar_handle handles[VARIABLES];
static MPI_T_pvar_session session;

static void counted(unsigned long long messages, unsigned long long bytes) {
    for (int variable = 0; variable < VARIABLES; variable++) {
        unsigned long long number = 0;
        CHECK(MPI_T_pvar_read(session, handles[variable], &number) == MPI_SUCCESS);
        CHECK(number == (variable % 2 ? bytes : messages));
    }
}

int main(int argc, char **argv) {
    int level, index, count;
    char out[3000] = {0}, in[3000];
    MPI_Request requests[2];
    begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level) == MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    for (int variable = 0; variable < VARIABLES; variable++) {
        int class = variable % 2 ? MPI_T_PVAR_CLASS_AGGREGATE : MPI_T_PVAR_CLASS_COUNTER;
        CHECK(MPI_T_pvar_get_index(names[variable], class, &index) == MPI_SUCCESS);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handles[variable], &count);
    }
    MPI_Sendrecv(out, 1, MPI_CHAR, next, 0, in, 1, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    counted(0, 0);
    for (int round = 0; round < 5; round++)
        MPI_Sendrecv(out, 10, MPI_CHAR, next, 0, in, 20, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    counted(5, 50);
    MPI_Irecv(in, 3000, MPI_CHAR, before, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 3000, MPI_CHAR, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Send(out, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    counted(6, 3050);
    MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_Sendrecv(out, 1, MPI_CHAR, next, 0, in, 1, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    counted(6, 3050);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return end();
}

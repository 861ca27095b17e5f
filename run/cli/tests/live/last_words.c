/* A program with sessions only. Rank 1 sends a message of so many bytes to rank 0 and ends its
 * session, or everybody computes before the end: nothing of that is lost. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *how = argv[1];
    int rank, bytes = argc > 2 ? atoi(argv[2]) : 0;
    char *buffer = calloc(bytes + 1, 1);
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "last words", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    if (!strcmp(how, "compute")) {
        MPI_Barrier(comm);
        volatile double x = 1;
        for (long i = 0; i < 20000000; i++) x = x * 1.0000001;
    } else if (rank == 0) {
        MPI_Recv(buffer, bytes, MPI_CHAR, 1, 5, comm, MPI_STATUS_IGNORE);
        puts("received");
    } else if (rank == 1) {
        if (!strcmp(how, "ssend"))
            MPI_Ssend(buffer, bytes, MPI_CHAR, 0, 5, comm);
        else if (!strcmp(how, "bsend")) {
            int room = bytes + MPI_BSEND_OVERHEAD;
            MPI_Buffer_attach(malloc(room), room);
            MPI_Bsend(buffer, bytes, MPI_CHAR, 0, 5, comm);
        } else
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 5, comm);
    }
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}

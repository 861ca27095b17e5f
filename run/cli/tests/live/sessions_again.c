/* What is known of the start, sessions that begin when none is open, and MPI_Init after them (MPI
 * 4.1, section 11). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sum(MPI_Comm comm) {
    int mine = 1, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
    return all;
}

static int session(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    int all = sum(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return all;
}

/* How many ranks are started. */
static int started(int argc, char **argv) {
    MPI_Info info;
    char ranks[16] = "";
    int room = sizeof ranks, is_there = 0;
    MPI_Info_create_env(argc, argv, &info);
    MPI_Info_get_string(info, "maxprocs", &room, ranks, &is_there);
    MPI_Info_free(&info);
    return is_there ? atoi(ranks) : 0;
}

int main(int argc, char **argv) {
    int ranks = started(argc, argv);
    int first = session(), second = session();
    if (argc > 1)
        return first == second && first == ranks ? 0 : 2;
    MPI_Init(&argc, &argv);
    int third = sum(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("%d %d %d %d\n", ranks, first, second, third);
    return 0;
}

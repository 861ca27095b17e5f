/* A connection that nobody accepts fails after a time (MPI 4.1, section 11.9.3), which the program
 * may say; who accepts later meets nobody who has given up. */
#include "conformance.h"

static double seconds(char *port, const char *timeout) {
    MPI_Info info;
    MPI_Comm other = MPI_COMM_NULL;
    int class;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", timeout);
    double since = MPI_Wtime();
    MPI_Error_class(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &other), &class);
    CHECK(class == MPI_ERR_PORT && other == MPI_COMM_NULL);
    MPI_Info_free(&info);
    return MPI_Wtime() - since;
}

int main(int argc, char **argv) {
    char port[MPI_MAX_PORT_NAME] = "", timeout[20];
    MPI_Comm other;
    int last, said = rank, heard = -1;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, WORLD);
    last = ranks - 1;
    said = rank;
    snprintf(timeout, sizeof timeout, "%d.5", rank);
    double waited = seconds(port, timeout);
    CHECK(waited > rank + 0.499 && waited < rank + 0.501);
    MPI_Barrier(WORLD);
    if (last > 0 && rank == 0) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Recv(&heard, 1, MPI_INT, 0, 7, other, MPI_STATUS_IGNORE);
        CHECK(heard == last);
        MPI_Comm_disconnect(&other);
    }
    if (last > 0 && rank == last) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Send(&said, 1, MPI_INT, 0, 7, other);
        MPI_Comm_disconnect(&other);
    }
    /* Nobody ever accepts: it ends all the same, after three minutes of simulated time. */
    if (rank == last) {
        double since = MPI_Wtime();
        CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other) != MPI_SUCCESS);
        CHECK(MPI_Wtime() - since > 179.9 && MPI_Wtime() - since < 180.1);
    }
    MPI_Finalize();
    return 0;
}

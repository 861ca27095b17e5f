/* What is known of a partitioned receive when it is complete (MPI 4.1, sections 3.2.5, 3.10 and
 * 4.2): the bytes of the sender, whose partitions may be others; and that too many are an error. */
#include "conformance.h"

enum { ROOM = 256 };

/* Sends `parts` partitions of `count` integers to this rank, which receives others; gives the code
 * of the receive. */
static int go(int parts, int count, int own_parts, int own_count, MPI_Status *status, int *got) {
    int out[ROOM];
    MPI_Request send, receive;
    for (int i = 0; i < ROOM; i++) out[i] = i, got[i] = -1;
    MPI_Psend_init(out, parts, count, MPI_INT, rank, 3, WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(got, own_parts, own_count, MPI_INT, rank, 3, WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&send);
    MPI_Start(&receive);
    MPI_Pready_range(0, parts - 1, send);
    int code = MPI_Wait(&receive, status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    return code;
}

static void whole(int own_parts, int own_count) {
    int got[ROOM], count, elements;
    MPI_Status status;
    CHECK(go(4, 10, own_parts, own_count, &status, got) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Get_elements(&status, MPI_INT, &elements);
    CHECK(count == 40 && elements == 40);
    CHECK(status.MPI_SOURCE == rank && status.MPI_TAG == 3);
    for (int i = 0; i < ROOM; i++) CHECK(got[i] == (i < 40 ? i : -1));
}

static void truncated(void) {
    int got[ROOM], class;
    MPI_Status status;
    MPI_Error_class(go(4, 10, 4, 5, &status, got), &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    for (int i = 0; i < ROOM; i++) CHECK(got[i] == (i < 20 ? i : -1));
}

/* The status of a receive from nobody has no tag. */
static void nobody(void) {
    int got[4], count;
    MPI_Request receive;
    MPI_Status status;
    MPI_Precv_init(got, 2, 2, MPI_INT, MPI_PROC_NULL, 7, WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&receive);
    MPI_Wait(&receive, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0);
    MPI_Request_free(&receive);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    whole(4, 10);
    whole(4, 20);
    whole(8, 5);
    whole(1, 200);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    truncated();
    nobody();
    MPI_Finalize();
    return 0;
}

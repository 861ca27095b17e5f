/* Partitioned communication (MPI 4.1, chapter 4): says what is not as it should be. */
#include <mpi.h>
#include <stdio.h>
static int rank, size, bad;
#define CHECK(x) \
    do { \
        if (!(x)) { printf("rank %d line %d: %s\n", rank, __LINE__, #x); bad++; } \
    } while (0)
#define OK(x) CHECK((x) == MPI_SUCCESS)
/* while such messages are under way, the leaders of two groups meet by a tag, whichever it is */
static void meetings(void) {
    int out[4], in[4] = {0}, i, flag, got, *most;
    MPI_Request r[4]; MPI_Comm both;
    if (size == 1 || rank > 1) return;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    for (i = 0; i < 4; i++) {
        out[i] = 10 + i;
        if (rank == 0)
            OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
        else OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
    }
    OK(MPI_Startall(4, r));
    for (i = 0; i < 64; i++) {
        OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, *most - i, &both));
        got = -1;
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, both, MPI_STATUS_IGNORE));
        CHECK(got == 1 - rank);
        OK(MPI_Comm_free(&both));
    }
    for (i = 0; i < 4 && rank == 0; i++) OK(MPI_Pready(0, r[i]));
    OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    for (i = 0; i < 4; i++) { CHECK(rank == 0 || in[i] == 10 + i); OK(MPI_Request_free(&r[i])); }
}
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, out[24], in[24], round, i, flag, c;
    MPI_Request r[2]; MPI_Status s[2];
    /* 6 partitions of 4 go out, 4 partitions of 6 come in */
    OK(MPI_Psend_init(out, 6, 4, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r));
    OK(MPI_Precv_init(in, 4, 6, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r + 1));
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 24; i++) { out[i] = rank * 1000 + round * 100 + i; in[i] = -1; }
        OK(MPI_Startall(2, r));
        OK(MPI_Parrived(r[1], 3, &flag)); CHECK(!flag);
        OK(MPI_Pready(5, r[0])); OK(MPI_Pready(4, r[0]));
        do OK(MPI_Parrived(r[1], 3, &flag)); while (!flag);
        CHECK(in[18] == from * 1000 + round * 100 + 18);
        OK(MPI_Test(r + 1, &flag, s)); CHECK(!flag);
        int list[] = {3, 0}; OK(MPI_Pready_list(2, list, r[0])); OK(MPI_Pready_range(1, 2, r[0]));
        OK(MPI_Waitall(2, r, s));
        CHECK(s[1].MPI_SOURCE == from && s[1].MPI_TAG == 5); MPI_Get_count(s + 1, MPI_INT, &c);
        CHECK(c == 24);
        for (i = 0; i < 24; i++) CHECK(in[i] == from * 1000 + round * 100 + i);
    }
    OK(MPI_Request_free(r)); OK(MPI_Request_free(r + 1));
    /* one partition against eight, and the other way round */
    OK(MPI_Psend_init(out, 1, 24, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r));
    OK(MPI_Precv_init(in, 8, 3, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r + 1));
    for (round = 0; round < 2; round++) {
        for (i = 0; i < 24; i++) { out[i] = rank * 1000 + round * 100 + i; in[i] = -1; }
        OK(MPI_Startall(2, r)); OK(MPI_Pready(0, r[0])); OK(MPI_Wait(r + 1, s)); OK(MPI_Wait(r, s));
        for (i = 0; i < 24; i++) CHECK(in[i] == from * 1000 + round * 100 + i);
    }
    OK(MPI_Request_free(r)); OK(MPI_Request_free(r + 1));
    /* a usual message with the same tag is another one */
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 5, &c, 1, MPI_INT, from, 5, MPI_COMM_WORLD, s));
    CHECK(c == from);
    /* nobody */
    OK(MPI_Psend_init(out, 2, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r));
    OK(MPI_Precv_init(in, 2, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_INFO_NULL, r + 1));
    OK(MPI_Startall(2, r)); OK(MPI_Pready_range(0, 1, r[0])); OK(MPI_Waitall(2, r, s));
    CHECK(s[1].MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Request_free(r)); OK(MPI_Request_free(r + 1));
    meetings();
    MPI_Allreduce(&bad, &c, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Finalize(); return c != 0;
}

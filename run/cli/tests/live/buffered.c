/* Buffered sends (MPI 4.1, section 3.6): says what is not as it should be. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, size, bad;
#define CHECK(x) \
    do { \
        if (!(x)) { printf("rank %d line %d: %s\n", rank, __LINE__, #x); bad++; } \
    } while (0)
#define OK(x) CHECK((x) == MPI_SUCCESS)
enum { N = 100000 };
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, i, round,
        *out = malloc(2 * N * sizeof(int)), *in = malloc(N * sizeof(int)), bytes;
    int room = 2 * (N * sizeof(int) + MPI_BSEND_OVERHEAD), class;
    void *buffer = malloc(room), *back;
    OK(MPI_Buffer_attach(buffer, room));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < N; i++) out[i] = rank + i + round;
        /* everyone sends before anyone receives: two messages fit, the third does not */
        OK(MPI_Bsend(out, N, MPI_INT, to, 1, MPI_COMM_WORLD));
        MPI_Request r; MPI_Status s; OK(MPI_Ibsend(out, N, MPI_INT, to, 2, MPI_COMM_WORLD, &r));
        OK(MPI_Wait(&r, &s));
        out[0] = -1;
        OK(MPI_Recv(in, N, MPI_INT, from, 1, MPI_COMM_WORLD, &s));
        for (i = 0; i < N; i++) CHECK(in[i] == from + i + round);
        OK(MPI_Recv(in, N, MPI_INT, from, 2, MPI_COMM_WORLD, &s));
        for (i = 0; i < N; i++) CHECK(in[i] == from + i + round);
        OK(MPI_Buffer_detach(&back, &bytes)); CHECK(back == buffer && bytes == room);
        OK(MPI_Buffer_attach(buffer, room));
    }
    /* as large as the two */
    MPI_Error_class(MPI_Bsend(out, 2 * N, MPI_INT, to, 1, MPI_COMM_WORLD), &class);
    if (class == MPI_SUCCESS) {
        free(in); in = malloc(2 * N * sizeof(int));
        OK(MPI_Recv(in, 2 * N, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_Buffer_detach(&back, &bytes));
    MPI_Error_class(MPI_Bsend(out, N, MPI_INT, to, 1, MPI_COMM_WORLD), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_Allreduce(&bad, &i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize(); return i != 0;
}

/* How much rank 0 brings to rank 1 over time: prints for each twentieth of a second the time since
 * the start and the megabytes per second. Messages go out in windows, which rank 1 confirms.
 *
 *   mpicc -O2 -o stream stream.c
 *   mpirun -n 2 ./stream BYTES MESSAGES SECONDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, bytes = argc > 1 ? atoi(argv[1]) : 8192, messages = argc > 2 ? atoi(argv[2]) : 32;
    double seconds = argc > 3 ? atof(argv[3]) : 10, start, since, sent = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (bytes < 1 || messages < 1 || messages > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
    char *data = calloc(messages, bytes), go_on = 1;
    MPI_Request requests[MOST];
    MPI_Barrier(MPI_COMM_WORLD);
    start = since = MPI_Wtime();
    while (go_on) {
        for (int i = 0; i < messages; i++) {
            char *at = data + (size_t)i * bytes;
            if (rank == 0) MPI_Isend(at, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
            else MPI_Irecv(at, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
        if (rank == 1) {
            MPI_Recv(&go_on, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&go_on, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            continue;
        }
        double now = MPI_Wtime();
        go_on = now - start < seconds;
        MPI_Sendrecv(&go_on, 1, MPI_BYTE, 1, 1, &go_on, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sent += (double)messages * bytes;
        now = MPI_Wtime();
        if (now - since < 0.05) continue;
        printf("%.3f %.2f\n", now - start, sent / (now - since) / 1e6);
        fflush(stdout);
        since = now, sent = 0;
    }
    free(data);
    MPI_Finalize();
    return 0;
}

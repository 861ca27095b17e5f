/* A program that looks for a message again and again passes longer and longer times, whichever way
 * it looks: 2 milliseconds take few looks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int probes = 0; probes < 2; probes++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            double start = MPI_Wtime();
            while (MPI_Wtime() < start + 0.002)
                ;
            MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            int looks = 0, found = 0;
            MPI_Request request;
            if (!probes)
                MPI_Irecv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
            for (; !found; looks++) {
                if (probes)
                    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
                else
                    MPI_Test(&request, &found, MPI_STATUS_IGNORE);
            }
            if (probes)
                MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(looks > 20 && looks < 1000);
        }
    }
    return end();
}

/* Rank 0 takes what the others send in all the ways there are to look and to wait: 7 messages of
 * each. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, value[8], index, flag, ended, indices[8];
    MPI_Status status, statuses[8];
    MPI_Message message;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int others = size - 1;
    if (rank > 0) {
        MPI_Request requests[7];
        for (int tag = 0; tag < 7; tag++)
            MPI_Isend(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[tag]);
        for (int tag = 0; tag < 7; tag++)
            MPI_Wait(&requests[tag], &status);
    } else {
        MPI_Request requests[8];
        for (int count = 0; count < others; count++) {
            MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            MPI_Recv(value, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            do
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
            while (!flag);
            MPI_Recv(value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(value, 1, MPI_INT, &message, &status);
        }
        for (int tag = 3; tag < 7; tag++) {
            for (int count = 0; count < others; count++)
                MPI_Irecv(&value[count], 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                          &requests[count]);
            for (int done = 0; done < others;) {
                if (tag == 3) {
                    MPI_Waitany(others, requests, &index, &status);
                    done++;
                } else if (tag == 4) {
                    MPI_Waitsome(others, requests, &ended, indices, statuses);
                    done += ended;
                } else if (tag == 5) {
                    MPI_Testany(others, requests, &index, &flag, MPI_STATUS_IGNORE);
                    done += flag;
                } else {
                    MPI_Testsome(others, requests, &ended, indices, MPI_STATUSES_IGNORE);
                    done += ended;
                }
            }
        }
    }
    MPI_Finalize();
    return 0;
}

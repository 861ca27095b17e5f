/* Two ranks that a socket connects (MPI 4.1, section 11.10.5). Others look on. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conformance.h"

/* A socket of rank 0 that is connected with one of rank 1: nobody waits for the other in a call of
 * the system. */
static int connected(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int own = socket(AF_INET, SOCK_STREAM, 0), done = 0;
    if (rank == 0) {
        CHECK(!bind(own, (struct sockaddr *)&address, length) && !listen(own, 1));
        getsockname(own, (struct sockaddr *)&address, &length);
        MPI_Send(&address, sizeof address, MPI_BYTE, 1, 0, WORLD);
        MPI_Recv(&done, 1, MPI_INT, 1, 0, WORLD, MPI_STATUS_IGNORE);
        int other = accept(own, NULL, NULL);
        close(own);
        return other;
    }
    MPI_Recv(&address, sizeof address, MPI_BYTE, 0, 0, WORLD, MPI_STATUS_IGNORE);
    CHECK(!connect(own, (struct sockaddr *)&address, length));
    MPI_Send(&done, 1, MPI_INT, 0, 0, WORLD);
    return own;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (rank < 2 && ranks > 1) {
        int fd = connected(), size, peers, sum = -1, number = 10 + rank;
        char byte = 'a' + rank;
        /* Twice over the same socket, which stays open. */
        for (int i = 0; i < 2; i++) {
            MPI_Comm other = WORLD;
            MPI_Comm_join(fd, &other);
            MPI_Comm_size(other, &size);
            MPI_Comm_remote_size(other, &peers);
            CHECK(size == 1 && peers == 1);
            MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, other);
            CHECK(sum == 11 - rank);
            MPI_Sendrecv(&number, 1, MPI_INT, 0, i, &sum, 1, MPI_INT, 0, i, other,
                         MPI_STATUS_IGNORE);
            CHECK(sum == 11 - rank);
            MPI_Comm_disconnect(&other);
        }
        CHECK(write(fd, &byte, 1) == 1);
        MPI_Sendrecv(NULL, 0, MPI_INT, 1 - rank, 1, NULL, 0, MPI_INT, 1 - rank, 1, WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(read(fd, &byte, 1) == 1 && byte == 'b' - rank);
        close(fd);
    }
    MPI_Barrier(WORLD);
    MPI_Finalize();
    return 0;
}

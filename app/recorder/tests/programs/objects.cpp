// A C++ program: buffers that move, requests that are copied.
#include <mpi.h>

#include <utility>
#include <vector>

class Pending {
    std::vector<double> buffer;
    MPI_Request request = MPI_REQUEST_NULL;

public:
    Pending(int count, int peer, bool sends) : buffer(count, 1.0)
    {
        if (sends)
            MPI_Isend(buffer.data(), count, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &request);
        else
            MPI_Irecv(buffer.data(), count, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &request);
    }
    void wait() { MPI_Wait(&request, MPI_STATUS_IGNORE); }
};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {
        std::vector<Pending> all;
        for (int peer = 0; peer < size; peer++) {
            all.emplace_back(10, peer, false);
            all.emplace_back(10, peer, true);
        }
        std::vector<Pending> moved = std::move(all);
        for (Pending &one : moved)
            one.wait();
    }
    MPI_Finalize();
}

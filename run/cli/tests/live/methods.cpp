// A message from a method of a class, whose name is one of C++.
#include <mpi.h>
#include <vector>

namespace solver {
template <class Value> struct Grid {
    std::vector<Value> values{0};
    __attribute__((noinline)) void exchange(int rank) {
        if (rank == 0)
            MPI_Send(values.data(), 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(values.data(), 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        asm volatile("");
    }
};
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    solver::Grid<int> grid;
    grid.exchange(rank);
    MPI_Finalize();
}

// Streams of C++, destructors and what is registered for the end: each rank writes what it would as
// a process.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mpi.h>

static int rank = -1;

struct Leaves {
    const char *name;
    ~Leaves() { std::cout << rank << " leaves " << name << "\n"; }
};

static Leaves global = {"global"};

static void at_exit() { std::cout << rank << " at exit\n"; }

__attribute__((destructor)) static void last() { std::printf("%d last\n", rank); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        std::ios::sync_with_stdio(false);
    static Leaves local = {"local"};
    std::cout.precision(3 + rank);
    std::atexit(at_exit);
    MPI_Barrier(MPI_COMM_WORLD);
    std::cout << rank << " has " << 1.23456789 << "\n";
    MPI_Finalize();
    if (rank == 1)
        std::exit(0);
    return 0;
}

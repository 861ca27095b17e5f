// An error handler of C++ leaves the call with an exception, and the program goes on.
#include <mpi.h>

#include <cstdio>
#include <stdexcept>

struct Failure : std::runtime_error {
    int of;
    explicit Failure(int code) : std::runtime_error("MPI"), of(0) { MPI_Error_class(code, &of); }
};

static void fail(MPI_Comm *, int *code, ...) { throw Failure(*code); }

static int caught(MPI_Comm comm, int to) {
    double value = 1;
    try {
        MPI_Send(&value, 1, MPI_DOUBLE, to, 0, comm);
    } catch (const Failure &failure) {
        return failure.of;
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int rank, ranks, right = 1, all;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_create_errhandler(fail, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    for (int i = 0; i < 10; i++) {
        right &= caught(MPI_COMM_WORLD, ranks + i) == MPI_ERR_RANK;
        right &= caught(MPI_COMM_WORLD, MPI_PROC_NULL) == MPI_SUCCESS;
    }
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0) std::puts(all ? "verified" : "wrong");
    MPI_Finalize();
}

// Threads of C++ in MPI at once.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define CHECK(what)                                                                        \
    do {                                                                                   \
        if (!(what)) {                                                                     \
            std::fprintf(stderr, "line %d: rank %d: %s\n", __LINE__, rank, #what);         \
            std::abort();                                                                  \
        }                                                                                  \
    } while (0)

static int rank, ranks;
static std::mutex mutex;
static std::condition_variable condition;
static std::string said;
static std::atomic<int> destroyed{0};

struct Counts {
    int calls = 0;
    ~Counts() { destroyed++; }
};
static thread_local Counts counts;
static thread_local std::string mine = "none";

static void ring(int tag) {
    const int last = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
    const std::string text = "rank " + std::to_string(rank) + " and a text that takes memory";
    CHECK(mine == "none");
    mine = text;
    for (int round = 0; round < 10; round++) {
        int sent = rank * 100 + round, got = -1;
        MPI_Sendrecv(&sent, 1, MPI_INT, next, tag, &got, 1, MPI_INT, last, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(got == last * 100 + round && mine == text && counts.calls == round);
        try {
            throw round;
        } catch (int thrown) {
            MPI_Barrier(MPI_COMM_SELF);
            counts.calls = thrown + 1;
        }
    }
}

static void waits() {
    std::unique_lock<std::mutex> lock(mutex);
    condition.wait(lock, [] { return !said.empty(); });
    CHECK(said == std::to_string(rank));
}

static void sleeps() {
    for (int i = 0; i < 5; i++) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    said = "slept";
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++) threads.emplace_back(ring, i);
    std::thread waiting(waits);
    for (auto &thread : threads) thread.join();
    CHECK(destroyed == 3);
    MPI_Barrier(MPI_COMM_WORLD);
    {
        std::lock_guard<std::mutex> lock(mutex);
        said = std::to_string(rank);
    }
    condition.notify_all();
    waiting.join();
    std::thread sleeping(sleeps);
    for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
    sleeping.join();
    CHECK(said == "slept");
    MPI_Finalize();
}

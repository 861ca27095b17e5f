/* Random calls of all kinds, the same on all ranks, and between them sleep and looks at the clock
 * that differ: ranks ask others for what they share while these sleep, look or wait, and some calls
 * end or begin at the same moment. */
#include <mpi.h>
#include <unistd.h>

#define LONGEST 65536
#define NUMBERS 4096
#define KINDS 15

static char out[LONGEST], in[8 * LONGEST];
static double memory[NUMBERS], numbers[NUMBERS];
static int rank, size, calls;
static MPI_Comm half;
static MPI_Win window;
static unsigned common, own;

static unsigned draw(unsigned *from, unsigned below)
{
    *from = *from * 1103515245u + 12345u;
    return (*from >> 16) % below;
}

/* The rank sleeps for up to so many microseconds, or does not, and sometimes looks at the clock. */
static void rest(unsigned most)
{
    if (draw(&own, 3))
        usleep(draw(&own, most));
    if (draw(&own, 2))
        MPI_Wtime();
}

static void messages(unsigned kind, int bytes, int root)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, done = 0, count = 0, index;
    MPI_Request requests[16];
    switch (kind) {
    case 0:
        for (int step = 1; step < size; step++)
            MPI_Irecv(in + step * LONGEST, bytes, MPI_CHAR, (rank + step) % size, calls,
                      MPI_COMM_WORLD, &requests[count++]);
        for (int step = 1; step < size; step++)
            MPI_Isend(out, bytes, MPI_CHAR, (rank + step) % size, calls, MPI_COMM_WORLD,
                      &requests[count++]);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        MPI_Sendrecv(out, bytes, MPI_CHAR, next, calls, in, bytes, MPI_CHAR, previous, calls,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Irecv(in, bytes, MPI_CHAR, previous, calls, MPI_COMM_WORLD, &requests[0]);
        MPI_Issend(out, bytes, MPI_CHAR, next, calls, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Irecv(in, bytes, MPI_CHAR, previous, calls, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, bytes, MPI_CHAR, next, calls, MPI_COMM_WORLD, &requests[1]);
        for (int times = 0; times < 4 && !done; times++) {
            rest(10);
            MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
    default:
        if (rank != root) {
            rest(10);
            MPI_Send(out, bytes, MPI_CHAR, root, calls, MPI_COMM_WORLD);
            break;
        }
        for (int step = 1; step < size; step++)
            MPI_Irecv(in + step * LONGEST, LONGEST, MPI_CHAR, MPI_ANY_SOURCE, calls, MPI_COMM_WORLD,
                      &requests[count++]);
        for (int step = 1; step < size; step++)
            MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    }
}

static void collectives(unsigned kind, int bytes, int root)
{
    MPI_Request request;
    switch (kind) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Bcast(out, bytes, MPI_CHAR, root, MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Allreduce(numbers, memory + NUMBERS / 2, bytes % 512, MPI_DOUBLE, MPI_SUM, half);
        break;
    case 3:
        MPI_Alltoall(out, bytes % 2048, MPI_CHAR, in, bytes % 2048, MPI_CHAR, MPI_COMM_WORLD);
        break;
    default:
        MPI_Iallreduce(numbers, memory + NUMBERS / 2, bytes % 100, MPI_DOUBLE, MPI_SUM,
                       MPI_COMM_WORLD, &request);
        messages(1, bytes, root);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void accesses(unsigned kind, int count, int root)
{
    double one = 1, before;
    switch (kind) {
    case 0:
        MPI_Win_fence(0, window);
        MPI_Put(numbers, count, MPI_DOUBLE, (rank + 1 + root) % size, 0, count, MPI_DOUBLE, window);
        MPI_Get(numbers, 100, MPI_DOUBLE, root, 0, 100, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
        break;
    case 1:
    case 2:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, root, 0, window);
        MPI_Accumulate(numbers, count, MPI_DOUBLE, root, 0, count, MPI_DOUBLE, MPI_SUM, window);
        MPI_Win_unlock(root, window);
        break;
    case 3:
        MPI_Win_lock(MPI_LOCK_SHARED, root, 0, window);
        rest(5);
        MPI_Put(numbers, count, MPI_DOUBLE, root, 100 * rank, count, MPI_DOUBLE, window);
        MPI_Get(numbers, 20, MPI_DOUBLE, root, 0, 20, MPI_DOUBLE, window);
        MPI_Win_unlock(root, window);
        break;
    default:
        MPI_Win_lock_all(0, window);
        for (int times = 0; times < 3; times++) {
            MPI_Fetch_and_op(&one, &before, MPI_DOUBLE, root, NUMBERS - 1, MPI_SUM, window);
            MPI_Win_flush(root, window);
            usleep((unsigned)before % 7);
        }
        MPI_Win_unlock_all(window);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Win_create(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (unsigned seed = 1; seed <= 6; seed++) {
        common = seed;
        own = 977 * seed + (unsigned)rank;
        for (int times = 0; times < 25; times++, calls++) {
            unsigned kind = draw(&common, KINDS);
            int bytes = 1 << draw(&common, 17), root = (int)draw(&common, (unsigned)size);
            rest(40);
            if (kind < 5)
                messages(kind, bytes, root);
            else if (kind < 10)
                collectives(kind - 5, bytes, root);
            else
                accesses(kind - 10, bytes % 100, root);
        }
    }
    MPI_Win_free(&window);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

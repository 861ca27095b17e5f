/* Messages of many sizes between all ranks, at once and one by one, and a collective: all data is
 * checked. Prints one line, "right", if it is. With EXCHANGE_WAITING in the environment there are
 * only large messages that wait for their receives. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const int SIZES[] = { 0, 1, 8, 255, 256, 257, 4096, 65000, 65536, 70000, 300000, 1 << 20 };
enum { COUNT = sizeof SIZES / sizeof *SIZES, MOST = 1 << 20, AGAIN = 5 };

static int rank, ranks, wrong;

static unsigned char content(int from, int to, int size, int at)
{
    return (unsigned char)(31 * from + 17 * to + 7 * size + at % 251);
}

static void fill(unsigned char *buffer, int to, int size)
{
    for (int at = 0; at < size; at++)
        buffer[at] = content(rank, to, size, at);
}

static void check(const unsigned char *buffer, int from, int size)
{
    for (int at = 0; at < size; at++)
        wrong += buffer[at] != content(from, rank, size, at);
}

/* To all others at once, all sizes, and received in the order of sending. */
static void at_once(void)
{
    int half = (ranks - 1) * COUNT, used = 0;
    MPI_Request *requests = malloc(2 * (size_t)half * sizeof *requests);
    unsigned char **buffers = malloc(2 * (size_t)half * sizeof *buffers);
    for (int at = 0; at < 2 * half; at++)
        buffers[at] = malloc(MOST);
    for (int other = 0; other < ranks; other++)
        for (int of = 0; other != rank && of < COUNT; of++, used++)
            MPI_Irecv(buffers[used], MOST, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[used]);
    for (int other = 0; other < ranks; other++)
        for (int of = 0; other != rank && of < COUNT; of++, used++) {
            fill(buffers[used], other, SIZES[of]);
            MPI_Isend(buffers[used], SIZES[of], MPI_BYTE, other, 0, MPI_COMM_WORLD,
                      &requests[used]);
        }
    MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    used = 0;
    for (int other = 0; other < ranks; other++)
        for (int of = 0; other != rank && of < COUNT; of++)
            check(buffers[used++], other, SIZES[of]);
    for (int at = 0; at < 2 * half; at++)
        free(buffers[at]);
    free(requests);
    free(buffers);
}

/* Around a ring, at last with the parts of a vector. */
static void one_by_one(void)
{
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    MPI_Datatype parts;
    for (int of = 0; of < COUNT; of++) {
        fill(out, next, SIZES[of]);
        MPI_Sendrecv(out, SIZES[of], MPI_BYTE, next, 1, in, MOST, MPI_BYTE, last, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in, last, SIZES[of]);
    }
    MPI_Type_vector(1000, 2, 5, MPI_BYTE, &parts);
    MPI_Type_commit(&parts);
    fill(out, next, 5000);
    MPI_Sendrecv(out, 1, parts, next, 2, in, 1, parts, last, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int at = 0; at < 4997; at++)
        wrong += at % 5 < 2 && in[at] != content(last, rank, 5000, at);
    MPI_Type_free(&parts);
    free(out);
    free(in);
}

/* Twenty large messages to rank 1, which takes them when it has heard of all. */
static void waiting(void)
{
    enum { SIZE = 70000, LARGE = 20 };
    static unsigned char buffers[LARGE][SIZE];
    MPI_Request requests[LARGE];
    for (int at = 0; rank == 0 && at < LARGE; at++) {
        fill(buffers[at], 1, SIZE);
        MPI_Isend(buffers[at], SIZE, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[at]);
    }
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int at = 0; rank == 1 && at < LARGE; at++)
        MPI_Irecv(buffers[at], SIZE, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[at]);
    if (rank < 2)
        MPI_Waitall(LARGE, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; rank == 1 && at < LARGE; at++)
        check(buffers[at], 0, SIZE);
}

int main(int count, char **arguments)
{
    int all = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (getenv("EXCHANGE_WAITING"))
        waiting();
    for (int turn = 0; turn < AGAIN && !getenv("EXCHANGE_WAITING"); turn++) {
        long own = rank + 1, sum = 0;
        at_once();
        one_by_one();
        MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != (long)ranks * (ranks + 1) / 2;
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        puts("right");
    else if (rank == 0)
        printf("%d bytes are wrong\n", all);
    MPI_Finalize();
    return 0;
}

/* What several networks (rails) of a host bring: the benchmark of A. Lichei, "Analysis and
 * Optimization of the Packet Scheduler in Open MPI" (Chemnitz 2006, section 5.8), and what it left
 * open. Prints CSV: the test, bytes of a message, messages at once, the median time per message in
 * nanoseconds and its rate in MB/s. Runs on real networks and in `heddle mpirun`.
 *
 *   mpicc -O2 -o rails_bench rails_bench.c
 *   mpirun -n 2 ./rails_bench [bulk] [LARGEST [REPETITIONS]]
 *   mpirun -n 2 ./rails_bench bulk BYTES:MESSAGES[:REPETITIONS][,...] [REPETITIONS]
 *   mpirun -n 16 ./rails_bench random [LARGEST [REPETITIONS]]
 *   mpirun -n 16 ./rails_bench halo [LARGEST [REPETITIONS]]
 *
 * bulk    ranks 2k and 2k + 1: N messages one way at once, then N back, for N of 1, 8, 16 and 32
 *         and sizes that double from 1 byte to LARGEST (65536); or the sizes and numbers of
 *         messages that are listed, as 8:1,1024:32, some with fewer repetitions
 * random  each rank sends 32 messages at once to random others, of random sizes up to LARGEST
 * halo    messages to four neighbours on a periodic grid, then an allreduce of 8 bytes: the time is
 *         that of a step */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

static int rank, ranks;

static void fail(const char *message) {
    if (rank == 0) fprintf(stderr, "rails_bench: %s\n", message);
    MPI_Finalize();
    exit(2);
}

/* The points BYTES:MESSAGES:REPETITIONS,... in place of sizes that double, or NULL. */
static const char *points;

static const char *next(const char *point) {
    const char *comma = strchr(point, ',');
    return comma ? comma + 1 : NULL;
}

/* The number of a point after `colons` colons, or `missing`. */
static long number_of(const char *point, int colons, long missing) {
    for (; colons > 0; colons--) {
        point += strcspn(point, ":,");
        if (*point++ != ':') return missing;
    }
    return strtol(point, NULL, 10);
}

/* The largest size of the points. */
static long check_points(void) {
    long largest = 0;
    for (const char *point = points; point != NULL; point = next(point)) {
        long bytes = number_of(point, 0, 0), messages = number_of(point, 1, 0);
        if (bytes < 1 || messages < 1 || messages > MOST || number_of(point, 2, 1) < 1)
            fail("a point is BYTES:MESSAGES[:REPETITIONS], from 1 on, MESSAGES up to 32");
        if (bytes > largest) largest = bytes;
    }
    return largest;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rank 0 prints the median of the times of a message in seconds. */
static void print(const char *test, long bytes, int messages, double *times, int count) {
    if (rank > 0) return;
    qsort(times, count, sizeof *times, ascending);
    double median = (times[(count - 1) / 2] + times[count / 2]) / 2;
    printf("%s,%ld,%d,%.3f,%.3f\n", test, bytes, messages, median * 1e9, bytes / median / 1e6);
    fflush(stdout);
}

static void post(int sends, int messages, int other, char *buffer, long bytes) {
    MPI_Request requests[MOST];
    for (int i = 0; i < messages; i++) {
        char *place = buffer + i * bytes;
        if (sends)
            MPI_Isend(place, bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(place, bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
}

/* The first round is not counted. */
static void there_and_back(long bytes, int messages, int repetitions, char *buffer, double *times) {
    int first = rank % 2 == 0, other = first ? rank + 1 : rank - 1;
    for (int i = -1; i < repetitions; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        post(first, messages, other, buffer, bytes);
        post(!first, messages, other, buffer, bytes);
        if (i >= 0) times[i] = (MPI_Wtime() - begin) / (2 * messages);
    }
    print("bulk", bytes, messages, times, repetitions);
}

static void bulk(long largest, int repetitions, char *buffer, double *times) {
    const int at_once[] = {1, 8, 16, MOST};
    if (ranks % 2) fail("bulk needs an even number of ranks");
    if (points == NULL) {
        for (int n = 0; n < 4; n++)
            for (long bytes = 1; bytes <= largest; bytes *= 2)
                there_and_back(bytes, at_once[n], repetitions, buffer, times);
        return;
    }
    for (const char *point = points; point != NULL; point = next(point)) {
        long own = number_of(point, 2, repetitions);
        there_and_back(number_of(point, 0, 0), number_of(point, 1, 0),
                       own < repetitions ? own : repetitions, buffer, times);
    }
}

/* A sequence of numbers that is the same for all ranks (Steele, Lea and Flood, OOPSLA 2014). */
static unsigned long long draw(unsigned long long *state) {
    unsigned long long z = *state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

static void at_random(long largest, int repetitions, char *buffer, double *times) {
    unsigned long long state = 1;
    double total = 0;
    /* All ranks may send all that they have to one. */
    MPI_Request *requests = malloc(sizeof *requests * MOST * (ranks + 1));
    char *in = malloc(largest * MOST * (ranks + 1));
    if (ranks < 2) fail("random needs two ranks");
    if (requests == NULL || in == NULL) fail("there is too little memory");
    for (int i = 0; i < repetitions; i++) {
        int open = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        for (int k = 0; k < MOST; k++)
            for (int from = 0; from < ranks; from++) {
                int to = (from + 1 + draw(&state) % (ranks - 1)) % ranks;
                int bytes = 1 + draw(&state) % largest;
                total += bytes;
                if (rank == to) {
                    char *place = in + open * largest;
                    MPI_Irecv(place, bytes, MPI_BYTE, from, k, MPI_COMM_WORLD, &requests[open++]);
                }
                if (rank == from)
                    MPI_Isend(buffer, bytes, MPI_BYTE, to, k, MPI_COMM_WORLD, &requests[open++]);
            }
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        times[i] = (MPI_Wtime() - begin) / MOST;
    }
    print("random", total / ((double)repetitions * MOST * ranks), MOST, times, repetitions);
    free(requests);
    free(in);
}

static void halo(long largest, int repetitions, char *buffer, double *times) {
    int sizes[2] = {0, 0}, periods[2] = {1, 1}, near[4];
    MPI_Comm grid;
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    for (int d = 0; d < 2; d++) MPI_Cart_shift(grid, d, 1, &near[2 * d], &near[2 * d + 1]);
    for (long bytes = 1; bytes <= largest; bytes *= 2) {
        for (int i = -1; i < repetitions; i++) {
            MPI_Request requests[8];
            double one = 1, sum;
            MPI_Barrier(grid);
            double begin = MPI_Wtime();
            for (int side = 0; side < 4; side++) {
                /* What comes from one side was sent to the other. */
                MPI_Irecv(buffer + side * bytes, bytes, MPI_BYTE, near[side], side ^ 1, grid,
                          &requests[side]);
                MPI_Isend(buffer + (4 + side) * bytes, bytes, MPI_BYTE, near[side], side, grid,
                          &requests[4 + side]);
            }
            MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
            MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
            if (i >= 0) times[i] = MPI_Wtime() - begin;
        }
        print("halo", bytes, 4, times, repetitions);
    }
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int named = argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9');
    const char *test = named ? argv[1] : "bulk";
    char **numbers = argv + 1 + named;
    int given = argc - 1 - named;
    long largest = given > 0 ? strtol(numbers[0], NULL, 10) : 65536;
    if (given > 0 && strchr(numbers[0], ':')) {
        points = numbers[0];
        largest = check_points();
        if (strcmp(test, "bulk") != 0) fail("only bulk takes points");
    }
    int repetitions = given > 1 ? atoi(numbers[1]) : 20;
    void (*run)(long, int, char *, double *) = strcmp(test, "bulk") == 0     ? bulk
                                               : strcmp(test, "random") == 0 ? at_random
                                               : strcmp(test, "halo") == 0   ? halo
                                                                             : NULL;
    if (run == NULL) fail("the tests are bulk, random and halo");
    if (largest < 1 || largest > 1 << 26) fail("LARGEST is 1 to 67108864 bytes");
    if (repetitions < 1 || repetitions > 1 << 20) fail("REPETITIONS is 1 to 1048576");
    char *buffer = calloc(MOST, largest);
    double *times = malloc(sizeof *times * repetitions);
    if (buffer == NULL || times == NULL) fail("there is too little memory");
    if (rank == 0) printf("test,bytes,messages,time_ns,rate_MBps\n");
    run(largest, repetitions, buffer, times);
    free(buffer);
    free(times);
    MPI_Finalize();
}

/* Integers ranked by buckets: kernel IS of the NAS parallel benchmarks, class S (2^16 keys below
 * 2^11, 10 times). The ranks of five keys are those that the benchmarks publish; at the end all
 * keys are in order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 1 << 16, BELOW = 1 << 11, TIMES = 10, TESTS = 5 };
static const int tested[TESTS] = {48427, 17148, 23627, 62548, 4431},
    place[TESTS] = {0, 18, 346, 64917, 65463};
static const unsigned long long mask = (1ULL << 46) - 1, multiplier = 1220703125;
static unsigned long long seed = 314159265;

static double next(void) {
    seed = multiplier * seed & mask;
    return (double)seed / (double)(1ULL << 46);
}

static void wrong(const char *what, int time) {
    printf("wrong: %s at %d\n", what, time);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = (int)((long)KEYS * rank / ranks), last = (int)((long)KEYS * (rank + 1) / ranks),
        own = last - first;
    int *keys = malloc(own * sizeof *keys), *sent = malloc(own * sizeof *sent), *got = NULL;
    int *counts = calloc(4 * ranks, sizeof *counts), *from = counts + ranks, *at = from + ranks,
        *into = at + ranks;
    int *below = malloc(BELOW * sizeof *below), *all = malloc(BELOW * sizeof *all), total = 0;
    for (int i = 0; i < KEYS; i++) {
        double x = next();
        x += next();
        x += next();
        x += next();
        if (i >= first && i < last) keys[i - first] = (int)(BELOW / 4 * x);
    }
    for (int time = 1; time <= TIMES; time++) {
        int values[TESTS], mine[TESTS];
        if (time >= first && time < last) keys[time - first] = time;
        if (time + TIMES >= first && time + TIMES < last) keys[time + TIMES - first] = BELOW - time;
        for (int t = 0; t < TESTS; t++)
            mine[t] = tested[t] >= first && tested[t] < last ? keys[tested[t] - first] : 0;
        MPI_Allreduce(mine, values, TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        memset(below, 0, BELOW * sizeof *below);
        for (int i = 0; i < own; i++) below[keys[i]]++;
        MPI_Allreduce(below, all, BELOW, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int t = 0; t < TESTS; t++) {
            int less = 0;
            for (int key = 0; key < values[t]; key++) less += all[key];
            if (less != place[t] + (t <= 2 ? time : -time)) wrong("the rank of a key", time);
        }
        /* To each rank the keys of its range. */
        memset(counts, 0, ranks * sizeof *counts);
        for (int i = 0; i < own; i++) counts[(long)keys[i] * ranks / BELOW]++;
        for (int r = 0, sum = 0; r < ranks; sum += counts[r++]) at[r] = sum;
        for (int i = 0; i < own; i++) sent[at[(long)keys[i] * ranks / BELOW]++] = keys[i];
        for (int r = 0, sum = 0; r < ranks; sum += counts[r++]) at[r] = sum;
        MPI_Alltoall(counts, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
        total = 0;
        for (int r = 0; r < ranks; total += from[r++]) into[r] = total;
        got = realloc(got, (total + 1) * sizeof *got);
        MPI_Alltoallv(sent, counts, at, MPI_INT, got, from, into, MPI_INT, MPI_COMM_WORLD);
    }
    /* In order within the rank, by counting; and from each rank to the next. */
    memset(below, 0, BELOW * sizeof *below);
    for (int i = 0; i < total; i++) below[got[i]]++;
    for (int key = 0, i = 0; key < BELOW; key++)
        for (int n = 0; n < below[key]; n++) got[i++] = key;
    int largest = total > 0 ? got[total - 1] : -1, before = -1, sum;
    MPI_Exscan(&largest, &before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank > 0 && total > 0 && before > got[0]) wrong("the order", rank);
    MPI_Reduce(&total, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && sum != KEYS) wrong("the number of keys", sum);
    if (rank == 0) puts("verified");
    MPI_Finalize();
    return 0;
}

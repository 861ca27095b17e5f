/* A rank finds its stack, as garbage collectors look for it. With "small", no huge pages are given
 * to it unasked; with "deep" and "above", rank 1 leaves it: at its end, or above its top. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "check.h"

static int deeper(int depth) {
    volatile char some[4096];
    some[0] = (char)depth;
    return depth == 1 << 30 ? 0 : deeper(depth + 1) + some[0];
}

/* What the system says of the mapping that a byte lies in: "nh" is without huge pages. */
static int is_small(const char *byte) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    unsigned long from, to;
    int is_there = 0, is_without = 0;
    if (!maps) return 0;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            is_there = from <= (unsigned long)byte && (unsigned long)byte < to;
        if (is_there && !strncmp(line, "VmFlags:", 8)) is_without = strstr(line, " nh") != NULL;
    }
    fclose(maps);
    return is_without;
}

int main(int argc, char **argv) {
    pthread_attr_t attributes;
    void *lowest;
    size_t length;
    begin(&argc, &argv);
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &lowest, &length) == 0);
    char *top = (char *)lowest + length;
    CHECK((char *)lowest <= (char *)&length && (char *)&length < top);
    if (argc > 1 && !strcmp(argv[1], "small")) CHECK(is_small((char *)&length));
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == 1) {
        if (!strcmp(argv[1], "deep")) return deeper(0);
        if (!strcmp(argv[1], "above")) *(volatile char *)(top + 8) = 1;
    }
    return end();
}

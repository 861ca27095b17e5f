/* A rank finds its stack, as garbage collectors look for it. With an argument, rank 1 leaves it: at its end, or above its top. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "check.h"

static int deeper(int depth) {
    volatile char some[4096];
    some[0] = (char)depth;
    return depth == 1 << 30 ? 0 : deeper(depth + 1) + some[0];
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
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == 1) {
        if (!strcmp(argv[1], "deep")) return deeper(0);
        *(volatile char *)(top + 8) = 1;
    }
    return end();
}

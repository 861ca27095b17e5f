/* A shared library that keeps a rank's state: variables, memory of its own from a constructor,
 * thread-local ones. It says at its end what it has counted. Its `malloc` goes to that of the C
 * library, as OpenFOAM's does, which makes it no allocator. */
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);

void *malloc(size_t bytes) { return __libc_malloc(bytes); }

/* The program uses it as its own. */
int constructed = 100;
static int *counted;
static int calls, large[1 << 16];
static __thread int last = 7;

__attribute__((constructor)) static void construct(void) {
    counted = malloc(sizeof *counted);
    *counted = 100;
    constructed++;
}

__attribute__((destructor)) static void destruct(void) {
    printf("%d %d\n", calls, *counted);
    fflush(stdout);
    free(counted);
}

int count(int number) {
    int before = last;
    calls++;
    last = number;
    large[calls << 12] = number;
    *counted += number;
    return before + large[(calls - 1) << 12];
}

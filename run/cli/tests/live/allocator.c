/* An allocator in the C library's place, which looks at the clock in every call, and takes back
 * only what it has given. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Alignas(4096) char all[1 << 28];
static size_t used;

static void *take(size_t alignment, size_t bytes) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    size_t least = alignment < 16 ? 16 : alignment;
    size_t start =
        (__atomic_fetch_add(&used, bytes + 2 * least, __ATOMIC_RELAXED) + 16 + least - 1) / least
            * least;
    if (start + bytes > sizeof all) abort();
    memcpy(all + start - sizeof bytes, &bytes, sizeof bytes);
    return all + start;
}

void *memalign(size_t alignment, size_t bytes) { return take(alignment, bytes); }

void *malloc(size_t bytes) { return take(16, bytes); }

void *calloc(size_t number, size_t each) { return malloc(number * each); }

void free(void *address) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (address && (uintptr_t)address - (uintptr_t)all >= sizeof all) abort();
}

void *realloc(void *old, size_t bytes) {
    size_t before = 0;
    if (old) memcpy(&before, (char *)old - sizeof before, sizeof before);
    void *new = malloc(bytes);
    if (old) memcpy(new, old, before < bytes ? before : bytes);
    return new;
}

/* As C++'s `new` gives it. */
void *own_block(void) { return take(16, 1000); }

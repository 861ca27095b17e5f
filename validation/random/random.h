/* Random numbers that are the same everywhere, and a fingerprint of memory. */
#include <stddef.h>

static unsigned long long state;

static unsigned below(unsigned limit) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)((state >> 33) % limit);
}

/* Numbers for case `number` of a seed. */
static void begin(unsigned long long seed, unsigned long long number) {
    state = seed * 1000003ULL + number;
    for (int i = 0; i < 8; i++)
        below(2);
}

static unsigned long long fingerprint(const void *data, size_t bytes) {
    unsigned long long sum = 14695981039346656037ULL;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ ((const unsigned char *)data)[i]) * 1099511628211ULL;
    return sum;
}

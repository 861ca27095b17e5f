/* What programs can tell heddle about themselves. Without heddle, these do nothing: the program
 * runs as it is.
 *
 *   HEDDLE_SAMPLE(TIMES, PRECISION) { ... }
 *       The block runs at least TIMES times in each rank, and then until the standard error of
 *       the mean of its computation is at most PRECISION times the mean (0 asks for no more).
 *       Afterwards it does not run, and its mean time passes instead: its results are missing.
 *       Do not leave it by break, goto or return.
 *   HEDDLE_SAMPLE_ALL(TIMES, PRECISION) { ... }
 *       The same, with the times of all ranks together.
 *   heddle_shared_malloc(BYTES), heddle_shared_free(POINTER)
 *       Memory that all ranks share which ask for it in the same line: the memory of one for all.
 *       What one writes, all read.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <dlfcn.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int (*heddle_sample_begin_)(const char *file, int line, int all, int times,
                                    double precision);
typedef void (*heddle_sample_end_)(const char *file, int line, int all);
typedef void *(*heddle_allocate_)(size_t bytes, const char *file, int line);
typedef int (*heddle_free_)(const void *address);

static inline int heddle_begin(const char *file, int line, int all, int times, double precision) {
    static heddle_sample_begin_ begin;
    if (!begin) begin = (heddle_sample_begin_)dlsym(RTLD_DEFAULT, "heddle_sample_begin");
    return begin ? begin(file, line, all, times, precision) : 1;
}

static inline void heddle_end(const char *file, int line, int all) {
    static heddle_sample_end_ end;
    if (!end) end = (heddle_sample_end_)dlsym(RTLD_DEFAULT, "heddle_sample_end");
    if (end) end(file, line, all);
}

static inline void *heddle_allocate(size_t bytes, const char *file, int line) {
    heddle_allocate_ allocate = (heddle_allocate_)dlsym(RTLD_DEFAULT, "heddle_shared_allocate");
    return allocate ? allocate(bytes, file, line) : malloc(bytes);
}

static inline void heddle_shared_free(void *address) {
    heddle_free_ release = (heddle_free_)dlsym(RTLD_DEFAULT, "heddle_fold_free");
    if (!release || !release(address)) free(address);
}

#ifdef __cplusplus
}
#endif

#define HEDDLE_BLOCK_(all, times, precision)                                                  \
    for (int heddle_runs = heddle_begin(__FILE__, __LINE__, all, times, precision); heddle_runs; \
         heddle_runs = (heddle_end(__FILE__, __LINE__, all), 0))
#define HEDDLE_SAMPLE(times, precision) HEDDLE_BLOCK_(0, times, precision)
#define HEDDLE_SAMPLE_ALL(times, precision) HEDDLE_BLOCK_(1, times, precision)
#define heddle_shared_malloc(bytes) heddle_allocate(bytes, __FILE__, __LINE__)

#endif

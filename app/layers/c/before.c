/* Loaded before the program where it is to be changed without its knowledge: large allocations that
 * are the same for all ranks (HEDDLE_FOLD_FROM), clocks that show simulated time
 * (HEDDLE_HOST_CLOCK). What is not changed goes to the C library, or to the allocator that the
 * program has in its place. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The C library's own, under names that cannot be taken. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* The allocator behind this library. */
static struct allocator {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void (*free)(void *);
} real;

/* It is looked for when it is needed first, before there are threads: constructors of other
 * libraries run before this one's. */
static const struct allocator *allocator(void) {
    static int looked;
    if (!looked) {
        looked = 1;
        real = (struct allocator){__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign,
                                  __libc_free};
        struct allocator next = {
            (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"),
            (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc"),
            (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc"),
            (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign"),
            (void (*)(void *))dlsym(RTLD_NEXT, "free"),
        };
        if (next.malloc && next.calloc && next.realloc && next.memalign && next.free) real = next;
    }
    return &real;
}

/* The thread is in that allocator, or looks for functions, which takes memory for messages: what
 * asks for the time there gets the host's. At a fixed place, since others take memory when they are
 * used first. */
static __thread int busy __attribute__((tls_model("initial-exec")));

#define BEHIND(call) \
    ({ \
        busy++; \
        void *given = (call); \
        busy--; \
        given; \
    })

static size_t fold_from = SIZE_MAX;
static int simulated;

/* Functions of libheddle_mpi.so, once that is there. */
static void *(*fold)(size_t);
static int (*fold_free)(const void *);
static size_t (*fold_size)(const void *);
static int (*fold_resize)(const void *, size_t);
static int (*now)(uint64_t *);
static int (*rest)(uint64_t);

static int is_ours(struct dl_phdr_info *one, size_t size, void *path) {
    (void)size;
    const char *name = strrchr(one->dlpi_name, '/');
    if (!name || strcmp(name, "/libheddle_mpi.so")) return 0;
    *(const char **)path = one->dlpi_name;
    return 1;
}

/* One of them, for all to see or only for those who have opened the library, as interpreters do
 * with what they import. */
static void *found(const char *name) {
    void *function = dlsym(RTLD_DEFAULT, name);
    const char *path;
    if (!function && dl_iterate_phdr(is_ours, &path)) {
        void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        if (library) function = dlsym(library, name);
    }
    return function;
}

/* Looks for them while they are not there: a program may load MPI late. */
static int connected(void) {
    if (!fold_free && !busy) {
        busy++;
        now = (int (*)(uint64_t *))found("heddle_clock");
        rest = (int (*)(uint64_t))found("heddle_sleep");
        fold = (void *(*)(size_t))found("heddle_fold");
        fold_size = (size_t(*)(const void *))found("heddle_fold_size");
        fold_resize = (int (*)(const void *, size_t))found("heddle_fold_resize");
        fold_free = (int (*)(const void *))found("heddle_fold_free");
        busy--;
    }
    return fold_free != NULL;
}

__attribute__((constructor)) static void begin(void) {
    const char *from = getenv("HEDDLE_FOLD_FROM"), *clock = getenv("HEDDLE_HOST_CLOCK");
    simulated = clock && !strcmp(clock, "simulated");
    if (from) fold_from = strtoull(from, NULL, 10);
}

static void *folded(size_t bytes) { return bytes >= fold_from && connected() ? fold(bytes) : NULL; }

static size_t size_of(const void *address) { return fold_free ? fold_size(address) : 0; }

EXPORT void *malloc(size_t bytes) {
    void *address = folded(bytes);
    return address ? address : BEHIND(allocator()->malloc(bytes));
}

EXPORT void *calloc(size_t number, size_t each) {
    size_t bytes;
    void *address = __builtin_mul_overflow(number, each, &bytes) ? NULL : folded(bytes);
    return address ? address : BEHIND(allocator()->calloc(number, each));
}

EXPORT void free(void *address) {
    if (size_of(address) && fold_free(address)) return;
    busy++;
    allocator()->free(address);
    busy--;
}

EXPORT void *realloc(void *old, size_t bytes) {
    size_t before = size_of(old);
    if (!before && (!old || bytes < fold_from))
        return old ? BEHIND(allocator()->realloc(old, bytes)) : malloc(bytes);
    if (before && bytes >= fold_from && fold_resize(old, bytes)) return old;
    void *address = bytes || !before ? malloc(bytes) : NULL;
    if (address) {
        size_t kept = before ? before : malloc_usable_size(old);
        memcpy(address, old, kept < bytes ? kept : bytes);
    }
    if (address || !bytes) free(old);
    return address;
}

EXPORT void *memalign(size_t alignment, size_t bytes) {
    void *address = alignment <= 4096 ? folded(bytes) : NULL;
    return address ? address : BEHIND(allocator()->memalign(alignment, bytes));
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

EXPORT int posix_memalign(void **address, size_t alignment, size_t bytes) {
    if (alignment % sizeof(void *) || (alignment & (alignment - 1)) || !alignment) return EINVAL;
    void *made = memalign(alignment, bytes);
    if (!made) return ENOMEM;
    *address = made;
    return 0;
}

EXPORT size_t malloc_usable_size(void *address) {
    static size_t (*real)(void *);
    size_t size = size_of(address);
    if (size || !address) return size;
    if (!real) real = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    return real ? real(address) : 0;
}

/* Simulated time begins with the year 2000. */
#define START 946684800
#define SECOND UINT64_C(1000000000000)

static int simulated_now(struct timespec *time) {
    uint64_t picoseconds;
    if (!simulated || busy || !connected() || !now(&picoseconds)) return 0;
    time->tv_sec = START + (time_t)(picoseconds / SECOND);
    time->tv_nsec = (long)(picoseconds % SECOND / 1000);
    return 1;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time) {
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
        if (simulated_now(time)) return 0;
    }
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real ? real(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec fine;
    if (simulated_now(&fine)) {
        time->tv_sec = fine.tv_sec;
        time->tv_usec = fine.tv_nsec / 1000;
        return 0;
    }
    return (int)syscall(SYS_gettimeofday, time, zone);
}

EXPORT time_t time(time_t *place) {
    struct timespec fine;
    if (!simulated_now(&fine)) clock_gettime(CLOCK_REALTIME, &fine);
    if (place) *place = fine.tv_sec;
    return fine.tv_sec;
}

static int sleeps(const struct timespec *how_long) {
    if (!simulated || how_long->tv_sec < 0 || (uint64_t)how_long->tv_sec > UINT64_MAX / SECOND / 2
        || !connected()) return 0;
    return rest((uint64_t)how_long->tv_sec * SECOND + (uint64_t)how_long->tv_nsec * 1000);
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *how_long,
                           struct timespec *left) {
    struct timespec until = *how_long, present;
    if ((flags & TIMER_ABSTIME) && simulated_now(&present)) {
        int64_t nanoseconds = (until.tv_sec - present.tv_sec) * INT64_C(1000000000)
            + until.tv_nsec - present.tv_nsec;
        if (nanoseconds < 0) return 0;
        until = (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
        /* Who does not sleep in simulated time sleeps as long by the host's clock, which shows
         * another time. */
        flags &= ~TIMER_ABSTIME;
    }
    if (sleeps(&until)) return 0;
    return syscall(SYS_clock_nanosleep, clock, flags, &until, left) ? errno : 0;
}

EXPORT int nanosleep(const struct timespec *how_long, struct timespec *left) {
    return sleeps(how_long) ? 0 : (int)syscall(SYS_nanosleep, how_long, left);
}

EXPORT int usleep(useconds_t microseconds) {
    return nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000L},
                     NULL);
}

EXPORT unsigned sleep(unsigned seconds) {
    struct timespec left = {0, 0};
    return nanosleep(&(struct timespec){seconds, 0}, &left) ? (unsigned)left.tv_sec : 0;
}

/* Waits for descriptors: with simulated clocks, those that are not ready now are not when the time
 * has passed. */
EXPORT int ppoll(struct pollfd *list, nfds_t count, const struct timespec *how_long,
                 const sigset_t *mask) {
    struct timespec rest_of_it = how_long ? *how_long : (struct timespec){0, 0}, nothing = {0, 0},
        present;
    int waits = how_long && (how_long->tv_sec > 0 || how_long->tv_nsec > 0)
        && simulated_now(&present);
    int ready = (int)syscall(SYS_ppoll, list, count,
                             waits ? &nothing : how_long ? &rest_of_it : NULL, mask, sizeof(long));
    if (waits && !ready) sleeps(how_long);
    return ready;
}

EXPORT int poll(struct pollfd *list, nfds_t count, int milliseconds) {
    struct timespec how_long = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return ppoll(list, count, milliseconds < 0 ? NULL : &how_long, NULL);
}

EXPORT int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
                   const struct timespec *how_long, const sigset_t *mask) {
    struct timespec rest_of_it = how_long ? *how_long : (struct timespec){0, 0}, nothing = {0, 0},
        present;
    struct {
        const sigset_t *mask;
        size_t size;
    } signals = {mask, sizeof(long)};
    int waits = how_long && (how_long->tv_sec > 0 || how_long->tv_nsec > 0)
        && simulated_now(&present);
    int ready = (int)syscall(SYS_pselect6, count, reads, writes, others,
                             waits ? &nothing : how_long ? &rest_of_it : NULL, &signals);
    if (waits && !ready) sleeps(how_long);
    return ready;
}

EXPORT int select(int count, fd_set *reads, fd_set *writes, fd_set *others,
                  struct timeval *how_long) {
    if (!how_long) return pselect(count, reads, writes, others, NULL, NULL);
    struct timespec fine = {how_long->tv_sec, how_long->tv_usec * 1000L};
    return pselect(count, reads, writes, others, &fine, NULL);
}

/* Ranks whose threads call MPI, and have variables, locks, keys and thread-local variables of their
 * own. The first argument is the level that is asked for: multiple, serialized; or a way in which
 * ranks end: exits, a thread of each ends it; leaves, main returns while threads go on. */
#define _GNU_SOURCE
#include "conformance.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20, FEW = 4 };

static int numbers[ROUNDS], sum_of_rank, destroyed;
static _Thread_local int mine = 7;
static char large[1 << 17];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_key_t before, after;
static volatile int flag;
static atomic_int ready;
static int ticks;

static void destroys(void *value) {
    CHECK(*(int *)value == rank);
    destroyed++;
}

/* Variables of the rank are its own, whichever of its threads looks. */
static void own_variables(void) {
    for (int i = 0; i < ROUNDS; i++)
        CHECK(numbers[i] == rank * ROUNDS + i);
    CHECK(large[1 << 16] == (char)rank);
}

/* Passes numbers on around the ring, and keeps what it knows of the rank in variables. */
static void *ring(void *argument) {
    int tag = (int)(long)argument, last = (rank + ranks - 1) % ranks;
    CHECK(mine == 7);
    mine = rank * 100 + tag;
    pthread_setspecific(after, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        int got = -1, sent = rank * 1000 + tag * 100 + round;
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, tag, &got, 1, MPI_INT, last, tag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == last * 1000 + tag * 100 + round);
        CHECK(mine == rank * 100 + tag);
        CHECK(pthread_getspecific(after) == &rank);
        own_variables();
        pthread_mutex_lock(&mutex);
        sum_of_rank += rank + 1;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void rings(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, ring, (void *)i) == 0);
    for (long i = 0; i < THREADS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)i);
    }
    CHECK(sum_of_rank == THREADS * ROUNDS * (rank + 1));
    CHECK(destroyed == THREADS);
    CHECK(mine == 5 + rank);
}

static void pause_for(long nanoseconds) {
    struct timespec pause = {0, nanoseconds};
    nanosleep(&pause, NULL);
}

/* Ways to wait for a flag without MPI, all in variables of which each rank has its own. */
static void *waits(void *argument) {
    switch ((int)(long)argument) {
    case 0:
        while (!flag) ;
        break;
    case 1:
        while (!flag) sched_yield();
        break;
    case 2:
        while (!flag) usleep(100);
        break;
    case 3:
        pthread_mutex_lock(&mutex);
        while (!flag) pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
        break;
    default:
        pthread_mutex_lock(&mutex);
        while (!flag) {
            struct timespec end;
            clock_gettime(CLOCK_REALTIME, &end);
            end.tv_nsec = (end.tv_nsec + 3000000) % 1000000000;
            end.tv_sec += end.tv_nsec < 3000000;
            pthread_cond_timedwait(&condition, &mutex, &end);
        }
        pthread_mutex_unlock(&mutex);
    }
    CHECK(flag == rank + 1);
    own_variables();
    return NULL;
}

/* A thread waits for a flag that another sets once it has received. */
static void flags(int way) {
    pthread_t thread;
    int got = -1, next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    flag = 0;
    CHECK(pthread_create(&thread, NULL, waits, (void *)(long)way) == 0);
    for (int round = 0; round < FEW; round++) {
        int sent = rank + round;
        MPI_Sendrecv(&sent, 1, MPI_INT, next, 50, &got, 1, MPI_INT, last, 50, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(got == last + round);
        if (round == 1) pause_for(2000000);
    }
    pthread_mutex_lock(&mutex);
    flag = rank + 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* Threads take memory, write and compute while their rank is in MPI. */
static void *works(void *argument) {
    char text[64];
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!flag) {
        char *block = malloc(100 + ticks % 5000);
        memset(block, rank, 100);
        snprintf(text, sizeof text, "%d %g", rank, (double)ticks);
        CHECK(block[99] == rank && atoi(text) == rank);
        free(block);
        own_variables();
        ticks++;
    }
    atomic_fetch_add(&ready, 1);
    return argument;
}

static void beside_work(void) {
    thrd_t thread;
    int sum = 0;
    flag = 0;
    CHECK(thrd_create(&thread, (thrd_start_t)(void (*)(void))works, NULL) == thrd_success);
    for (int round = 0; round < FEW; round++) {
        char *block = malloc(1000);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == ranks * (ranks - 1) / 2);
        free(block);
    }
    flag = 1;
    CHECK(thrd_join(thread, NULL) == thrd_success);
    CHECK(ready == 1);
}

/* Threads call one at a time. */
static void *in_turn(void *argument) {
    int thread = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int sent = rank * 10 + thread, got;
        pthread_mutex_lock(&mutex);
        MPI_Send(&sent, 1, MPI_INT, (rank + 1) % ranks, 9, MPI_COMM_WORLD);
        pthread_mutex_unlock(&mutex);
        pthread_mutex_lock(&mutex);
        MPI_Recv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        sum_of_rank += got;
        pthread_mutex_unlock(&mutex);
        own_variables();
    }
    return NULL;
}

static void serialized(void) {
    pthread_t other;
    int last = (rank + ranks - 1) % ranks;
    pthread_create(&other, NULL, in_turn, (void *)1L);
    in_turn(NULL);
    pthread_join(other, NULL);
    CHECK(sum_of_rank == 2 * ROUNDS * last * 10 + ROUNDS);
}

/* Ends the rank, whose first thread is in MPI. */
static void *ends(void *argument) {
    int got;
    MPI_Recv(&got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == rank);
    own_variables();
    MPI_Finalize();
    exit(argument ? 3 : 0);
}

static void *never_ends(void *argument) {
    for (;;) own_variables();
    return argument;
}

static void at_end(void) {
    own_variables();
    CHECK(mine == 5 + rank || mine == 7);
}

int main(int argc, char **argv) {
    int provided, multiple = strcmp(argv[1], "serialized"), main_thread = 0;
    pthread_t thread;
    mine = 5;
    CHECK(pthread_key_create(&before, NULL) == 0 && pthread_setspecific(before, &ticks) == 0);
    srand(1);
    cpu_set_t cores, asked;
    sched_getaffinity(0, sizeof cores, &cores);
    CPU_ZERO(&asked);
    for (int core = 0; !CPU_COUNT(&asked); core++)
        if (CPU_ISSET(core, &cores)) CPU_SET(core, &asked);
    CHECK(sched_setaffinity(0, sizeof asked, &asked) == 0);
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED,
                    &provided);
    CHECK(provided == (multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread && mine == 5 && pthread_getspecific(before) == &ticks);
    CHECK(rand() == 1804289383);
    CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_EQUAL(&cores, &asked));
    CHECK(pthread_key_create(&after, destroys) == 0);
    mine += rank;
    atexit(at_end);
    for (int i = 0; i < ROUNDS; i++)
        numbers[i] = rank * ROUNDS + i;
    large[1 << 16] = (char)rank;
    if (!strcmp(argv[1], "multiple")) {
        rings();
    } else if (!strcmp(argv[1], "flags")) {
        for (int way = 0; way < 5; way++)
            flags(way);
    } else if (!strcmp(argv[1], "works")) {
        beside_work();
    } else if (!multiple) {
        serialized();
    } else if (!strcmp(argv[1], "exits")) {
        int got;
        pthread_create(&thread, NULL, ends, rank == 1 ? &rank : NULL);
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 4, &got, 1, MPI_INT,
                     (rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&rank, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
        return 9;
    } else {
        pthread_create(&thread, NULL, never_ends, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        own_variables();
    }
    own_variables();
    MPI_Finalize();
    return 0;
}

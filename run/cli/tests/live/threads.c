/* MPI_THREAD_MULTIPLE (MPI 4.1, section 11.6): threads of a rank in MPI at once. */
#include "conformance.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 50 };

static MPI_Comm comms[THREADS];
static volatile int flag;

/* Each thread passes numbers on around the ring of a communicator of its own. */
static void *ring(void *argument) {
    MPI_Comm comm = *(MPI_Comm *)argument;
    int size = ranks;
    for (int round = 0; round < ROUNDS; round++) {
        int mine = rank * ROUNDS + round, got = -1, from = (rank + size - 1) % size;
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, from, round, comm, &request);
        MPI_Send(&mine, 1, MPI_INT, (rank + 1) % size, round, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got == from * ROUNDS + round);
    }
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
    return NULL;
}

static void *receives(void *argument) {
    int *got = argument;
    MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return NULL;
}

/* A thread waits in a receive while another sleeps, computes, and then sends to the same rank. */
static void to_itself(int sleeps) {
    pthread_t thread;
    int got = 0, sent = 42;
    pthread_create(&thread, NULL, receives, &got);
    if (sleeps) {
        struct timespec pause = {0, 30000000};
        nanosleep(&pause, NULL);
    } else {
        volatile double work = 1;
        for (int i = 0; i < 3000000; i++)
            work = work * 1.0000001;
    }
    MPI_Ssend(&sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
    pthread_join(thread, NULL);
    CHECK(got == 42);
}

/* A thread does not call MPI until another has received what a third rank sends later. */
static void *then(void *argument) {
    int *got = argument;
    MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    flag = 1;
    return NULL;
}

static void spins(void) {
    pthread_t thread;
    int got = 0, sent = 5, next = (rank + 1) % ranks;
    flag = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, then, &got);
    if (rank == 0)
        MPI_Send(&sent, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    while (!flag)
        sched_yield();
    if (rank != 0)
        MPI_Send(&sent, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    CHECK(got == 5);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static MPI_Request generalized;

static int query(void *extra, MPI_Status *status) {
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int nothing(void *extra) {
    (void)extra;
    return MPI_SUCCESS;
}
static int cancel(void *extra, int complete) {
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void *completes(void *argument) {
    (void)argument;
    pthread_mutex_lock(&mutex);
    while (!flag)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    MPI_Grequest_complete(generalized);
    return NULL;
}

/* A thread completes a request that another waits for, once a third tells it to. */
static void *tells(void *argument) {
    int token = 0;
    MPI_Recv(&token, 1, MPI_INT, 0, 11, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(token == 1);
    pthread_mutex_lock(&mutex);
    flag = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void of_the_program(void) {
    pthread_t first, second;
    int token = 1;
    flag = 0;
    MPI_Grequest_start(query, nothing, cancel, NULL, &generalized);
    pthread_create(&first, NULL, completes, NULL);
    pthread_create(&second, NULL, tells, NULL);
    MPI_Send(&token, 1, MPI_INT, 0, 11, MPI_COMM_SELF);
    MPI_Wait(&generalized, MPI_STATUS_IGNORE);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}

enum { LOOKS = 3, FOUND = 20 };

/* Looks for messages of one tag: threads of even numbers by probes, others by matched ones. */
static void *looks(void *argument) {
    int tag = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int got = -1;
        MPI_Status status;
        if (tag % 2) {
            MPI_Message message;
            MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
        } else {
            MPI_Probe((rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, &status);
            MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD, &status);
        }
        CHECK(got == tag + 100 * round && status.MPI_TAG == tag);
    }
    return NULL;
}

/* Threads look for messages while others look for, and receive, those between them. */
static void beside_probes(void) {
    pthread_t threads[LOOKS];
    int tags[LOOKS], next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    struct timespec pause = {0, 2000000};
    for (int i = 0; i < LOOKS; i++) {
        tags[i] = FOUND + i;
        pthread_create(&threads[i], NULL, looks, &tags[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int got = -1, mine = round;
        MPI_Request request;
        if (round < 3)
            nanosleep(&pause, NULL);
        MPI_Irecv(&got, 1, MPI_INT, last, FOUND + LOOKS, MPI_COMM_WORLD, &request);
        MPI_Ssend(&mine, 0, MPI_INT, next, FOUND + LOOKS, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = LOOKS - 1; i >= 0; i--) {
            mine = tags[i] + 100 * round;
            MPI_Send(&mine, 1, MPI_INT, next, tags[i], MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < LOOKS; i++)
        pthread_join(threads[i], NULL);
}

/* Threads that wait for any message share what comes, each message once. */
static void *matches(void *sum) {
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Message message;
        int got;
        MPI_Mprobe(MPI_ANY_SOURCE, FOUND, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        *(int *)sum += got;
    }
    return NULL;
}

static void matched_probes(void) {
    pthread_t threads[LOOKS];
    int sums[LOOKS] = {0}, all = 0, next = (rank + 1) % ranks, messages = LOOKS * ROUNDS;
    /* So that most are in MPI_Mprobe when the messages come; what is checked does not depend on it.
     */
    struct timespec pause = {0, 2000000};
    for (int i = 0; i < LOOKS; i++)
        pthread_create(&threads[i], NULL, matches, &sums[i]);
    nanosleep(&pause, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i <= messages; i++)
        MPI_Send(&i, 1, MPI_INT, next, FOUND, MPI_COMM_WORLD);
    for (int i = 0; i < LOOKS; i++) {
        pthread_join(threads[i], NULL);
        all += sums[i];
    }
    if (all != messages * (messages + 1) / 2)
        MPI_Abort(MPI_COMM_WORLD, 7);
}

enum { HANDS = 3, TURNS = 200, TOKEN = 31 };

static pthread_cond_t turns[HANDS] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                      PTHREAD_COND_INITIALIZER};
static int turn;

/* Wakes the next thread and falls asleep itself, so that never all of them sleep; the one with the
 * last turn sends. */
static void *hands_on(void *argument) {
    int hand = *(int *)argument;
    for (int mine = hand; mine < TURNS; mine += HANDS) {
        pthread_mutex_lock(&mutex);
        while (turn != mine)
            pthread_cond_wait(&turns[hand], &mutex);
        turn = mine + 1;
        pthread_cond_signal(&turns[turn % HANDS]);
        pthread_mutex_unlock(&mutex);
        if (mine == TURNS - 1)
            MPI_Send(&mine, 1, MPI_INT, (rank + 1) % ranks, TOKEN, MPI_COMM_WORLD);
    }
    return NULL;
}

static void token(void) {
    pthread_t threads[HANDS];
    int hands[HANDS];
    for (int round = 0; round < 20; round++) {
        int got = -1;
        turn = 0;
        for (int i = 0; i < HANDS; i++) {
            hands[i] = i;
            pthread_create(&threads[i], NULL, hands_on, &hands[i]);
        }
        MPI_Recv(&got, 1, MPI_INT, (rank + ranks - 1) % ranks, TOKEN, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK(got == TURNS - 1);
        for (int i = 0; i < HANDS; i++)
            pthread_join(threads[i], NULL);
    }
}

static MPI_Win window;

/* Adds to a counter of a target under its lock, for which the same thread of all ranks waits. */
static void *locks(void *argument) {
    int target = *(int *)argument, value;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
        MPI_Get(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
        MPI_Win_flush(target, window);
        value++;
        MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
        MPI_Win_unlock(target, window);
    }
    return NULL;
}

/* Threads wait for the locks of different targets of a window. */
static void of_windows(void) {
    pthread_t threads[THREADS];
    int targets[THREADS], number = ranks < THREADS ? ranks : THREADS, *counter;
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < number; i++) {
        targets[i] = i;
        pthread_create(&threads[i], NULL, locks, &targets[i]);
    }
    for (int i = 0; i < number; i++)
        pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(*counter == (rank < number ? ranks * ROUNDS : 0));
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, ring, &comms[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_free(&comms[i]);
        to_itself(0);
        to_itself(1);
        spins();
        of_the_program();
        beside_probes();
        matched_probes();
        token();
        of_windows();
    }
    MPI_Finalize();
    return 0;
}

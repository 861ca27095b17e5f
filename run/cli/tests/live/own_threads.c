/* A thread of each rank's own, which it waits for before it lets other ranks run (joined), or
 * afterwards. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "check.h"

static void *work(void *given) {
    sem_wait(given);
    pthread_exit(given);
}

int main(int argc, char **argv) {
    pthread_t thread;
    void *result = NULL;
    sem_t *go = malloc(sizeof *go);
    begin(&argc, &argv);
    sem_init(go, 0, !strcmp(argv[1], "joined"));
    CHECK(pthread_create(&thread, NULL, work, go) == 0);
    if (!strcmp(argv[1], "joined")) CHECK(pthread_join(thread, &result) == 0 && result == go);
    MPI_Barrier(MPI_COMM_WORLD);
    sem_post(go);
    if (strcmp(argv[1], "joined")) CHECK(pthread_join(thread, &result) == 0 && result == go);
    return end();
}

/* What ranks do to each other's memory, files and names, they do at their simulated times, not when
 * their code happens to run. */
#include <unistd.h>

#include "check.h"

enum { TASKS = 12, LONG = 10000, SHORT = 1000 };

static long *window;
static MPI_Win win;

static long counter(int word, long more)
{
    long got;
    MPI_Fetch_and_op(&more, &got, MPI_LONG, 0, word, MPI_SUM, win);
    MPI_Win_flush(0, win);
    return got;
}

/* Three ranks take tasks from a counter: while one is at the first, which takes as long as ten
 * others, two do the other eleven. */
static void share_tasks(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime(), took;
    MPI_Win_lock_all(0, win);
    for (long task; rank > 0 && (task = counter(0, 1)) < TASKS;)
        usleep(task == 0 ? LONG : SHORT);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    took = MPI_Wtime() - begin;
    CHECK(took > 0.01 && took < 0.0105);
}

/* Nobody sees what is put, or accumulated, before it is. */
static void see_flags(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    long one = 1;
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        while (((volatile long *)window)[1] == 0)
            MPI_Win_sync(win);
    } else if (rank == 1) {
        usleep(5000);
        MPI_Put(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        usleep(5000);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(0, win);
    } else {
        while (counter(2, 0) == 0)
            usleep(20);
    }
    double took = MPI_Wtime() - begin, least = rank == 0 ? 0.005 : 0.01;
    CHECK(took > least && took < least + 0.0005);
    MPI_Win_unlock_all(win);
}

/* The last rank writes first, and rank 0 last. */
static void write_in_order(const char *name)
{
    char line[] = {'0' + rank, 0}, *found = calloc(size + 1, 1);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    usleep(1000 * (size - rank));
    MPI_File_write_shared(file, line, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, 0, found, size, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int place = 0; place < size; place++)
        CHECK(found[place] == '0' + size - 1 - place);
    free(found);
    MPI_File_close(&file);
}

/* What comes while a rank computes is there when it looks after that, the first time, and is not to
 * be withdrawn. */
static void look_after_computing(void)
{
    int value = 0, done = 0, number = 0;
    MPI_Request requests[3];
    MPI_Status status;
    if (rank == 0) {
        for (; number < 3; number++)
            MPI_Irecv(&value, 1, MPI_INT, 1, number, MPI_COMM_WORLD, &requests[number]);
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(10000);
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        CHECK(done);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        usleep(10000);
        MPI_Iprobe(1, 3, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
        CHECK(done);
        MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(10000);
        for (number = 1; number < 3; number++) {
            MPI_Cancel(&requests[number]);
            MPI_Wait(&requests[number], &status);
            MPI_Test_cancelled(&status, &done);
            CHECK(done == (number == 2));
        }
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        int tags[] = {0, 3, 1};
        for (usleep(5000); rank == 1 && number < 3; number++, usleep(10000))
            MPI_Send(&value, 1, MPI_INT, 0, tags[number], MPI_COMM_WORLD);
    }
}

/* A name is known when it has been published. */
static void find_name(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(1000);
        MPI_Publish_name("moments", MPI_INFO_NULL, "here");
    } else {
        FAILS(MPI_Lookup_name("moments", MPI_INFO_NULL, port), MPI_ERR_NAME);
        usleep(2000);
        CHECK(MPI_Lookup_name("moments", MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Unpublish_name("moments", MPI_INFO_NULL, "here");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Win_allocate(3 * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window,
                     &win);
    window[0] = window[1] = window[2] = 0;
    share_tasks();
    see_flags();
    write_in_order(argv[1]);
    find_name();
    look_after_computing();
    MPI_Win_free(&win);
    return end();
}

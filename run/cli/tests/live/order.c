/* Ranks take tickets, locks, flags and places of a shared file pointer from each other: what each
 * got, and when all was over. */
#include "check.h"

enum { TIMES = 8, WORDS = 4 };

static long *window;
static MPI_Win win;

static long fetch_and_add(int word)
{
    long one = 1, got;
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, word, MPI_SUM, win);
    MPI_Win_flush(0, win);
    return got;
}

/* Tickets of a counter at rank 0. */
static void take_tickets(long *got)
{
    MPI_Win_lock_all(0, win);
    for (int time = 0; time < TIMES; time++)
        got[time] = fetch_and_add(0);
    MPI_Win_unlock_all(win);
}

/* The same by reading and writing under a lock, at one rank after the other; some only look at it.
 */
static void take_locks(long *got)
{
    for (int time = 0; time < TIMES; time++) {
        int at = (time + rank) % size, looks = (time + rank) % 3 == 0;
        long value = -1;
        MPI_Win_lock(looks ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, at, 0, win);
        MPI_Get(&value, 1, MPI_LONG, at, 1, 1, MPI_LONG, win);
        MPI_Win_flush(at, win);
        got[time] = value++;
        if (!looks)
            MPI_Put(&value, 1, MPI_LONG, at, 1, 1, MPI_LONG, win);
        MPI_Win_unlock(at, win);
    }
}

/* Each waits for a flag that the one before sets: how often it looked. */
static void pass_flags(long *got)
{
    MPI_Win_lock_all(0, win);
    for (int time = 0; time < TIMES; time++) {
        long flag = time + 1;
        for (got[time] = 0; rank > 0 && ((volatile long *)window)[2] < flag; got[time]++)
            MPI_Win_sync(win);
        MPI_Accumulate(&flag, 1, MPI_LONG, (rank + 1) % size, 2, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_flush((rank + 1) % size, win);
    }
    MPI_Win_unlock_all(win);
}

/* Lines of a file that all write at its shared pointer. */
static void write_lines(const char *name, long *got)
{
    MPI_File file;
    char line = 'a' + rank;
    MPI_Offset length;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    for (int time = 0; time < TIMES; time++)
        MPI_File_write_shared(file, &line, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &length);
    CHECK(length == (MPI_Offset)TIMES * size);
    for (int time = 0; time < TIMES; time++) {
        MPI_File_read_at(file, TIMES * rank + time, &line, 1, MPI_CHAR, MPI_STATUS_IGNORE);
        got[time] = line - 'a';
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    enum { KINDS = 4 };
    long got[KINDS][TIMES], *of_all = NULL;
    begin(&argc, &argv);
    MPI_Win_allocate(WORDS * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window,
                     &win);
    for (int word = 0; word < WORDS; word++)
        window[word] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    take_tickets(got[0]);
    take_locks(got[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    pass_flags(got[2]);
    write_lines(argv[1], got[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(rank > 0 || window[0] == (long)TIMES * size);
    if (rank == 0)
        of_all = malloc(size * sizeof got);
    double time = MPI_Wtime();
    MPI_Gather(got, KINDS * TIMES, MPI_LONG, of_all, KINDS * TIMES, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int place = 0; rank == 0 && place < size * KINDS * TIMES; place++)
        printf("%ld%c", of_all[place], place % TIMES == TIMES - 1 ? '\n' : ' ');
    if (rank == 0)
        printf("%.12f\n", time);
    free(of_all);
    MPI_Win_free(&win);
    return end();
}

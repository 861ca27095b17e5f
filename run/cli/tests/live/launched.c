/* What mpirun is to do for a program: the argument says which. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two lines on standard output, the first in two pieces, and half a line on standard error. */
static void print(int rank) {
    printf("first %d", rank);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    printf(" and\nsecond\n");
    fprintf(stderr, "odd");
}

/* Whether a process has been told who it is in the manner of Open MPI and MPICH. */
static int is_told(int rank, int size, int local_rank, int local_size) {
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                           "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                           "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    int values[] = {rank, size, local_rank, local_size}, all = 1;
    for (int i = 0; i < 8; i++) all &= getenv(names[i]) && atoi(getenv(names[i])) == values[i / 2];
    return all;
}

/* Of each rank the name of its host, and how many share it. */
static void hosts(int rank, int size) {
    char name[MPI_MAX_PROCESSOR_NAME], text[300] = {0}, *all = malloc(300 * size);
    int length, together;
    MPI_Comm node;
    MPI_Get_processor_name(name, &length);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &together);
    snprintf(text, sizeof text, "%.200s %d", name, together);
    MPI_Gather(text, 300, MPI_CHAR, all, 300, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++) puts(all + 300 * i);

    /* What rank r of a host writes, the one before it there reads. */
    int *mine, *next, me, unit;
    MPI_Aint bytes;
    MPI_Win window;
    MPI_Comm_rank(node, &me);
    /* Ranks of one process share their environment. */
    if (getenv("HEDDLE_PORT") && !is_told(rank, size, me, together)) MPI_Abort(MPI_COMM_WORLD, 8);
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &window);
    MPI_Win_fence(0, window);
    *mine = 100 + me;
    MPI_Win_fence(0, window);
    MPI_Win_shared_query(window, (me + 1) % together, &bytes, &unit, &next);
    if (*next != 100 + (me + 1) % together) MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Win_free(&window);

    /* Ranks of several hosts share nothing. */
    int class, code;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                                   &window);
    MPI_Error_class(code, &class);
    if (rank == 0) puts(class == MPI_ERR_RMA_SHARED ? "apart" : "together");
    if (!code) MPI_Win_free(&window);
    free(all);
}

/* A child in a session of its own; both numbers of processes are written to a file of the folder.
 */
static void children(int rank, const char *folder) {
    char path[4096];
    pid_t child = fork();
    if (!child) {
        setsid();
        for (;;) pause();
    }
    snprintf(path, sizeof path, "%s/%d.part", folder, rank);
    FILE *file = fopen(path, "w");
    fprintf(file, "%d %d\n", getpid(), child);
    fclose(file);
    char whole[4096];
    snprintf(whole, sizeof whole, "%s/%d", folder, rank);
    rename(path, whole);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) pause();
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, size;
    /* As launchers do that close what they have not opened. */
    if (argc > 1 && !strcmp(argv[1], "closed")) close(atoi(getenv("HEDDLE_PORT")));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argv[1];
    if (!strcmp(what, "print")) print(rank);
    if (!strcmp(what, "hosts")) hosts(rank, size);
    if (!strcmp(what, "children")) children(rank, argv[2]);
    if (!strcmp(what, "kill") && rank == 1) raise(SIGKILL);
    if (!strcmp(what, "kill")) MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "variables")) {
        char folder[4096];
        printf("%d %s %s\n", rank, getenv("ONE") ? getenv("ONE") : "none",
               getcwd(folder, sizeof folder));
    }
    if (!strcmp(what, "away") && chdir("/")) MPI_Abort(MPI_COMM_WORLD, 10);
    if (!strcmp(what, "input") && rank == 0)
        for (int c; (c = getchar()) != EOF;) putchar(c);
    MPI_Finalize();
    return !strcmp(what, "code") && rank == 1 ? 5 : 0;
}

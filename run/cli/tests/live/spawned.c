/* A program that starts itself twice; the first word says what the children do, or what is wrong
 * with the call. */
#include <signal.h>
#include <unistd.h>

#include "conformance.h"

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void child(const char *word) {
    int number = 0;
    printf("child %d says %s\n", rank, word);
    fflush(stdout);
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (!strcmp(word, "abort") && rank == 1) MPI_Abort(WORLD, 9);
    if (!strcmp(word, "exit") && rank == 1) exit(4);
    if (!strcmp(word, "crash") && rank == 1) raise(11);
    if (!strcmp(word, "waits")) MPI_Recv(&number, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
}

/* Processes that cannot be: the error handler of the communicator, and all codes, say so at all
 * ranks; and none is left behind. */
static void none(char **argv) {
    int codes[3] = {-1, -1, -1}, counts[] = {2, 1};
    char *programs[] = {argv[0], "/no/such/program"};
    MPI_Info info, infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children = WORLD;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Comm_spawn("no-such-program", MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, WORLD,
                              &children, codes);
    CHECK(class_of(code) == MPI_ERR_SPAWN && children == MPI_COMM_NULL);
    for (int i = 0; i < 3; i++) CHECK(class_of(codes[i]) == MPI_ERR_SPAWN);
    code = MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, WORLD, &children,
                                   MPI_ERRCODES_IGNORE);
    CHECK(class_of(code) == MPI_ERR_SPAWN);
    code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, WORLD, &children,
                          MPI_ERRCODES_IGNORE);
    CHECK(class_of(code) == MPI_ERR_SPAWN);
    code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, WORLD, &children,
                          MPI_ERRCODES_IGNORE);
    CHECK(class_of(code) == MPI_ERR_ARG);
    code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, ranks, WORLD, &children,
                          MPI_ERRCODES_IGNORE);
    CHECK(class_of(code) == MPI_ERR_ROOT);
    MPI_Info_create(&info);
    MPI_Info_set(info, "wdir", "/no/such/folder");
    code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, WORLD, &children,
                          MPI_ERRCODES_IGNORE);
    CHECK(class_of(code) == MPI_ERR_SPAWN);
    MPI_Info_free(&info);
}

/* One process on a host, the other anywhere; the program is found on a path. Each says where it is.
 */
static void placed(char **argv) {
    MPI_Info info[2];
    char folder[4096], *words[] = {"where", NULL}, *name = strrchr(argv[0], '/'),
        **all[] = {words, words};
    char *programs[] = {name + 1, argv[0]};
    int counts[] = {1, 1};
    MPI_Comm children;
    snprintf(folder, sizeof folder, "/nowhere:%.*s", (int)(name - argv[0]), argv[0]);
    for (int i = 0; i < 2; i++) MPI_Info_create(&info[i]);
    MPI_Info_set(info[0], "host", argv[2]);
    MPI_Info_set(info[0], "path", folder);
    MPI_Comm_spawn_multiple(2, programs, all, counts, info, 0, WORLD, &children,
                            MPI_ERRCODES_IGNORE);
    for (int i = 0; i < 2; i++) {
        char host[MPI_MAX_PROCESSOR_NAME];
        MPI_Recv(host, sizeof host, MPI_CHAR, i, 0, children, MPI_STATUS_IGNORE);
        if (rank == 0) printf("child %d is on %s\n", i, host);
        MPI_Info_free(&info[i]);
    }
}

static void where(MPI_Comm parent) {
    char host[MPI_MAX_PROCESSOR_NAME];
    int length, peers;
    MPI_Get_processor_name(host, &length);
    MPI_Comm_remote_size(parent, &peers);
    for (int i = 0; i < peers; i++) MPI_Send(host, sizeof host, MPI_CHAR, i, 0, parent);
}

int main(int argc, char **argv) {
    MPI_Comm parent, children;
    begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    const char *word = argc > 1 ? argv[1] : "";
    if (parent != MPI_COMM_NULL) {
        if (!strcmp(word, "where")) where(parent);
        else child(word);
    } else if (!strcmp(word, "none")) {
        none(argv);
    } else if (!strcmp(word, "placed")) {
        placed(argv);
    } else if (!strcmp(word, "room")) {
        int *universe, flag;
        MPI_Comm_get_attr(WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
        if (rank == 0) printf("%d of %d\n", ranks, flag ? *universe : -1);
    } else {
        MPI_Comm_spawn(!strcmp(word, "absent") ? "no-such-program" : argv[0], argv + 1, 2,
                       MPI_INFO_NULL, 0, WORLD, &children, MPI_ERRCODES_IGNORE);
    }
    MPI_Finalize();
    if (!strcmp(word, "late") && parent != MPI_COMM_NULL) usleep(300000);
    return 0;
}

/* Processes that the program starts (MPI 4.1, chapter 11): the program starts itself, with words
 * that say what to do. */
#include <unistd.h>

#include "conformance.h"

static MPI_Comm parent;

static int comm_size(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

static int remote_size(MPI_Comm comm) {
    int size;
    MPI_Comm_remote_size(comm, &size);
    return size;
}

static int attribute(int keyval) {
    int *value, flag;
    MPI_Comm_get_attr(WORLD, keyval, &value, &flag);
    return flag ? *value : -1;
}

/* All of one world and its children: messages, collectives in both directions, and both groups
 * merged. */
static void talk(MPI_Comm between, int is_parent, int high) {
    int mine, peers = remote_size(between), number = -1, sum = -1, flag;
    MPI_Comm_rank(between, &mine);
    MPI_Comm_test_inter(between, &flag);
    CHECK(flag);
    /* A message of the first rank of each group to the last of the other. */
    int token = is_parent ? 17 : 18;
    MPI_Request request = MPI_REQUEST_NULL;
    if (mine == 0) MPI_Isend(&token, 1, MPI_INT, peers - 1, 3, between, &request);
    if (mine == comm_size(between) - 1) {
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, between, &status);
        CHECK(number == (is_parent ? 18 : 17) && status.MPI_SOURCE == 0 && status.MPI_TAG == 3);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* From the parents' first rank to all children, and their sum back. */
    number = is_parent ? 40 : -1;
    MPI_Bcast(&number, 1, MPI_INT, !is_parent ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    CHECK(number == 40);
    number = mine + 1;
    MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM,
               !is_parent ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
    CHECK(!is_parent || mine != 0 || sum == peers * (peers + 1) / 2);
    MPI_Comm all;
    MPI_Intercomm_merge(between, high, &all);
    int place;
    MPI_Comm_rank(all, &place);
    CHECK(comm_size(all) == comm_size(between) + peers);
    CHECK(place == (high ? peers + mine : mine));
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, all);
    int own = comm_size(between);
    CHECK(sum == peers * (peers + 1) / 2 + own * (own + 1) / 2);
    MPI_Comm_free(&all);
}

static void is_null(MPI_Comm comm) {
    CHECK(comm == MPI_COMM_NULL);
}

/* All start two processes, with arguments of all kinds. */
static void together(char *program) {
    char *words[] = {"child", "two words", "", "--n=3", NULL};
    int codes[2] = {-1, -1};
    MPI_Comm children = MPI_COMM_NULL;
    /* What only the root says counts. */
    int leads = rank == ranks - 1;
    MPI_Comm_spawn(leads ? program : NULL, leads ? words : NULL, leads ? 2 : -1, MPI_INFO_NULL,
                   ranks - 1, WORLD, &children, codes);
    /* Open MPI tells the root only. */
    CHECK(!leads || (codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS));
    CHECK(comm_size(children) == ranks && remote_size(children) == 2);
    talk(children, 1, 0);
    MPI_Comm_disconnect(&children);
    is_null(children);
}

static void child(int argc, char **argv) {
    CHECK(argc == 5 && !strcmp(argv[2], "two words") && !strcmp(argv[3], "")
          && !strcmp(argv[4], "--n=3"));
    CHECK(ranks == 2 && attribute(MPI_APPNUM) == 0);
    talk(parent, 0, 1);
}

/* Each starts one process of its own, which starts another. */
static void alone(char *program) {
    char *words[] = {"line", "1", NULL};
    MPI_Comm next;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &next, MPI_ERRCODES_IGNORE);
    int depth = -1;
    MPI_Recv(&depth, 1, MPI_INT, 0, 5, next, MPI_STATUS_IGNORE);
    CHECK(depth == 2);
    MPI_Comm_disconnect(&next);
}

static void line(char **argv) {
    int depth = atoi(argv[2]);
    CHECK(ranks == 1 && rank == 0);
    if (depth < 2) {
        char *words[] = {"line", "2", NULL};
        MPI_Comm next;
        MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, WORLD, &next, MPI_ERRCODES_IGNORE);
        MPI_Recv(&depth, 1, MPI_INT, 0, 5, next, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&next);
    }
    MPI_Send(&depth, 1, MPI_INT, 0, 5, parent);
}

/* Two programs that are one world: each knows its number, and the second runs elsewhere. */
static void several(char *program) {
    char *programs[] = {program, program};
    char *first[] = {"part", "0", NULL}, *second[] = {"part", "1", "more", NULL};
    char **words[] = {first, second};
    int counts[] = {1, 2}, codes[] = {-1, -1, -1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Info_create(&infos[1]);
    MPI_Info_set(infos[1], "wdir", "/");
    MPI_Comm children;
    MPI_Comm_spawn_multiple(2, programs, words, counts, infos, 0, WORLD, &children, codes);
    MPI_Info_free(&infos[1]);
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS && codes[2] == MPI_SUCCESS);
    CHECK(remote_size(children) == 3);
    talk(children, 1, 1);
    MPI_Comm_disconnect(&children);
}

static void part(int argc, char **argv) {
    int number = atoi(argv[2]);
    char folder[4096];
    CHECK(ranks == 3 && attribute(MPI_APPNUM) == number && number == (rank > 0));
    CHECK(argc == 3 + number);
    CHECK(number == 0 || (getcwd(folder, sizeof folder) && !strcmp(folder, "/")));
    talk(parent, 0, 0);
}

/* Children of different ranks meet: the bridge between two worlds is made by the parents' names of
 * ports. */
static void strangers(char *program) {
    char port[MPI_MAX_PORT_NAME] = "";
    char *opens[] = {"opens", NULL}, *comes[] = {"comes", NULL};
    MPI_Comm one, other;
    MPI_Comm_spawn(program, opens, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &one, MPI_ERRCODES_IGNORE);
    MPI_Comm_spawn(program, comes, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
    MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, one, MPI_STATUS_IGNORE);
    for (int peer = 0; peer < 2; peer++) MPI_Send(port, sizeof port, MPI_CHAR, peer, 1, other);
    MPI_Comm_disconnect(&one);
    MPI_Comm_disconnect(&other);
}

static void stranger(int opens) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm other;
    if (opens) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 0, 1, parent);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, WORLD, &other);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, parent, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, WORLD, &other);
    }
    CHECK(ranks == (opens ? 1 : 2));
    talk(other, opens, !opens);
    MPI_Comm_disconnect(&other);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    const char *role = argc > 1 ? argv[1] : "";
    CHECK((parent == MPI_COMM_NULL) == (argc == 1));
    CHECK(attribute(MPI_UNIVERSE_SIZE) != 0);
    if (!strcmp(role, "child")) child(argc, argv);
    if (!strcmp(role, "line")) line(argv);
    if (!strcmp(role, "part")) part(argc, argv);
    if (!strcmp(role, "opens") || !strcmp(role, "comes")) stranger(!strcmp(role, "opens"));
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        is_null(parent);
        MPI_Comm_get_parent(&parent);
        is_null(parent);
    } else {
        together(argv[0]);
        alone(argv[0]);
        several(argv[0]);
        if (rank == 0) strangers(argv[0]);
    }
    MPI_Finalize();
    return 0;
}

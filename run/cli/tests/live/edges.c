/* The ends of what arguments may be: nobody to send to, steps beyond all numbers, objects that are
 * none, receives that are too short. */
#include "conformance.h"

#include <limits.h>

static int class(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Without neighbours, no buffer is needed, whatever the count says (MPI 4.1, section 8.6). */
static void nobody(void) {
    int value = 1, none[1] = {0};
    MPI_Comm graph;
    MPI_Request request;
    MPI_Dist_graph_create_adjacent(WORLD, 0, none, MPI_UNWEIGHTED, 0, none, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    CHECK(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, graph) == MPI_SUCCESS);
    CHECK(MPI_Neighbor_allgather(NULL, 1, MPI_INT, NULL, 1, MPI_INT, graph) == MPI_SUCCESS);
    CHECK(MPI_Neighbor_allgather(&value, 1, MPI_INT, NULL, 1, MPI_INT, graph) == MPI_SUCCESS);
    CHECK(MPI_Neighbor_allgatherv(NULL, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, graph)
          == MPI_SUCCESS);
    CHECK(MPI_Ineighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, graph, &request)
          == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(class(MPI_Neighbor_alltoall(NULL, -1, MPI_INT, NULL, 1, MPI_INT, graph))
          == MPI_ERR_COUNT);
    CHECK(class(MPI_Neighbor_alltoall(NULL, 1, MPI_DATATYPE_NULL, NULL, 1, MPI_INT, graph))
          == MPI_ERR_TYPE);
    MPI_Comm_free(&graph);
}

/* One end only: all send to rank 0 of the graph, which sends to nobody. */
static void one_way(void) {
    int zero = 0, value = rank + 5, *got = malloc(ranks * sizeof(int)),
        *all = malloc(ranks * sizeof(int));
    MPI_Comm graph;
    for (int i = 0; i < ranks; i++) all[i] = i;
    MPI_Dist_graph_create_adjacent(WORLD, rank ? 0 : ranks - 1, all + 1, MPI_UNWEIGHTED,
                                   rank ? 1 : 0, &zero, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_allgather(rank ? &value : NULL, 1, MPI_INT, rank ? NULL : got, 1, MPI_INT, graph);
    for (int i = 1; rank == 0 && i < ranks; i++) CHECK(got[i - 1] == i + 5);
    MPI_Neighbor_alltoall(rank ? &value : NULL, 1, MPI_INT, rank ? NULL : got, 1, MPI_INT, graph);
    for (int i = 1; rank == 0 && i < ranks; i++) CHECK(got[i - 1] == i + 5);
    MPI_Comm_free(&graph);
    free(got);
    free(all);
}

static void steps(void) {
    int dims[1] = {ranks}, ring[1] = {1}, line[1] = {0}, from, to,
        most[] = {INT_MIN, INT_MIN + 1, INT_MAX};
    MPI_Comm grid;
    MPI_Cart_create(WORLD, 1, dims, ring, 0, &grid);
    for (int i = 0; i < 3; i++) {
        long long step = most[i];
        MPI_Cart_shift(grid, 0, most[i], &from, &to);
        CHECK(to == (int)(((rank + step) % ranks + ranks) % ranks));
        CHECK(from == (int)(((rank - step) % ranks + ranks) % ranks));
    }
    MPI_Comm_free(&grid);
    MPI_Cart_create(WORLD, 1, dims, line, 0, &grid);
    for (int i = 0; i < 3; i++) {
        MPI_Cart_shift(grid, 0, most[i], &from, &to);
        CHECK(to == MPI_PROC_NULL && from == MPI_PROC_NULL);
    }
    MPI_Comm_free(&grid);
}

static int heard;
static void hears(MPI_Comm *comm, int *code, ...) {
    heard += *comm == MPI_COMM_SELF && class(*code) == MPI_ERR_DUP_DATAREP;
}

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *extra) {
    (void)extra;
    MPI_Aint low;
    return MPI_Type_get_extent(type, &low, bytes);
}

/* A representation is of no object: its errors are those of MPI_COMM_SELF. */
static void representation(void) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(hears, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Register_datarep("edges", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent,
                               NULL) == MPI_SUCCESS);
    CHECK(heard == 0);
    MPI_Register_datarep("edges", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, NULL);
    CHECK(heard == 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* A probe has found that it is too long; the request is made all the same, and its end tells. */
static void too_long_after_probe(void) {
    int out[4] = {1, 2, 3, 4}, in[2] = {0};
    MPI_Request sends[3], receive = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    for (int tag = 0; tag < 3; tag++)
        MPI_Isend(out, 4, MPI_INT, 0, tag, own, &sends[tag]);
    MPI_Probe(0, 0, own, &status);
    CHECK(MPI_Irecv(in, 2, MPI_INT, 0, 0, own, &receive) == MPI_SUCCESS
          && receive != MPI_REQUEST_NULL);
    CHECK(class(MPI_Wait(&receive, &status)) == MPI_ERR_TRUNCATE && receive == MPI_REQUEST_NULL);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 0 && in[1] == 2);
    MPI_Mprobe(0, 1, own, &message, &status);
    CHECK(MPI_Imrecv(in, 2, MPI_INT, &message, &receive) == MPI_SUCCESS
          && receive != MPI_REQUEST_NULL);
    CHECK(class(MPI_Wait(&receive, &status)) == MPI_ERR_TRUNCATE && status.MPI_TAG == 1);
    MPI_Recv_init(in, 2, MPI_INT, 0, 2, own, &receive);
    MPI_Probe(0, 2, own, &status);
    CHECK(MPI_Startall(1, &receive) == MPI_SUCCESS);
    CHECK(class(MPI_Wait(&receive, &status)) == MPI_ERR_TRUNCATE && status.MPI_TAG == 2);
    MPI_Request_free(&receive);
    MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    /* Calls that return when it is there tell themselves. */
    MPI_Isend(out, 4, MPI_INT, 0, 3, own, &sends[0]);
    MPI_Probe(0, 3, own, &status);
    CHECK(class(MPI_Recv(in, 2, MPI_INT, 0, 3, own, &status)) == MPI_ERR_TRUNCATE);
    MPI_Isend(out, 4, MPI_INT, 0, 4, own, &sends[1]);
    MPI_Mprobe(0, 4, own, &message, &status);
    CHECK(class(MPI_Mrecv(in, 2, MPI_INT, &message, &status)) == MPI_ERR_TRUNCATE);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    MPI_Isend(out, 4, MPI_INT, 0, 5, own, &sends[0]);
    MPI_Probe(0, 5, own, &status);
    CHECK(MPI_Isendrecv(out, 1, MPI_INT, 0, 6, in, 2, MPI_INT, 0, 5, own, &receive) == MPI_SUCCESS);
    CHECK(class(MPI_Wait(&receive, &status)) == MPI_ERR_TRUNCATE && status.MPI_TAG == 5);
    MPI_Recv(in, 1, MPI_INT, 0, 6, own, MPI_STATUS_IGNORE);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&own);
}

static int heard_length, heard_elsewhere;

static void hears_length(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    heard_length = class(*code);
}

static void hear_elsewhere(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    heard_elsewhere++;
}

/* The handler of a communicator that was freed hears of it, and not that of another which the
 * program knows by the same handle now. */
static void too_long_in_a_freed_one(void) {
    int out[4] = {1, 2, 3, 4}, in[2] = {0};
    MPI_Request send, receive;
    MPI_Comm own, others[8];
    MPI_Errhandler handler, other;
    MPI_Comm_create_errhandler(hears_length, &handler);
    MPI_Comm_create_errhandler(hear_elsewhere, &other);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Irecv(in, 2, MPI_INT, 0, 1, own, &receive);
    MPI_Isend(out, 4, MPI_INT, 0, 1, own, &send);
    MPI_Comm_free(&own);
    for (int i = 0; i < 8; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &others[i]);
        MPI_Comm_set_errhandler(others[i], other);
    }
    CHECK(class(MPI_Wait(&receive, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    CHECK(heard_length == MPI_ERR_TRUNCATE && heard_elsewhere == 0);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++)
        MPI_Comm_free(&others[i]);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&other);
}

/* A keyval that was freed is none. While attributes of it remain, it may be freed again, as
 * functions that delete them do. */
static void freed_keyval(void) {
    int key, again, found;
    void *value;
    MPI_Comm comm;
    MPI_Comm_dup(WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &key);
    again = key;
    CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    CHECK(class(MPI_Comm_free_keyval(&key)) == MPI_ERR_KEYVAL);
    CHECK(class(MPI_Comm_set_attr(comm, again, &found)) == MPI_ERR_KEYVAL);
    CHECK(class(MPI_Comm_get_attr(comm, key, &value, &found)) == MPI_ERR_KEYVAL);
    key = again;
    CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&comm);
    CHECK(class(MPI_Comm_free_keyval(&again)) == MPI_ERR_KEYVAL);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Accesses of no data, which need no buffer and change nothing, also at nobody. */
static void no_data(void) {
    int value = 7, got = 9;
    MPI_Win win;
    MPI_Request request;
    MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    int next = (rank + 1) % ranks;
    MPI_Win_lock_all(0, win);
    CHECK(MPI_Accumulate(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
    CHECK(MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, next, 0, 0, MPI_INT, MPI_SUM, win)
          == MPI_SUCCESS);
    CHECK(MPI_Put(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, win) == MPI_SUCCESS);
    CHECK(MPI_Get(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, win) == MPI_SUCCESS);
    CHECK(MPI_Raccumulate(NULL, 0, MPI_INT, next, 0, 0, MPI_INT, MPI_REPLACE, win, &request)
          == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Accumulate(&got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win)
          == MPI_SUCCESS);
    CHECK(MPI_Fetch_and_op(&got, &got, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win) == MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    MPI_Barrier(WORLD);
    CHECK(value == 7 && got == 9);
    MPI_Win_free(&win);
}

/* Names of process sets are the same in any case (MPI 4.1, section 11.3.2). */
static void process_sets(void) {
    const char *names[] = {"mpi://WORLD", "mpi://world", "MPI://World", "mpi://SELF", "Mpi://self"};
    MPI_Session session;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    for (int i = 0; i < 5; i++) {
        MPI_Group group = MPI_GROUP_NULL;
        int members = 0;
        CHECK(MPI_Group_from_session_pset(session, names[i], &group) == MPI_SUCCESS);
        MPI_Group_size(group, &members);
        CHECK(members == (i < 3 ? ranks : 1));
        MPI_Group_free(&group);
    }
    MPI_Session_finalize(&session);
}

/* The communicator of the request that failed hears of it, also if it was waited for with others.
 */
static void too_long_among_several(void) {
    MPI_Comm copy;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int data[4] = {0}, class;
    MPI_Comm_dup(WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Irecv(data, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, copy, requests);
    MPI_Send(data, 4, MPI_INT, (rank + 1) % ranks, 0, copy);
    MPI_Error_class(MPI_Waitall(2, requests, statuses), &class);
    CHECK(class == MPI_ERR_IN_STATUS);
    MPI_Error_class(statuses[0].MPI_ERROR, &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_free(&copy);
}

/* A status is the same in C, as integers of Fortran and in mpi_f08 (MPI 4.1, section 19.3.5). */
static void statuses_of_languages(void) {
    MPI_Status status, again;
    MPI_F08_status modern;
    MPI_Fint integers[MPI_F_STATUS_SIZE];
    int count;
    MPI_Send(&count, 1, MPI_INT, rank, 7, WORLD);
    MPI_Recv(&count, 1, MPI_INT, rank, 7, WORLD, &status);
    CHECK(MPI_Status_c2f08(&status, &modern) == MPI_SUCCESS);
    CHECK(modern.MPI_SOURCE == rank && modern.MPI_TAG == 7);
    CHECK(MPI_Status_f082f(&modern, integers) == MPI_SUCCESS);
    CHECK(integers[MPI_F_SOURCE] == rank && integers[MPI_F_TAG] == 7);
    CHECK(MPI_Status_f2f08(integers, &modern) == MPI_SUCCESS);
    CHECK(MPI_Status_f082c(&modern, &again) == MPI_SUCCESS);
    MPI_Get_count(&again, MPI_INT, &count);
    CHECK(again.MPI_TAG == 7 && count == 1);
    CHECK(MPI_F08_STATUS_IGNORE != MPI_F08_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    too_long_among_several();
    statuses_of_languages();
    nobody();
    one_way();
    steps();
    representation();
    too_long_after_probe();
    too_long_in_a_freed_one();
    freed_keyval();
    no_data();
    process_sets();
    MPI_Finalize();
    return 0;
}

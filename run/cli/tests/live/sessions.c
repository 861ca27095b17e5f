/* What communicators take from the session whose groups they are made of (MPI 4.1, sections 3.6 and
 * 11.3), and what copies take from their originals (section 7.4.2). */
#include "conformance.h"

enum { ROOM = 4 * (sizeof(int) + MPI_BSEND_OVERHEAD) };

static MPI_Session session;
static MPI_Group everybody;

static MPI_Comm of(MPI_Group group, const char *tag) {
    MPI_Comm comm;
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    return comm;
}

static int class(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* The session's buffer, without which nothing is kept, keeps a message to the next rank. */
static void buffered(MPI_Comm comm, int line) {
    static char buffer[ROOM];
    void *back = NULL;
    int me, all, one = 1, got = 0, size = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    int next = (me + 1) % all, previous = (me + all - 1) % all;
    int without = class(MPI_Bsend(&one, 1, MPI_INT, next, 1, comm));
    MPI_Session_attach_buffer(session, buffer, ROOM);
    int with = MPI_Bsend(&one, 1, MPI_INT, next, 1, comm);
    MPI_Recv(&got, 1, MPI_INT, previous, 1, comm, MPI_STATUS_IGNORE);
    MPI_Session_flush_buffer(session);
    MPI_Session_detach_buffer(session, &back, &size);
    if (without != MPI_ERR_BUFFER || with || got != 1 || back != buffer || size != ROOM)
        printf("line %d: rank %d of %d: %d %d %d %d\n", line, rank, ranks, without, with, got,
               size);
    MPI_Comm_free(&comm);
}

/* Groups made of the session's groups. */
static void groups(void) {
    MPI_Group same, turned, none;
    int range[1][3] = {{ranks - 1, 0, -1}};
    MPI_Group_range_incl(everybody, 1, range, &turned);
    buffered(of(turned, "turned"), __LINE__);
    MPI_Group_union(turned, everybody, &same);
    buffered(of(same, "both"), __LINE__);
    MPI_Group_free(&same);
    MPI_Group_difference(everybody, turned, &none);
    MPI_Group_union(none, everybody, &same);
    buffered(of(same, "second"), __LINE__);
    MPI_Group_free(&same);
    MPI_Group_intersection(everybody, turned, &same);
    buffered(of(same, "intersection"), __LINE__);
    MPI_Group_free(&same);
    MPI_Group_excl(everybody, 0, NULL, &same);
    buffered(of(same, "all"), __LINE__);
    MPI_Group_free(&same);
    MPI_Group_free(&turned);
}

/* Communicators made of the session's communicators. */
static void children(void) {
    MPI_Comm comm = of(everybody, "parent"), child;
    MPI_Group group;
    int no[1] = {0}, dims[1] = {ranks};
    MPI_Comm_dup(comm, &child);
    buffered(child, __LINE__);
    MPI_Comm_split(comm, rank % 2, -rank, &child);
    buffered(child, __LINE__);
    MPI_Cart_create(comm, 1, dims, no, 0, &child);
    buffered(child, __LINE__);
    MPI_Comm_group(comm, &group);
    MPI_Comm_create(comm, group, &child);
    buffered(child, __LINE__);
    buffered(of(group, "of its group"), __LINE__);
    MPI_Group_free(&group);
    /* A group of the world's has no session of its own; the communicator has. */
    MPI_Comm_group(WORLD, &group);
    MPI_Comm_create_group(comm, group, 1, &child);
    buffered(child, __LINE__);
    MPI_Group_free(&group);
    buffered(comm, __LINE__);
}

/* Two groups, and both together. */
static void bridges(void) {
    if (ranks % 2)
        return;
    MPI_Group mine, theirs;
    MPI_Comm bridge, all;
    int half = ranks / 2, high = rank >= half;
    int range[2][1][3] = {{{0, half - 1, 1}}, {{half, ranks - 1, 1}}};
    MPI_Group_range_incl(everybody, 1, range[high], &mine);
    MPI_Group_range_incl(everybody, 1, range[!high], &theirs);
    MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "bridge", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &bridge);
    MPI_Intercomm_merge(bridge, high, &all);
    buffered(all, __LINE__);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
    MPI_Comm_group(bridge, &mine);
    MPI_Comm_remote_group(bridge, &theirs);
    MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &all);
    buffered(all, __LINE__);
    buffered(bridge, __LINE__);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
}

/* What is attached nearer comes first, and nothing else is touched: a communicator's own, the
 * session's, the process's. */
static void nearest(void) {
    static char own[ROOM], large[ROOM];
    MPI_Comm comm = of(everybody, "nearest"), world;
    void *back;
    int size, many[20] = {0};
    MPI_Comm_dup(WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Session_attach_buffer(session, large, ROOM);
    MPI_Comm_attach_buffer(comm, own, 1);
    CHECK(class(MPI_Bsend(many, 1, MPI_INT, rank, 2, comm)) == MPI_ERR_BUFFER);
    MPI_Comm_detach_buffer(comm, &back, &size);
    CHECK(MPI_Bsend(many, 1, MPI_INT, rank, 2, comm) == MPI_SUCCESS);
    MPI_Recv(many, 1, MPI_INT, rank, 2, comm, MPI_STATUS_IGNORE);
    CHECK(class(MPI_Bsend(many, 1, MPI_INT, rank, 2, world)) == MPI_ERR_BUFFER);
    MPI_Session_detach_buffer(session, &back, &size);
    MPI_Buffer_attach(large, ROOM);
    CHECK(MPI_Bsend(many, 1, MPI_INT, rank, 3, comm) == MPI_SUCCESS);
    MPI_Recv(many, 1, MPI_INT, rank, 3, comm, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &size);
    MPI_Comm_free(&world);
    MPI_Comm_free(&comm);
}

/* A session's buffer goes with it, whether or not it was detached: the next session, which may have
 * the same handle, has none. */
static void ends(void) {
    static char buffer[ROOM];
    MPI_Session other;
    void *back;
    int size;
    for (int time = 0; time < 2; time++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
        CHECK(MPI_Session_attach_buffer(other, buffer, ROOM) == MPI_SUCCESS);
        if (time) MPI_Session_detach_buffer(other, &back, &size);
        MPI_Session_finalize(&other);
    }
}

static int hinted(MPI_Comm comm) {
    MPI_Info info;
    char text[20];
    int length = sizeof text, found;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get_string(info, "mpi_assert_no_any_source", &length, text, &found);
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
    return found && !strcmp(text, "true");
}

/* Since MPI 4.0, copies do not have the hints of the original. */
static void hints(void) {
    MPI_Info info;
    MPI_Comm with, comm;
    MPI_Request request;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Comm_dup_with_info(WORLD, info, &with);
    MPI_Comm_dup(with, &comm);
    CHECK(!hinted(comm));
    MPI_Comm_idup(with, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!hinted(comm));
    MPI_Comm_idup_with_info(WORLD, info, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(hinted(comm));
    CHECK(hinted(with));
    MPI_Info_free(&info);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &everybody);
    groups();
    children();
    bridges();
    nearest();
    ends();
    hints();
    MPI_Group_free(&everybody);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
}

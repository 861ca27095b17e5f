/* The calls whose wrappers are written by hand: the start and the end, and those that complete
 * requests. */
#define _GNU_SOURCE
#include "recorder.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool recording;
bool threaded;
__thread bool inside;
__thread unsigned thread_number = NO_THREAD;

/* ---- The MPI library's own symbols ---- */

void *find_symbol(const char *name)
{
    static const char *const libraries[] = {LIBRARIES};
    void *symbol = dlsym(RTLD_NEXT, name);
#ifdef OPEN_MPI
    /* The executable may hold a copy of an object; that one is used by all. */
    void *copy = strncmp(name, "ompi_", 5) == 0 ? dlsym(RTLD_DEFAULT, name) : NULL;
    symbol = copy ? copy : symbol;
#endif
    /* Opened by the program at run time, for itself alone. */
    for (size_t index = 0; !symbol && index < sizeof libraries / sizeof *libraries; index++) {
        void *library = dlopen(libraries[index], RTLD_LAZY | RTLD_NOLOAD);
        if (library)
            symbol = dlsym(library, name);
    }
    return symbol;
}

void *find_function(unsigned number)
{
    char name[128];
    snprintf(name, sizeof name, "P%s", function_names[number]);
    void *function = find_symbol(name);
    if (!function) {
        fprintf(stderr, "heddle record: this program's MPI library has no %s\n", name);
        abort();
    }
    __atomic_store_n(&functions[number], function, __ATOMIC_RELEASE);
    return function;
}

/* ---- Start and end ---- */

/* Ends a program that was built for another MPI library, before it starts: these wrappers would cut
 * its handles off. */
static void check_library(void)
{
#ifdef OPEN_MPI
    bool right = find_symbol("ompi_mpi_comm_world") != NULL;
#elif defined STANDARD_INTERFACE
    bool right = find_symbol("MPI_Abi_get_version") != NULL;
#else
    /* The standard binary interface has other handles as well. */
    bool right = find_symbol("ompi_mpi_comm_world") == NULL
                 && dlopen("libmpi_abi.so.1", RTLD_LAZY | RTLD_NOLOAD) == NULL;
#endif
    if (getenv("HEDDLE_RECORD") && !right) {
        fprintf(stderr, "heddle record: this program was built for another MPI library than its "
                        "launcher, or than --mpi says; it is ended, as it cannot be recorded\n");
        exit(1);
    }
}

uint64_t (*heddle_now)(void);
uint64_t (*heddle_computed)(void);
void (*heddle_records)(void);
void (*heddle_recorded)(void);
uint64_t (*heddle_moment)(void);
uint64_t (*heddle_turn)(void);
void (*heddle_tell_looks)(void (*)(uint64_t, uint64_t));
void (*heddle_tell_agreements)(void (*)(uint64_t, uint64_t, bool));

/* The library of MPI is there now, also if the program, like Python, has loaded it while it ran. */
static void find_simulation(void)
{
    void *library = dlopen("libheddle_mpi.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return;
    heddle_now = dlsym(library, "heddle_now");
    heddle_computed = dlsym(library, "heddle_computed");
    heddle_records = dlsym(library, "heddle_records");
    heddle_recorded = dlsym(library, "heddle_recorded");
    heddle_moment = dlsym(library, "heddle_moment");
    heddle_turn = dlsym(library, "heddle_turn");
    heddle_tell_looks = dlsym(library, "heddle_tell_looks");
    heddle_tell_agreements = dlsym(library, "heddle_tell_agreements");
}

static bool can_record(void)
{
    MPI_Comm parent;
    if (!getenv("HEDDLE_RECORD"))
        return false;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        fprintf(stderr, "heddle record: processes started by MPI_Comm_spawn are not recorded\n");
        return false;
    }
    return true;
}

/* After the library has started: opens the trace. What the recorder itself needs counts as time in
 * MPI_Init, and not as the program's. */
static void started(unsigned number, struct call *call, uint64_t wall)
{
    int rank, size, level;
    if (heddle_records)
        heddle_records();
    if (!can_record())
        return;
    PMPI_Query_thread(&level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    threaded = level == MPI_THREAD_MULTIPLE;
    thread_number = 0;
    requests_start();
    handles_start();
    trace_open(rank, size, call->enter, wall);
    clock_start();
    call->leave = now();
    if (recording) {
        lock();
        trace_end(trace_begin(number, call, FIXED_BYTES));
        unlock();
    }
}

PUBLIC int MPI_Init(int *argc, char ***argv)
{
    find_simulation();
    struct call call = {.enter = now()};
    uint64_t wall = nanoseconds(CLOCK_REALTIME);
    bool outer = inside;
    inside = true;
    if (!outer)
        check_library();
    int result = REAL(MPI_Init)(argc, argv);
    if (!outer && result == MPI_SUCCESS)
        started(C_MPI_Init, &call, wall);
    if (!outer)
        done();
    return result;
}
ALIAS(MPI_Init)

PUBLIC int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    find_simulation();
    struct call call = {.enter = now()};
    uint64_t wall = nanoseconds(CLOCK_REALTIME);
    bool outer = inside;
    inside = true;
    if (!outer)
        check_library();
    int result = REAL(MPI_Init_thread)(argc, argv, required, provided);
    if (!outer && result == MPI_SUCCESS)
        started(C_MPI_Init_thread, &call, wall);
    if (!outer)
        done();
    return result;
}
ALIAS(MPI_Init_thread)

PUBLIC int MPI_Finalize(void)
{
    struct call call;
    if (!enter(&call))
        return REAL(MPI_Finalize)();
    clock_stop();
    int result = REAL(MPI_Finalize)();
    leave(&call);
    lock();
    trace_end(trace_begin(C_MPI_Finalize, &call, FIXED_BYTES));
    recording = false;
    trace_close();
    unlock();
    done();
    return result;
}
ALIAS(MPI_Finalize)

PUBLIC int MPI_Abort(MPI_Comm comm, int code)
{
    struct call call;
    if (!enter(&call))
        return REAL(MPI_Abort)(comm, code);
    leave(&call);
    lock();
    struct communicator *members = communicator_of(comm);
    out_t out = trace_begin(C_MPI_Abort, &call, FIXED_BYTES);
    trace_end(put_signed(put(out, members->number), code));
    trace_flush();
    unlock();
    return REAL(MPI_Abort)(comm, code);
}
ALIAS(MPI_Abort)

/* The further arguments are for tools and have no meaning here. */
PUBLIC int MPI_Pcontrol(const int level, ...)
{
    struct call call;
    if (enter(&call)) {
        leave(&call);
        lock();
        trace_end(put_signed(trace_begin(C_MPI_Pcontrol, &call, FIXED_BYTES), level));
        unlock();
        done();
    }
    return MPI_SUCCESS;
}
ALIAS(MPI_Pcontrol)

/* ---- Completion ---- */

/* What a thread needs for arrays of requests; kept for its next call. */
struct scratch {
    int room;
    struct request *requests;
    MPI_Status *statuses;
};
static __thread struct scratch scratch __attribute__((tls_model("initial-exec")));

static void prepare(int count, const MPI_Request *handles)
{
    if (count > scratch.room) {
        scratch.room = count + 64;
        free(scratch.requests);
        free(scratch.statuses);
        scratch.requests = malloc((size_t)scratch.room * sizeof *scratch.requests);
        scratch.statuses = malloc((size_t)scratch.room * sizeof *scratch.statuses);
        if (!scratch.requests || !scratch.statuses)
            abort();
    }
    lock();
    for (int index = 0; index < count; index++)
        scratch.requests[index] = request_of(&handles[index]);
    unlock();
}

static out_t put_requests(out_t out, int count)
{
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++)
        out = put(out, scratch.requests[index].number);
    return out;
}

static void settle(int count, const MPI_Request *handles)
{
    for (int index = 0; index < count; index++)
        request_settled(scratch.requests[index], &handles[index]);
}

/* The status of a completed request. */
static out_t put_completed(out_t out, const MPI_Status *status, bool receive)
{
    return put_status(out, status, receive && !cancelled(status));
}

static size_t bytes_for(int count)
{
    return FIXED_BYTES + 2 * ITEM_BYTES * (size_t)(count > 0 ? count : 0);
}

PUBLIC int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct call call;
    MPI_Status own;
    if (!recording || inside)
        return REAL(MPI_Wait)(request, status);
    enter(&call);
    lock();
    struct request known = request_of(request);
    unlock();
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = REAL(MPI_Wait)(request, status);
    leave(&call);
    lock();
    out_t out = put(trace_begin(C_MPI_Wait, &call, FIXED_BYTES), known.number);
    trace_end(put_completed(out, status, known.receive && result == MPI_SUCCESS));
    request_settled(known, request);
    unlock();
    done();
    return result;
}
ALIAS(MPI_Wait)

/* MPI_Test and MPI_Request_get_status. */
static int test(unsigned number, MPI_Request *request, int *flag, MPI_Status *status)
{
    struct call call;
    MPI_Status own;
    enter(&call);
    lock();
    struct request known = request_of(request);
    unlock();
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = number == C_MPI_Test ? REAL(MPI_Test)(request, flag, status)
                                      : REAL(MPI_Request_get_status)(*request, flag, status);
    leave(&call);
    bool complete = result == MPI_SUCCESS && *flag;
    lock();
    out_t out = put(trace_begin(number, &call, FIXED_BYTES), known.number);
    out = put_signed(out, complete);
    trace_end(put_completed(out, status, complete && known.receive));
    request_settled(known, request);
    unlock();
    done();
    return result;
}

PUBLIC int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!recording || inside)
        return REAL(MPI_Test)(request, flag, status);
    return test(C_MPI_Test, request, flag, status);
}
ALIAS(MPI_Test)

PUBLIC int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    if (!recording || inside)
        return REAL(MPI_Request_get_status)(request, flag, status);
    return test(C_MPI_Request_get_status, &request, flag, status);
}
ALIAS(MPI_Request_get_status)

/* Whether the request of an array's index is a receive that is complete. */
static bool received(int index, int count)
{
    return index >= 0 && index < count && scratch.requests[index].receive;
}

PUBLIC int MPI_Waitany(int count, MPI_Request handles[], int *index, MPI_Status *status)
{
    struct call call;
    MPI_Status own;
    if (!recording || inside)
        return REAL(MPI_Waitany)(count, handles, index, status);
    enter(&call);
    prepare(count, handles);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = REAL(MPI_Waitany)(count, handles, index, status);
    leave(&call);
    int found = result == MPI_SUCCESS ? *index : MPI_UNDEFINED;
    lock();
    out_t out = put_requests(trace_begin(C_MPI_Waitany, &call, bytes_for(count)), count);
    trace_end(put_completed(put_index(out, found), status, received(found, count)));
    settle(count, handles);
    unlock();
    done();
    return result;
}
ALIAS(MPI_Waitany)

/* MPI_Testany, and MPI_Request_get_status_any, whose requests are constant. */
static int any(unsigned number, void *real, int count, MPI_Request *handles, int *index, int *flag,
               MPI_Status *status)
{
    int (*function)(int, MPI_Request *, int *, int *, MPI_Status *) = real;
    struct call call;
    MPI_Status own;
    enter(&call);
    prepare(count, handles);
    status = status == MPI_STATUS_IGNORE ? &own : status;
    int result = function(count, handles, index, flag, status);
    leave(&call);
    bool complete = result == MPI_SUCCESS && *flag;
    int found = complete ? *index : MPI_UNDEFINED;
    lock();
    out_t out = put_requests(trace_begin(number, &call, bytes_for(count)), count);
    out = put_signed(put_index(out, found), complete);
    trace_end(put_completed(out, status, received(found, count)));
    settle(count, handles);
    unlock();
    done();
    return result;
}

PUBLIC int MPI_Testany(int count, MPI_Request handles[], int *index, int *flag, MPI_Status *status)
{
    if (!recording || inside)
        return REAL(MPI_Testany)(count, handles, index, flag, status);
    return any(C_MPI_Testany, REAL(MPI_Testany), count, handles, index, flag, status);
}
ALIAS(MPI_Testany)

/* The statuses of all requests, in their order. An error stands in the statuses
 * (MPI_ERR_IN_STATUS); those requests have no status here. */
static out_t put_statuses(out_t out, int count, const MPI_Status *statuses, int result)
{
    out = put(out, (uint64_t)count);
    for (int index = 0; index < count; index++) {
        bool good = result == MPI_SUCCESS || statuses[index].MPI_ERROR == MPI_SUCCESS;
        out = put_completed(out, &statuses[index], good && scratch.requests[index].receive);
    }
    return out;
}

PUBLIC int MPI_Waitall(int count, MPI_Request handles[], MPI_Status *statuses)
{
    struct call call;
    if (!recording || inside)
        return REAL(MPI_Waitall)(count, handles, statuses);
    enter(&call);
    prepare(count, handles);
    statuses = statuses == MPI_STATUSES_IGNORE ? scratch.statuses : statuses;
    int result = REAL(MPI_Waitall)(count, handles, statuses);
    leave(&call);
    lock();
    out_t out = put_requests(trace_begin(C_MPI_Waitall, &call, bytes_for(count)), count);
    trace_end(put_statuses(out, count, statuses, result));
    settle(count, handles);
    unlock();
    done();
    return result;
}
ALIAS(MPI_Waitall)

/* MPI_Testall, and MPI_Request_get_status_all. */
static int all(unsigned number, void *real, int count, MPI_Request *handles, int *flag,
               MPI_Status *statuses)
{
    int (*function)(int, MPI_Request *, int *, MPI_Status *) = real;
    struct call call;
    enter(&call);
    prepare(count, handles);
    statuses = statuses == MPI_STATUSES_IGNORE ? scratch.statuses : statuses;
    int result = function(count, handles, flag, statuses);
    leave(&call);
    bool complete = result == MPI_SUCCESS && *flag;
    lock();
    out_t out = put_requests(trace_begin(number, &call, bytes_for(count)), count);
    out = put_signed(out, complete);
    trace_end(put_statuses(out, complete ? count : 0, statuses, result));
    settle(count, handles);
    unlock();
    done();
    return result;
}

PUBLIC int MPI_Testall(int count, MPI_Request handles[], int *flag, MPI_Status *statuses)
{
    if (!recording || inside)
        return REAL(MPI_Testall)(count, handles, flag, statuses);
    return all(C_MPI_Testall, REAL(MPI_Testall), count, handles, flag, statuses);
}
ALIAS(MPI_Testall)

/* MPI_Waitsome, MPI_Testsome and MPI_Request_get_status_some. */
static int some(unsigned number, void *real, int count, MPI_Request *handles, int *ended,
                int *indices, MPI_Status *statuses)
{
    int (*function)(int, MPI_Request *, int *, int *, MPI_Status *) = real;
    struct call call;
    enter(&call);
    prepare(count, handles);
    statuses = statuses == MPI_STATUSES_IGNORE ? scratch.statuses : statuses;
    int result = function(count, handles, ended, indices, statuses);
    leave(&call);
    int found = *ended == MPI_UNDEFINED || *ended < 0 ? 0 : *ended;
    lock();
    out_t out = put_requests(trace_begin(number, &call, bytes_for(count)), count);
    out = put_ints(out, indices, found);
    out = put(out, (uint64_t)found);
    for (int place = 0; place < found; place++) {
        bool good = result == MPI_SUCCESS || statuses[place].MPI_ERROR == MPI_SUCCESS;
        out = put_completed(out, &statuses[place], good && received(indices[place], count));
    }
    trace_end(out);
    settle(count, handles);
    unlock();
    done();
    return result;
}

PUBLIC int MPI_Waitsome(int count, MPI_Request handles[], int *ended, int indices[],
                        MPI_Status statuses[])
{
    if (!recording || inside)
        return REAL(MPI_Waitsome)(count, handles, ended, indices, statuses);
    return some(C_MPI_Waitsome, REAL(MPI_Waitsome), count, handles, ended, indices, statuses);
}
ALIAS(MPI_Waitsome)

PUBLIC int MPI_Testsome(int count, MPI_Request handles[], int *ended, int indices[],
                        MPI_Status statuses[])
{
    if (!recording || inside)
        return REAL(MPI_Testsome)(count, handles, ended, indices, statuses);
    return some(C_MPI_Testsome, REAL(MPI_Testsome), count, handles, ended, indices, statuses);
}
ALIAS(MPI_Testsome)

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
/* Looks at requests without completing them; none of the handles changes. */
PUBLIC int MPI_Request_get_status_any(int count, const MPI_Request handles[], int *index,
                                      int *flag, MPI_Status *status)
{
    if (!recording || inside)
        return REAL(MPI_Request_get_status_any)(count, handles, index, flag, status);
    return any(C_MPI_Request_get_status_any, REAL(MPI_Request_get_status_any), count,
               (MPI_Request *)handles, index, flag, status);
}
ALIAS(MPI_Request_get_status_any)

PUBLIC int MPI_Request_get_status_all(int count, const MPI_Request handles[], int *flag,
                                      MPI_Status statuses[])
{
    if (!recording || inside)
        return REAL(MPI_Request_get_status_all)(count, handles, flag, statuses);
    return all(C_MPI_Request_get_status_all, REAL(MPI_Request_get_status_all), count,
               (MPI_Request *)handles, flag, statuses);
}
ALIAS(MPI_Request_get_status_all)

PUBLIC int MPI_Request_get_status_some(int count, const MPI_Request handles[], int *ended,
                                       int indices[], MPI_Status statuses[])
{
    if (!recording || inside)
        return REAL(MPI_Request_get_status_some)(count, handles, ended, indices, statuses);
    return some(C_MPI_Request_get_status_some, REAL(MPI_Request_get_status_some), count,
                (MPI_Request *)handles, ended, indices, statuses);
}
ALIAS(MPI_Request_get_status_some)
#endif

/* A call of one request that does not complete it, or frees it. */
typedef int one_function(MPI_Request *);
static int one(unsigned number, one_function *real, MPI_Request *request)
{
    struct call call;
    enter(&call);
    lock();
    struct request known = request_of(request);
    unlock();
    int result = real(request);
    leave(&call);
    lock();
    trace_end(put(trace_begin(number, &call, FIXED_BYTES), known.number));
    request_settled(known, request);
    unlock();
    done();
    return result;
}

PUBLIC int MPI_Start(MPI_Request *request)
{
    if (!recording || inside)
        return REAL(MPI_Start)(request);
    return one(C_MPI_Start, REAL(MPI_Start), request);
}
ALIAS(MPI_Start)

PUBLIC int MPI_Request_free(MPI_Request *request)
{
    if (!recording || inside)
        return REAL(MPI_Request_free)(request);
    return one(C_MPI_Request_free, REAL(MPI_Request_free), request);
}
ALIAS(MPI_Request_free)

PUBLIC int MPI_Cancel(MPI_Request *request)
{
    if (!recording || inside)
        return REAL(MPI_Cancel)(request);
    return one(C_MPI_Cancel, REAL(MPI_Cancel), request);
}
ALIAS(MPI_Cancel)

PUBLIC int MPI_Startall(int count, MPI_Request handles[])
{
    struct call call;
    if (!recording || inside)
        return REAL(MPI_Startall)(count, handles);
    enter(&call);
    prepare(count, handles);
    int result = REAL(MPI_Startall)(count, handles);
    leave(&call);
    lock();
    trace_end(put_requests(trace_begin(C_MPI_Startall, &call, bytes_for(count)), count));
    settle(count, handles);
    unlock();
    done();
    return result;
}
ALIAS(MPI_Startall)

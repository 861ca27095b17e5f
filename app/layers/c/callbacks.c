/* How a program's functions in C are called back. */
#include "callbacks.h"

extern int heddle_set_layer(const struct layer *) __attribute__((weak));

static void reduce(function call, int large, void *from, void *into, int64_t count, handle type)
{
    MPI_Datatype datatype = type_out(type);
    if (large) {
        MPI_Count many = count;
        ((void (*)(void *, void *, MPI_Count *, MPI_Datatype *))call)(from, into, &many, &datatype);
    } else {
        int many = (int)count;
        ((void (*)(void *, void *, int *, MPI_Datatype *))call)(from, into, &many, &datatype);
    }
}

static int copy_attribute(int about, function call, handle of, int keyval, void *extra, void *value,
                          void **copy, int *flag)
{
    int result;
    keyval = keyval_out(keyval);
    if (about == ABOUT_TYPE)
        result = ((int (*)(MPI_Datatype, int, void *, void *, void *, int *))call)(
            type_out(of), keyval, extra, value, copy, flag);
    else if (about == ABOUT_WIN)
        result = ((int (*)(MPI_Win, int, void *, void *, void *, int *))call)(
            win_out(of), keyval, extra, value, copy, flag);
    else
        result = ((int (*)(MPI_Comm, int, void *, void *, void *, int *))call)(
            comm_out(of), keyval, extra, value, copy, flag);
    return error_in(result);
}

static int delete_attribute(int about, function call, handle of, int keyval, void *value,
                            void *extra)
{
    int result;
    keyval = keyval_out(keyval);
    if (about == ABOUT_TYPE)
        result = ((int (*)(MPI_Datatype, int, void *, void *))call)(type_out(of), keyval, value,
            extra);
    else if (about == ABOUT_WIN)
        result = ((int (*)(MPI_Win, int, void *, void *))call)(win_out(of), keyval, value, extra);
    else
        result = ((int (*)(MPI_Comm, int, void *, void *))call)(comm_out(of), keyval, value, extra);
    return error_in(result);
}

/* Calls a handler with the address of a handle. */
#define HANDLE(type, translate)                                                  \
    do {                                                                         \
        type object = translate##_out(of);                                       \
        ((void (*)(type *, int *, ...))call)(&object, &theirs, "heddle", NULL);  \
    } while (0)

static void handle_error(int about, function call, handle of, int *code)
{
    int theirs = error_out(*code);
    switch (about) {
    case ABOUT_WIN: HANDLE(MPI_Win, win); break;
    case ABOUT_FILE: HANDLE(MPI_File, file); break;
    case ABOUT_SESSION: HANDLE(MPI_Session, session); break;
    default: HANDLE(MPI_Comm, comm);
    }
    *code = error_in(theirs);
}

static int query(function call, void *extra, status_t *status)
{
    MPI_Status theirs = {0};
    status_out(status, &theirs);
    int result = ((int (*)(void *, MPI_Status *))call)(extra, &theirs);
    status_in(&theirs, status);
    return error_in(result);
}

static int release(function call, void *extra)
{
    return error_in(((int (*)(void *))call)(extra));
}

static int cancel(function call, void *extra, int complete)
{
    return error_in(((int (*)(void *, int))call)(extra, complete));
}

static int extent(function call, handle type, MPI_Aint *bytes, void *extra)
{
    return error_in(
        ((int (*)(MPI_Datatype, MPI_Aint *, void *))call)(type_out(type), bytes, extra));
}

static int convert(function call, int large, void *user, handle type, int64_t count, void *file,
                   int64_t position, void *extra)
{
    MPI_Datatype datatype = type_out(type);
    int result;
    if (large)
        result = ((int (*)(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *))call)(
            user, datatype, count, file, position, extra);
    else
        result = ((int (*)(void *, MPI_Datatype, int, void *, MPI_Offset, void *))call)(
            user, datatype, (int)count, file, position, extra);
    return error_in(result);
}

static const struct layer layer = {
    .version = VERSION,
    .name = LAYER_NAME,
    .reduce = reduce,
    .copy_attribute = copy_attribute,
    .delete_attribute = delete_attribute,
    .handle_error = handle_error,
    .query = query,
    .free = release,
    .cancel = cancel,
    .extent = extent,
    .convert = convert,
    .attributes = AS_POINTERS,
};

__attribute__((constructor)) static void name_layer(void)
{
    if (heddle_set_layer && heddle_set_layer(&layer))
        fprintf(stderr, "heddle: %s was built for another version of libheddle_mpi.so\n",
                LAYER_NAME);
}

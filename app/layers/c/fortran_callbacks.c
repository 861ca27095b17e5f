/* How a program's functions in Fortran are called back: everything by reference, in the terms of
 * the program's interface. */
#include "callbacks.h"
#include "fortran.h"

static void reduce(function call, int large, void *from, void *into, int64_t count, handle type)
{
    MPI_Fint datatype = type_to_fortran(type_out(type));
    if (large) {
        MPI_Count many = count;
        ((void (*)(void *, void *, MPI_Count *, MPI_Fint *))call)(from, into, &many, &datatype);
    } else {
        MPI_Fint many = (MPI_Fint)count;
        ((void (*)(void *, void *, MPI_Fint *, MPI_Fint *))call)(from, into, &many, &datatype);
    }
}

static MPI_Fint number(int about, handle of)
{
    switch (about) {
    case ABOUT_TYPE: return type_to_fortran(type_out(of));
    case ABOUT_WIN: return win_to_fortran(win_out(of));
    case ABOUT_FILE: return file_to_fortran(file_out(of));
    case ABOUT_SESSION: return session_to_fortran(session_out(of));
    default: return comm_to_fortran(comm_out(of));
    }
}

static int copy_attribute(int about, function call, handle of, int keyval, void *extra, void *value,
                          void **copy, int *flag)
{
    MPI_Fint object = number(about, of), key = keyval_out(keyval), copied = 0, error = 0;
    MPI_Aint state = (MPI_Aint)extra, old = (MPI_Aint)value, made = 0;
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *))
         call)(&object, &key, &state, &old, &made, &copied, &error);
    *copy = (void *)made;
    *flag = copied != 0;
    return error_in(error);
}

static int delete_attribute(int about, function call, handle of, int keyval, void *value,
                            void *extra)
{
    MPI_Fint object = number(about, of), key = keyval_out(keyval), error = 0;
    MPI_Aint state = (MPI_Aint)extra, old = (MPI_Aint)value;
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *))call)(
        &object, &key, &old, &state, &error);
    return error_in(error);
}

/* The functions of MPI-1, whose values are integers. */
static int copy_old(int about, function call, handle of, int keyval, void *extra, void *value,
                    void **copy, int *flag)
{
    MPI_Fint object = number(about, of), key = keyval_out(keyval), copied = 0, error = 0;
    MPI_Fint state = (MPI_Fint)(MPI_Aint)extra, old = (MPI_Fint)(MPI_Aint)value, made = 0;
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))
         call)(&object, &key, &state, &old, &made, &copied, &error);
    *copy = (void *)(MPI_Aint)made;
    *flag = copied != 0;
    return error_in(error);
}

static int delete_old(int about, function call, handle of, int keyval, void *value, void *extra)
{
    MPI_Fint object = number(about, of), key = keyval_out(keyval), error = 0;
    MPI_Fint state = (MPI_Fint)(MPI_Aint)extra, old = (MPI_Fint)(MPI_Aint)value;
    ((void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))call)(
        &object, &key, &old, &state, &error);
    return error_in(error);
}

static void handle_error(int about, function call, handle of, int *code)
{
    MPI_Fint object = number(about, of), theirs = error_out(*code);
    ((void (*)(MPI_Fint *, MPI_Fint *))call)(&object, &theirs);
    *code = error_in(theirs);
}

/* The state of a generalized request is the variable that the program passed. */
static int query(function call, void *extra, status_t *status)
{
    MPI_Status theirs;
    memset(&theirs, 0, sizeof theirs);
    status_out(status, &theirs);
    MPI_Fint error = 0;
    ((void (*)(MPI_Aint *, MPI_Status *, MPI_Fint *))call)(extra, &theirs, &error);
    status_in(&theirs, status);
    return error_in(error);
}

static int release(function call, void *extra)
{
    MPI_Fint error = 0;
    ((void (*)(MPI_Aint *, MPI_Fint *))call)(extra, &error);
    return error_in(error);
}

static int cancel(function call, void *extra, int complete)
{
    MPI_Fint done = complete != 0, error = 0;
    ((void (*)(MPI_Aint *, MPI_Fint *, MPI_Fint *))call)(extra, &done, &error);
    return error_in(error);
}

static int extent(function call, handle type, MPI_Aint *bytes, void *extra)
{
    MPI_Fint datatype = type_to_fortran(type_out(type)), error = 0;
    MPI_Aint state = (MPI_Aint)extra;
    ((void (*)(MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *))call)(&datatype, bytes, &state,
        &error);
    return error_in(error);
}

static int convert(function call, int large, void *user, handle type, int64_t count, void *file,
                   int64_t position, void *extra)
{
    MPI_Fint datatype = type_to_fortran(type_out(type)), few = (MPI_Fint)count, error = 0;
    MPI_Aint state = (MPI_Aint)extra;
    MPI_Offset at = position;
    MPI_Count many = count;
    ((void (*)(void *, MPI_Fint *, void *, void *, MPI_Offset *, MPI_Aint *, MPI_Fint *))call)(
        user, &datatype, large ? (void *)&many : (void *)&few, file, &at, &state, &error);
    return error_in(error);
}

#define COMMON_ENTRIES                                                                    \
    .version = VERSION, .name = LAYER_NAME " for Fortran", .reduce = reduce,              \
    .handle_error = handle_error, .query = query, .free = release, .cancel = cancel,      \
    .extent = extent, .convert = convert
const struct layer fortran_layer = {
    COMMON_ENTRIES, .copy_attribute = copy_attribute, .delete_attribute = delete_attribute,
    .attributes = AS_ADDRESSES};
const struct layer fortran_old_layer = {
    COMMON_ENTRIES, .copy_attribute = copy_old, .delete_attribute = delete_old,
    .attributes = AS_INTEGERS};

/* Stands for libheddle_mpi.so: knows what the test program hands over, in the terms of the standard
 * interface (the numbers are those of MPI-5.0, annex A), and gives back what the program expects.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uintptr_t handle;
typedef struct {
    int source, tag, error, internal[5];
} status_t;

#define EXPECT(what)                                              \
    do {                                                          \
        if (!(what)) {                                            \
            printf("core, line %d: not so: %s\n", __LINE__, #what); \
            exit(1);                                              \
        }                                                         \
    } while (0)

enum { INT = 0x209, SUM = 0x21, WORLD = 0x101, REQUEST_NULL = 0x180, MADE = 0x1005 };

int heddle_unsupported(const char *name)
{
    EXPECT(strcmp(name, "MPI_Barrier") == 0);
    return 55;
}

int heddle_Comm_size(handle comm, int *size)
{
    EXPECT(comm == WORLD || comm == MADE);
    *size = comm == WORLD ? 8 : 2;
    return 0;
}

int heddle_Comm_test_inter(handle comm, int *flag)
{
    EXPECT(comm == WORLD);
    *flag = 0;
    return 0;
}

int heddle_Send(const void *buffer, int count, handle type, int to, int tag, handle comm)
{
    EXPECT(buffer && count == 3 && type == INT && to == -3 && tag == 5 && comm == WORLD);
    return 0;
}

int heddle_Recv(void *buffer, int count, handle type, int from, int tag, handle comm,
                status_t *status)
{
    EXPECT(buffer == NULL && count == 3 && type == 0x214 && from == -1 && tag == -2
           && comm == WORLD);
    if (status) {
        memset(status->internal, 0, sizeof status->internal);
        status->source = 6;
        status->tag = 9;
        /* More than 2^32 bytes. */
        status->internal[0] = 24;
        status->internal[1] = 1;
    }
    return 15;
}

int heddle_Get_count(const status_t *status, handle type, int *count)
{
    EXPECT(status->source == 6 && status->tag == 9 && type == 0x214);
    EXPECT(status->internal[0] == 24 && status->internal[1] == 1 && status->internal[2] == 0);
    *count = 3;
    return 0;
}

int heddle_Comm_split(handle comm, int color, int key, handle *made)
{
    EXPECT(comm == WORLD && color == -32766 && key == -7);
    *made = MADE;
    return 0;
}

int heddle_Comm_compare(handle a, handle b, int *result)
{
    EXPECT(a == WORLD && b == MADE);
    *result = 202;
    return 0;
}

int heddle_Comm_free(handle *comm)
{
    EXPECT(*comm == MADE);
    *comm = 0x100;
    return 0;
}

int heddle_Waitall(int count, handle *requests, status_t *statuses)
{
    EXPECT(count == 40 && requests[0] == REQUEST_NULL && requests[1] == REQUEST_NULL);
    for (int i = 0; i < count; i++) {
        requests[i] = i == 39 ? 0x1027 : REQUEST_NULL;
        memset(&statuses[i], 0, sizeof statuses[i]);
        statuses[i].source = i == 1 ? -3 : i;
        statuses[i].tag = -2;
        statuses[i].error = 18;
    }
    return 19;
}

int heddle_Allreduce(const void *from, void *into, int count, handle type, handle op, handle comm)
{
    EXPECT(from == (void *)1 && into && count == 1 && type == INT && op == SUM && comm == WORLD);
    return 0;
}

int heddle_Alltoallw(const void *from, const int *counts, const int *places, const handle *types,
                     void *into, const int *there, const int *where, const handle *others,
                     handle comm)
{
    EXPECT(from && into && counts && places && there && where && comm == WORLD);
    for (int i = 0; i < 8; i++)
        EXPECT(types[i] == (i % 2 ? INT : 0x200) && others[i] == 0x243);
    return 0;
}

struct layer {
    size_t version;
    const char *name;
    void (*reduce)(void (*)(void), int, void *, void *, int64_t, handle);
    int (*copy_attribute)(int, void (*)(void), handle, int, void *, void *, void **, int *);
    int (*delete_attribute)(int, void (*)(void), handle, int, void *, void *);
    void (*handle_error)(int, void (*)(void), handle, int *);
};
/* The standard interface has none: functions of the program are called as it says. */
static const struct layer *layer;

int heddle_set_layer(const struct layer *given)
{
    layer = given;
    return given->version != 2;
}

const void *heddle_use_layer(const struct layer *given)
{
    const struct layer *before = layer;
    layer = given;
    return before;
}

int heddle_Op_create(void (*call)(void), int commutes, handle *made)
{
    int from = 2, into = 3;
    EXPECT(commutes == 1);
    int count = 1;
    handle type = INT;
    if (layer)
        layer->reduce(call, 0, &from, &into, 1, INT);
    else
        ((void (*)(void *, void *, int *, handle *))call)(&from, &into, &count, &type);
    EXPECT(into == 5);
    *made = 0x1000;
    return 0;
}

int heddle_Comm_create_errhandler(void (*call)(void), handle *made)
{
    int code = 15;
    handle comm = MADE;
    if (layer)
        layer->handle_error(0, call, MADE, &code);
    else
        ((void (*)(handle *, int *, ...))call)(&comm, &code);
    EXPECT(code == 5);
    *made = 0x1001;
    return 0;
}

int heddle_Comm_create_keyval(void (*copy)(void), void (*forget)(void), int *keyval, void *extra)
{
    EXPECT(copy == (void (*)(void))1 && forget == NULL && extra == NULL);
    *keyval = 0x1002;
    return 0;
}

int heddle_Comm_get_attr(handle comm, int keyval, void *value, int *flag)
{
    static int largest = 77;
    EXPECT(comm == WORLD && keyval == 501);
    *(int **)value = &largest;
    *flag = 1;
    return 0;
}

int heddle_Type_get_envelope_c(handle type, int64_t *integers, int64_t *addresses, int64_t *large,
                               int64_t *types, int *combiner)
{
    EXPECT(type == 0x1003);
    *integers = 5, *addresses = *large = 0, *types = 1, *combiner = 111;
    return 0;
}

int heddle_Type_create_subarray(int dimensions, const int *sizes, const int *parts,
                                const int *starts, int order, handle old, handle *made)
{
    EXPECT(dimensions == 1 && *sizes == 4 && *parts == 2 && *starts == 1 && order == 15
           && old == INT);
    *made = 0x1003;
    return 0;
}

int heddle_Type_get_contents(handle type, int integers, int addresses, int types, int *numbers,
                             intptr_t *places, handle *of)
{
    static const int contents[] = {1, 4, 2, 1, 15};
    EXPECT(type == 0x1003 && integers == 5 && addresses == 0 && types == 1 && places == NULL);
    memcpy(numbers, contents, sizeof contents);
    *of = INT;
    return 0;
}

int heddle_File_open(handle comm, const char *name, int mode, handle info, handle *file)
{
    EXPECT(comm == WORLD && strcmp(name, "x") == 0 && mode == (2 | 32 | 1) && info == 0x130);
    *file = 0x1009;
    return 0;
}

int heddle_File_close(handle *file)
{
    EXPECT(*file == 0x1009);
    *file = 0x118;
    return 0;
}

/* Compiled with a real library's header, run with ours: what goes over the border, and what comes
 * back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(what)                                                 \
    do {                                                             \
        if (!(what)) {                                               \
            printf("program, line %d: not so: %s\n", __LINE__, #what); \
            exit(1);                                                 \
        }                                                            \
    } while (0)

static void add(void *from, void *into, int *count, MPI_Datatype *type)
{
    EXPECT(*type == MPI_INT && *count == 1);
    *(int *)into += *(int *)from;
}

static MPI_Comm split;

static void handle(MPI_Comm *comm, int *code, ...)
{
    EXPECT(*comm == split && *code == MPI_ERR_TRUNCATE);
    *code = MPI_ERR_COMM;
}

static void messages(void)
{
    int some[3] = {0};
    EXPECT(MPI_Send(some, 3, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Status status;
    status.MPI_ERROR = 1234;
    EXPECT(MPI_Recv(MPI_BOTTOM, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                    &status) == MPI_ERR_TRUNCATE);
    EXPECT(status.MPI_SOURCE == 6 && status.MPI_TAG == 9 && status.MPI_ERROR == 1234);
    int count = 0;
    EXPECT(!MPI_Get_count(&status, MPI_DOUBLE, &count) && count == 3);
    EXPECT(MPI_Recv(MPI_BOTTOM, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE) == MPI_ERR_TRUNCATE);
    MPI_Request requests[40];
    MPI_Status statuses[40];
    for (int i = 0; i < 40; i++)
        requests[i] = MPI_REQUEST_NULL;
    EXPECT(MPI_Waitall(40, requests, statuses) == MPI_ERR_IN_STATUS);
    EXPECT(requests[38] == MPI_REQUEST_NULL && requests[39] != MPI_REQUEST_NULL);
    EXPECT(statuses[1].MPI_SOURCE == MPI_PROC_NULL && statuses[39].MPI_SOURCE == 39);
    EXPECT(statuses[7].MPI_TAG == MPI_ANY_TAG && statuses[7].MPI_ERROR == MPI_ERR_PENDING);
}

static void communicators(void)
{
    int size = 0, result = -1;
    EXPECT(!MPI_Comm_size(MPI_COMM_WORLD, &size) && size == 8);
    EXPECT(!MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, -7, &split));
    EXPECT(split != MPI_COMM_NULL && !MPI_Comm_size(split, &size) && size == 2);
    EXPECT(!MPI_Comm_compare(MPI_COMM_WORLD, split, &result) && result == MPI_CONGRUENT);
    EXPECT(MPI_Comm_f2c(MPI_Comm_c2f(split)) == split);
    EXPECT(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Op op;
    EXPECT(!MPI_Op_create(add, 1, &op));
    MPI_Errhandler handler;
    EXPECT(!MPI_Comm_create_errhandler(handle, &handler));
    int keyval, *largest, flag = 0;
    EXPECT(!MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    EXPECT(!MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &flag) && flag
           && *largest == 77);
    EXPECT(!MPI_Comm_free(&split) && split == MPI_COMM_NULL);
    EXPECT(MPI_Barrier(MPI_COMM_WORLD) == MPI_ERR_UNSUPPORTED_OPERATION);
}

static void collectives(void)
{
    int value = 1, counts[8] = {0};
    EXPECT(!MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MPI_Datatype types[8], others[8];
    for (int i = 0; i < 8; i++) {
        types[i] = i % 2 ? MPI_INT : MPI_DATATYPE_NULL;
        others[i] = MPI_CHAR;
    }
    EXPECT(!MPI_Alltoallw(&value, counts, counts, types, counts, counts, counts, others,
                          MPI_COMM_WORLD));
}

static void types(void)
{
    int size = 4, part = 2, start = 1, numbers[5];
    MPI_Datatype type, of;
    EXPECT(!MPI_Type_create_subarray(1, &size, &part, &start, MPI_ORDER_FORTRAN, MPI_INT, &type));
    EXPECT(!MPI_Type_get_contents(type, 5, 0, 1, numbers, NULL, &of));
    EXPECT(numbers[1] == 4 && numbers[4] == MPI_ORDER_FORTRAN && of == MPI_INT);
}

int main(void)
{
    messages();
    communicators();
    collectives();
    types();
    MPI_File file;
    EXPECT(!MPI_File_open(MPI_COMM_WORLD, "x", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_APPEND,
                          MPI_INFO_NULL, &file));
    EXPECT(file != MPI_FILE_NULL && !MPI_File_close(&file) && file == MPI_FILE_NULL);
    puts("right");
    return 0;
}

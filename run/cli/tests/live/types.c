/* Derived types: sent, received as another type of the same signature, packed, and described. */
#include "conformance.h"
#include <stddef.h>

static int next, previous;

/* Sends `count` of a type to the next rank and receives as plain integers. */
static void to_integers(const void *from, int count, MPI_Datatype type, int *into, int integers) {
    MPI_Status status;
    int got;
    MPI_Sendrecv(from, count, type, next, 1, into, integers, MPI_INT, previous, 1, WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK(got == integers);
}

static void vectors(void) {
    int matrix[4][5], column[8], got[4];
    MPI_Datatype type, resized;
    MPI_Aint lower, extent;
    for (int i = 0; i < 20; i++) matrix[i / 5][i % 5] = 100 * rank + i;
    MPI_Type_vector(4, 1, 5, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, sizeof(int), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == 0 && extent == 16 * (MPI_Aint)sizeof(int));
    /* Columns 1 and 2, one after another. */
    to_integers(&matrix[0][1], 2, resized, column, 8);
    for (int i = 0; i < 8; i++) CHECK(column[i] == 100 * previous + i % 4 * 5 + 1 + i / 4);
    MPI_Type_free(&type);
    /* The other way: plain integers become a column. */
    memset(matrix, 0, sizeof matrix);
    for (int i = 0; i < 4; i++) got[i] = rank + i;
    MPI_Sendrecv(got, 4, MPI_INT, next, 2, &matrix[0][3], 1, resized, previous, 2, WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++) CHECK(matrix[i / 5][i % 5] == (i % 5 == 3 ? previous + i / 5 : 0));
    MPI_Type_free(&resized);
    CHECK(resized == MPI_DATATYPE_NULL);
}

static void structures(void) {
    struct mixed { char letter; double number; int pair[2]; } out[3], in[3];
    int lengths[3] = {1, 1, 2}, size, elements;
    MPI_Aint at[3] = {offsetof(struct mixed, letter), offsetof(struct mixed, number),
                      offsetof(struct mixed, pair)};
    MPI_Datatype kinds[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, plain, type;
    MPI_Type_create_struct(3, lengths, at, kinds, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct mixed), &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    CHECK(size == (int)(1 + sizeof(double) + 2 * sizeof(int)));
    memset(in, 0, sizeof in);
    for (int i = 0; i < 3; i++) out[i] = (struct mixed){'a' + i, rank + i / 4.0, {i, rank}};
    MPI_Status status;
    MPI_Sendrecv(out, 2, type, next, 3, in, 3, type, previous, 3, WORLD, &status);
    for (int i = 0; i < 2; i++) {
        CHECK(in[i].letter == 'a' + i && in[i].number == previous + i / 4.0
              && in[i].pair[1] == previous);
    }
    CHECK(in[2].letter == 0);
    MPI_Get_count(&status, type, &size);
    MPI_Get_elements(&status, type, &elements);
    CHECK(size == 2 && elements == 8);
    MPI_Type_free(&plain);
    MPI_Type_free(&type);
}

static void indexed_and_arrays(void) {
    int data[24], got[24], lengths[3] = {2, 0, 3}, at[3] = {10, 1, 3};
    MPI_Datatype type;
    for (int i = 0; i < 24; i++) data[i] = rank + 1000 * i;
    MPI_Type_indexed(3, lengths, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    to_integers(data, 1, type, got, 5);
    static const int order[5] = {10, 11, 3, 4, 5};
    for (int i = 0; i < 5; i++) CHECK(got[i] == previous + 1000 * order[i]);
    MPI_Type_free(&type);
    int sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
    for (int fortran = 0; fortran < 2; fortran++) {
        MPI_Type_create_subarray(2, sizes, parts, starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                 MPI_INT, &type);
        MPI_Type_commit(&type);
        to_integers(data, 1, type, got, 6);
        for (int i = 0; i < 6; i++) {
            int place = fortran ? 1 + i % 2 + 4 * (2 + i / 2) : 6 * (1 + i / 3) + 2 + i % 3;
            CHECK(got[i] == previous + 1000 * place);
        }
        MPI_Type_free(&type);
    }
}

static void packing(void) {
    char buffer[64], text[8] = "";
    int position = 0, size, numbers[2] = {rank, 7};
    double number = rank / 2.0;
    MPI_Pack(numbers, 2, MPI_INT, buffer, sizeof buffer, &position, WORLD);
    MPI_Pack(&number, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, WORLD);
    MPI_Pack("hello", 6, MPI_CHAR, buffer, sizeof buffer, &position, WORLD);
    MPI_Sendrecv_replace(buffer, position, MPI_PACKED, next, 4, previous, 4, WORLD,
                         MPI_STATUS_IGNORE);
    size = position;
    position = 0;
    MPI_Unpack(buffer, size, &position, numbers, 2, MPI_INT, WORLD);
    MPI_Unpack(buffer, size, &position, &number, 1, MPI_DOUBLE, WORLD);
    MPI_Unpack(buffer, size, &position, text, 6, MPI_CHAR, WORLD);
    CHECK(position == size && numbers[0] == previous && number == previous / 2.0
          && !strcmp(text, "hello"));
    /* External data is big-endian. */
    MPI_Aint place = 0;
    int value = 0x01020304;
    MPI_Pack_external("external32", &value, 1, MPI_INT, buffer, sizeof buffer, &place);
    CHECK(place == 4 && buffer[0] == 1 && buffer[3] == 4);
}

static void described(void) {
    int integers, addresses, types, combiner, values[3];
    MPI_Datatype type, copy, inside[1];
    MPI_Aint none[1], lower, extent;
    MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &type);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    CHECK(integers == 3 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_VECTOR);
    MPI_Type_get_contents(type, 3, 0, 1, values, none, inside);
    CHECK(values[0] == 3 && values[1] == 2 && values[2] == 4 && inside[0] == MPI_DOUBLE);
    MPI_Type_dup(type, &copy);
    MPI_Type_free(&type);
    MPI_Type_get_true_extent(copy, &lower, &extent);
    CHECK(lower == 0 && extent == 80);
    MPI_Type_free(&copy);
    MPI_Type_get_envelope(MPI_INT, &integers, &addresses, &types, &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED);
}

/* A large message of a type with holes, that is received with another. */
static void large(void) {
    enum { COUNT = 60000 };
    double *out = malloc(2 * COUNT * sizeof *out), *in = malloc(3 * COUNT * sizeof *in);
    MPI_Datatype two, three;
    MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &two);
    MPI_Type_vector(COUNT, 1, 3, MPI_DOUBLE, &three);
    MPI_Type_commit(&two);
    MPI_Type_commit(&three);
    for (int i = 0; i < 2 * COUNT; i++) out[i] = i % 2 ? -1 : rank + i;
    for (int i = 0; i < 3 * COUNT; i++) in[i] = -2;
    MPI_Sendrecv(out, 1, two, next, 5, in, 1, three, previous, 5, WORLD, MPI_STATUS_IGNORE);
    int wrong = 0;
    for (int i = 0; i < 3 * COUNT; i++) wrong += in[i] != (i % 3 ? -2 : previous + i / 3 * 2);
    CHECK(wrong == 0);
    MPI_Type_free(&two);
    MPI_Type_free(&three);
    free(out);
    free(in);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
    vectors();
    structures();
    indexed_and_arrays();
    packing();
    described();
    large();
    MPI_Finalize();
    return 0;
}

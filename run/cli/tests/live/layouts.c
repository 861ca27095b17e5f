/* Every constructor of datatypes: what it takes, where it lies, what is packed, and how it was
 * made. */
#include "conformance.h"
#include <stddef.h>

enum { MANY = 256 };

/* Packs, sends to itself as bytes and as the type: the same places of an array are taken and
 * filled. */
static void moves(MPI_Datatype type, int count, const int *places, int length) {
    int from[MANY], into[MANY], packed[MANY], position = 0, size, room;
    MPI_Status status;
    for (int i = 0; i < MANY; i++)
        from[i] = 1000 + i, into[i] = -1;
    MPI_Type_size(type, &size);
    CHECK(size * count == length * (int)sizeof(int));
    MPI_Pack_size(count, type, MPI_COMM_SELF, &room);
    CHECK(room >= length * (int)sizeof(int));
    MPI_Pack(from, count, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    for (int i = 0; i < length; i++)
        CHECK(packed[i] == 1000 + places[i]);
    int end = position;
    position = 0;
    MPI_Unpack(packed, end, &position, into, count, type, MPI_COMM_SELF);
    CHECK(position == end);
    for (int i = 0, at = 0; i < MANY; i++) {
        int is_taken = 0;
        for (at = 0; at < length; at++)
            is_taken |= places[at] == i;
        CHECK(into[i] == (is_taken ? 1000 + i : -1));
    }
    int got[MANY], elements;
    MPI_Sendrecv(from, count, type, 0, 1, got, length, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
    for (int i = 0; i < length; i++)
        CHECK(got[i] == 1000 + places[i]);
    MPI_Sendrecv(got, length, MPI_INT, 0, 2, into, count, type, 0, 2, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, type, &elements);
    CHECK(elements == count);
    MPI_Get_elements(&status, type, &elements);
    CHECK(elements == length);
    for (int i = 0; i < length; i++)
        CHECK(into[places[i]] == 1000 + places[i]);
}

static void lies(MPI_Datatype type, MPI_Aint low, MPI_Aint extent, MPI_Aint true_low,
                 MPI_Aint true_extent) {
    MPI_Aint a, b;
    MPI_Type_get_extent(type, &a, &b);
    CHECK(a == low && b == extent);
    MPI_Type_get_true_extent(type, &a, &b);
    CHECK(a == true_low && b == true_extent);
}

static void made(MPI_Datatype type, int combiner, int integers, int addresses, int types) {
    int i, a, t, c;
    MPI_Type_get_envelope(type, &i, &a, &t, &c);
    CHECK(c == combiner && i == integers && a == addresses && t == types);
}

#define I ((MPI_Aint)sizeof(int))
#define FINISH(type) MPI_Type_free(&type); CHECK(type == MPI_DATATYPE_NULL)

static void regular(void) {
    MPI_Datatype type, inner;
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    lies(type, 0, 4 * I, 0, 4 * I);
    moves(type, 2, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    FINISH(type);
    MPI_Type_vector(3, 2, 5, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_VECTOR, 3, 0, 1);
    lies(type, 0, 12 * I, 0, 12 * I);
    moves(type, 2, (int[]){0, 1, 5, 6, 10, 11, 12, 13, 17, 18, 22, 23}, 12);
    FINISH(type);
    MPI_Type_create_hvector(2, 1, 7 * I, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_HVECTOR, 2, 1, 1);
    lies(type, 0, 8 * I, 0, 8 * I);
    moves(type, 1, (int[]){0, 7}, 2);
    FINISH(type);
    /* A negative stride: the first block lies behind the others. */
    MPI_Type_vector(3, 1, -2, MPI_INT, &type);
    lies(type, -4 * I, 5 * I, -4 * I, 5 * I);
    FINISH(type);
    MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &type);
    MPI_Type_free(&inner);
    MPI_Type_commit(&type);
    moves(type, 1, (int[]){0, 2, 3, 5}, 4);
    FINISH(type);
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    lies(type, 0, 0, 0, 0);
    FINISH(type);
}

static void irregular(void) {
    MPI_Datatype type, twin;
    int lengths[] = {2, 0, 1, 3}, places[] = {5, 1, 0, 10};
    MPI_Aint offsets[] = {5 * I, I, 0, 10 * I};
    const int taken[] = {5, 6, 0, 10, 11, 12};
    MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_INDEXED, 9, 0, 1);
    lies(type, 0, 13 * I, 0, 13 * I);
    moves(type, 1, taken, 6);
    MPI_Type_dup(type, &twin);
    made(twin, MPI_COMBINER_DUP, 0, 0, 1);
    moves(twin, 1, taken, 6);
    FINISH(type);
    FINISH(twin);
    MPI_Type_create_hindexed(4, lengths, offsets, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_HINDEXED, 5, 4, 1);
    moves(type, 1, taken, 6);
    FINISH(type);
    MPI_Type_create_indexed_block(3, 2, (int[]){4, 0, 9}, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1);
    moves(type, 1, (int[]){4, 5, 0, 1, 9, 10}, 6);
    FINISH(type);
    MPI_Type_create_hindexed_block(2, 2, (MPI_Aint[]){6 * I, 2 * I}, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1);
    lies(type, 2 * I, 6 * I, 2 * I, 6 * I);
    moves(type, 1, (int[]){6, 7, 2, 3}, 4);
    FINISH(type);
}

static void structures(void) {
    struct both { double real; int number; char letter; };
    struct both from[3] = {{1.5, 2, 'x'}, {2.5, 3, 'y'}, {3.5, 4, 'z'}}, into[3];
    MPI_Datatype type, resized;
    MPI_Aint offsets[] = {offsetof(struct both, real), offsetof(struct both, number),
                          offsetof(struct both, letter)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    int lengths[] = {1, 1, 1}, size, elements, got_lengths[4];
    MPI_Status status;
    MPI_Type_create_struct(3, lengths, offsets, types, &type);
    MPI_Type_create_resized(type, 0, sizeof(struct both), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_size(resized, &size);
    CHECK(size == 13);
    lies(resized, 0, sizeof(struct both), 0, 13);
    made(resized, MPI_COMBINER_RESIZED, 0, 2, 1);
    made(type, MPI_COMBINER_STRUCT, 4, 3, 3);
    MPI_Aint got_offsets[3];
    MPI_Datatype got_types[3];
    MPI_Type_get_contents(type, 4, 3, 3, got_lengths, got_offsets, got_types);
    CHECK(got_lengths[0] == 3 && got_lengths[3] == 1 && got_offsets[1] == offsets[1]
          && got_types[2] == MPI_CHAR);
    memset(into, 0, sizeof into);
    MPI_Sendrecv(from, 3, resized, 0, 0, into, 3, resized, 0, 0, MPI_COMM_SELF, &status);
    CHECK(into[2].real == 3.5 && into[1].number == 3 && into[0].letter == 'x');
    MPI_Get_elements(&status, resized, &elements);
    CHECK(elements == 9);
    /* Less than a whole one: the count is undefined, the elements are not. */
    MPI_Datatype part;
    MPI_Type_create_struct(2, lengths, offsets, types, &part);
    MPI_Type_commit(&part);
    MPI_Sendrecv(from, 1, part, 0, 0, into, 3, resized, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, resized, &size);
    MPI_Get_elements(&status, resized, &elements);
    CHECK(size == MPI_UNDEFINED && elements == 2);
    FINISH(part);
    FINISH(type);
    FINISH(resized);
    /* Addresses from the bottom of memory. */
    int a = 7, b = 8, got[2] = {0, 0};
    MPI_Aint where[2];
    MPI_Get_address(&a, &where[0]);
    MPI_Get_address(&b, &where[1]);
    MPI_Type_create_hindexed(2, (int[]){1, 1}, where, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(MPI_BOTTOM, 1, type, 0, 0, got, 2, MPI_INT, 0, 0, MPI_COMM_SELF, &status);
    CHECK(got[0] == 7 && got[1] == 8);
    FINISH(type);
}

static void arrays(void) {
    MPI_Datatype type;
    int sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_SUBARRAY, 8, 0, 1);
    lies(type, 0, 24 * I, 8 * I, 9 * I);
    moves(type, 2, (int[]){8, 9, 10, 14, 15, 16, 32, 33, 34, 38, 39, 40}, 12);
    FINISH(type);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_commit(&type);
    moves(type, 1, (int[]){9, 10, 13, 14, 17, 18}, 6);
    FINISH(type);
    /* Blocks of 2 dealt to 2 by 2 ranks, over 6 by 5 elements: the second of the first dimension,
     * the first of the second. */
    int whole[] = {6, 5}, how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
        arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Type_create_darray(4, 2, 2, whole, how, arguments, (int[]){2, 2}, MPI_ORDER_C, MPI_INT,
                           &type);
    MPI_Type_commit(&type);
    made(type, MPI_COMBINER_DARRAY, 4 + 4 * 2, 0, 1);
    lies(type, 0, 30 * I, 10 * I, 8 * I);
    moves(type, 1, (int[]){10, 11, 12, 15, 16, 17}, 6);
    FINISH(type);
    MPI_Type_create_darray(2, 1, 1, (int[]){7}, (int[]){MPI_DISTRIBUTE_CYCLIC},
                           (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2}, MPI_ORDER_C, MPI_INT,
                           &type);
    MPI_Type_commit(&type);
    moves(type, 1, (int[]){1, 3, 5}, 3);
    FINISH(type);
    MPI_Type_create_darray(3, 2, 1, (int[]){7}, (int[]){MPI_DISTRIBUTE_BLOCK},
                           (int[]){MPI_DISTRIBUTE_DFLT_DARG}, (int[]){3}, MPI_ORDER_FORTRAN,
                           MPI_INT, &type);
    MPI_Type_commit(&type);
    moves(type, 1, (int[]){6}, 1);
    FINISH(type);
}

static void external(void) {
    int numbers[] = {1, -2, 0x01020304}, back[3] = {0, 0, 0};
    double reals[] = {1.0, -2.5}, real_back[2];
    unsigned char bytes[64];
    MPI_Aint size, position = 0;
    MPI_Pack_external_size("external32", 3, MPI_INT, &size);
    CHECK(size == 12);
    MPI_Pack_external("external32", numbers, 3, MPI_INT, bytes, sizeof bytes, &position);
    MPI_Pack_external("external32", reals, 2, MPI_DOUBLE, bytes, sizeof bytes, &position);
    CHECK(position == 28);
    /* Big-endian, IEEE. */
    CHECK(!memcmp(bytes, "\0\0\0\1\377\377\377\376\1\2\3\4\x3f\xf0\0\0\0\0\0\0\xc0\4", 22));
    position = 0;
    MPI_Unpack_external("external32", bytes, 28, &position, back, 3, MPI_INT);
    MPI_Unpack_external("external32", bytes, 28, &position, real_back, 2, MPI_DOUBLE);
    CHECK(!memcmp(numbers, back, sizeof back) && real_back[0] == 1.0 && real_back[1] == -2.5);
}

static void names(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length, size;
    MPI_Datatype type;
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(!strcmp(name, "MPI_DOUBLE") && length == 10);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    CHECK(length == 0 && name[0] == 0);
    MPI_Type_set_name(type, "two of them");
    MPI_Type_get_name(type, name, &length);
    CHECK(!strcmp(name, "two of them"));
    FINISH(type);
    made(MPI_INT, MPI_COMBINER_NAMED, 0, 0, 0);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 8);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 4);
    struct { double a; int b; } pair;
    MPI_Aint low, extent;
    MPI_Type_size(MPI_DOUBLE_INT, &size);
    MPI_Type_get_extent(MPI_DOUBLE_INT, &low, &extent);
    CHECK(size == 12 && extent == sizeof pair);
    MPI_Type_size(MPI_SHORT_INT, &size);
    CHECK(size == 6);
}

static void large(void) {
#if MPI_VERSION >= 4
    /* 3 billion integers: nothing is sent, but counts and extents are those. */
    MPI_Datatype type;
    MPI_Count size, low, extent, true_low, true_extent, i, a, l, t, three = 3000000000;
    int combiner;
    MPI_Type_contiguous_c(three, MPI_INT, &type);
    MPI_Type_size_c(type, &size);
    CHECK(size == 4 * three);
    MPI_Type_get_extent_c(type, &low, &extent);
    CHECK(low == 0 && extent == 4 * three);
    int small;
    MPI_Type_size(type, &small);
    CHECK(small == MPI_UNDEFINED);
    MPI_Type_get_envelope_c(type, &i, &a, &l, &t, &combiner);
    CHECK(combiner == MPI_COMBINER_CONTIGUOUS && i + l == 1 && t == 1);
    FINISH(type);
    MPI_Type_vector_c(2, 1, three, MPI_CHAR, &type);
    MPI_Type_get_true_extent_c(type, &true_low, &true_extent);
    CHECK(true_low == 0 && true_extent == three + 1);
    FINISH(type);
#endif
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    regular();
    irregular();
    structures();
    arrays();
    external();
    names();
    large();
    MPI_Finalize();
    return 0;
}

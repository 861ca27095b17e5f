/* Reductions: every predefined operation on every class of types, operations of the program, pairs,
 * in place, and on parts. */
#include "conformance.h"

/* Of two operands 12 and 10, as any rank but the first and the first have them. */
#define COMBINES(type, name, op, expected) do { \
        type mine = rank == 0 ? (type)10 : (type)12, all = 0; \
        MPI_Allreduce(&mine, &all, 1, name, op, WORLD); \
        CHECK(all == (type)(expected)); \
    } while (0)

static long long power(int base, int exponent) {
    long long result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

#define ARITHMETIC(type, name) do { \
        COMBINES(type, name, MPI_SUM, 10 + 12 * (ranks - 1)); \
        COMBINES(type, name, MPI_PROD, 10 * power(12, ranks - 1)); \
        COMBINES(type, name, MPI_MAX, ranks > 1 ? 12 : 10); \
        COMBINES(type, name, MPI_MIN, 10); \
    } while (0)

#define BITS(type, name) do { \
        COMBINES(type, name, MPI_BAND, ranks > 1 ? 8 : 10); \
        COMBINES(type, name, MPI_BOR, ranks > 1 ? 14 : 10); \
        COMBINES(type, name, MPI_BXOR, (ranks - 1) % 2 ? 6 : 10); \
    } while (0)

#define INTEGER(type, name) do { \
        ARITHMETIC(type, name); \
        BITS(type, name); \
        COMBINES(type, name, MPI_LAND, ranks > 1 ? 1 : 10); \
        COMBINES(type, name, MPI_LOR, ranks > 1 ? 1 : 10); \
        COMBINES(type, name, MPI_LXOR, ranks > 1 ? ranks % 2 : 10); \
    } while (0)

static void predefined(void) {
    INTEGER(signed char, MPI_SIGNED_CHAR);
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    INTEGER(short, MPI_SHORT);
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    INTEGER(int, MPI_INT);
    INTEGER(unsigned, MPI_UNSIGNED);
    INTEGER(long, MPI_LONG);
    INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    INTEGER(long long, MPI_LONG_LONG);
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    INTEGER(signed char, MPI_INT8_T);
    INTEGER(unsigned short, MPI_UINT16_T);
    INTEGER(int, MPI_INT32_T);
    INTEGER(unsigned long, MPI_UINT64_T);
    INTEGER(MPI_Aint, MPI_AINT);
    INTEGER(MPI_Offset, MPI_OFFSET);
    INTEGER(MPI_Count, MPI_COUNT);
    ARITHMETIC(float, MPI_FLOAT);
    ARITHMETIC(double, MPI_DOUBLE);
    ARITHMETIC(long double, MPI_LONG_DOUBLE);
    BITS(unsigned char, MPI_BYTE);
    _Bool truth = rank != 0, all;
    MPI_Allreduce(&truth, &all, 1, MPI_C_BOOL, MPI_LAND, WORLD);
    CHECK(!all);
    MPI_Allreduce(&truth, &all, 1, MPI_C_BOOL, MPI_LOR, WORLD);
    CHECK(all == (ranks > 1));
    float _Complex z = rank == 0 ? 1 + 2 * __extension__ 1.0if : 1, sum;
    MPI_Allreduce(&z, &sum, 1, MPI_C_FLOAT_COMPLEX, MPI_SUM, WORLD);
    CHECK(__real__ sum == ranks && __imag__ sum == 2);
    double _Complex w = __extension__ 1.0i, product;
    MPI_Allreduce(&w, &product, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, WORLD);
    const double real[] = {1, 0, -1, 0}, imaginary[] = {0, 1, 0, -1};
    CHECK(__real__ product == real[ranks % 4] && __imag__ product == imaginary[ranks % 4]);
}

/* Equal values: the lower index wins. */
#define LOCATES(type, name) do { \
        struct { type value; int index; } mine = {(type)(rank / 2), rank}, found; \
        memset(&found, 0, sizeof found); \
        MPI_Allreduce(&mine, &found, 1, name, MPI_MAXLOC, WORLD); \
        CHECK(found.value == (type)((ranks - 1) / 2) && found.index == (ranks - 1) / 2 * 2); \
        MPI_Allreduce(&mine, &found, 1, name, MPI_MINLOC, WORLD); \
        CHECK(found.value == 0 && found.index == 0); \
    } while (0)

static void pairs(void) {
    LOCATES(int, MPI_2INT);
    LOCATES(float, MPI_FLOAT_INT);
    LOCATES(double, MPI_DOUBLE_INT);
    LOCATES(long, MPI_LONG_INT);
    LOCATES(short, MPI_SHORT_INT);
    LOCATES(long double, MPI_LONG_DOUBLE_INT);
}

/* Maps x -> a x + b, put together: does not commute. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    const long *first = in;
    long *second = inout;
    for (int i = 0; i < *length; i++, first += 2, second += 2) {
        long a = first[0] * second[0] % 1009, b = (first[1] * second[0] + second[1]) % 1009;
        second[0] = a, second[1] = b;
    }
}

static void fold(int from, int to, int shift, long *result) {
    result[0] = 1, result[1] = 0;
    for (int i = from; i <= to; i++) {
        long a = i + 2 + shift, b = 3 * i + 1 + shift;
        result[1] = (result[1] * a + b) % 1009;
        result[0] = result[0] * a % 1009;
    }
}

enum { LONG = 3 };

static void of_the_program(void) {
    MPI_Op op;
    MPI_Datatype map;
    int commutes;
    long mine[LONG][2], got[LONG][2], expected[2];
    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(!commutes);
    MPI_Type_contiguous(2, MPI_LONG, &map);
    MPI_Type_commit(&map);
    for (int i = 0; i < LONG; i++)
        mine[i][0] = rank + 2 + i, mine[i][1] = 3 * rank + 1 + i;
    for (int root = 0; root < ranks; root++) {
        memset(got, 0, sizeof got);
        MPI_Reduce(mine, got, LONG, map, op, root, WORLD);
        for (int i = 0; i < LONG; i++) {
            fold(0, ranks - 1, i, expected);
            CHECK(rank == root ? !memcmp(got[i], expected, sizeof expected) : got[i][0] == 0);
        }
    }
    MPI_Allreduce(mine, got, LONG, map, op, WORLD);
    fold(0, ranks - 1, 2, expected);
    CHECK(!memcmp(got[2], expected, sizeof expected));
    MPI_Scan(mine, got, LONG, map, op, WORLD);
    fold(0, rank, 1, expected);
    CHECK(!memcmp(got[1], expected, sizeof expected));
    MPI_Exscan(mine, got, LONG, map, op, WORLD);
    fold(0, rank - 1, 2, expected);
    CHECK(rank == 0 || !memcmp(got[2], expected, sizeof expected));
    memcpy(got, mine, sizeof mine);
    MPI_Scan(MPI_IN_PLACE, got, LONG, map, op, WORLD);
    fold(0, rank, 0, expected);
    CHECK(!memcmp(got[0], expected, sizeof expected));
    memcpy(got, mine, sizeof mine);
    MPI_Exscan(MPI_IN_PLACE, got, LONG, map, op, WORLD);
    fold(0, rank - 1, 0, expected);
    CHECK(rank == 0 || !memcmp(got[0], expected, sizeof expected));
    /* In one process: in first, inout second. */
    long first[2] = {2, 3}, second[2] = {5, 7};
    MPI_Reduce_local(first, second, 1, map, op);
    CHECK(second[0] == 10 && second[1] == 22);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Type_free(&map);
}

static void parts(void) {
    int *mine = malloc(sizeof(int) * (ranks + 1) * ranks), *counts = malloc(sizeof(int) * ranks),
        total = 0, mark = 0;
    for (int i = 0; i < ranks; i++) {
        counts[i] = i + 1;
        if (i < rank)
            mark += counts[i];
        total += counts[i];
    }
    int *got = malloc(sizeof(int) * (total + ranks));
    for (int i = 0; i < total; i++)
        mine[i] = i * (rank + 1);
    MPI_Reduce_scatter(mine, got, counts, MPI_INT, MPI_SUM, WORLD);
    for (int i = 0; i <= rank; i++)
        CHECK(got[i] == (mark + i) * ranks * (ranks + 1) / 2);
    memcpy(got, mine, sizeof(int) * total);
    MPI_Reduce_scatter(MPI_IN_PLACE, got, counts, MPI_INT, MPI_SUM, WORLD);
    for (int i = 0; i <= rank; i++)
        CHECK(got[i] == (mark + i) * ranks * (ranks + 1) / 2);
    for (int i = 0; i < 2 * ranks && i < total; i++)
        mine[i] = i + rank;
    if (total >= 2 * ranks) {
        MPI_Reduce_scatter_block(mine, got, 2, MPI_INT, MPI_MAX, WORLD);
        CHECK(got[0] == 2 * rank + ranks - 1 && got[1] == 2 * rank + ranks);
    }
    free(mine), free(counts), free(got);
}

static void in_place_and_later(void) {
    int values[2] = {rank, 2 * rank}, sum = ranks * (ranks - 1) / 2, other[2];
    MPI_Request requests[4];
    MPI_Reduce(rank == ranks - 1 ? MPI_IN_PLACE : values, values, 2, MPI_INT, MPI_SUM, ranks - 1,
               WORLD);
    CHECK(rank != ranks - 1 || (values[0] == sum && values[1] == 2 * sum));
    values[0] = rank, values[1] = -rank;
    MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_MAX, WORLD);
    CHECK(values[0] == ranks - 1 && values[1] == 0);
    int a[2] = {rank, 1}, b[2], c[2], d[2];
    MPI_Iallreduce(a, b, 2, MPI_INT, MPI_SUM, WORLD, &requests[0]);
    MPI_Ireduce(a, c, 2, MPI_INT, MPI_SUM, 0, WORLD, &requests[1]);
    MPI_Iscan(a, d, 2, MPI_INT, MPI_SUM, WORLD, &requests[2]);
    MPI_Iexscan(a, other, 2, MPI_INT, MPI_SUM, WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(b[0] == sum && b[1] == ranks && d[0] == rank * (rank + 1) / 2 && d[1] == rank + 1);
    CHECK(rank != 0 || (c[0] == sum && c[1] == ranks));
    CHECK(rank == 0 || other[0] == rank * (rank - 1) / 2);
    int flag;
    MPI_Op_commutative(MPI_SUM, &flag);
    CHECK(flag);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    predefined();
    pairs();
    of_the_program();
    parts();
    in_place_and_later();
    MPI_Finalize();
    return 0;
}

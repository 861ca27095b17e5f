/* Random datatypes, made of each other: what they are, what they pack and where they unpack it, a
 * line for each.
 *
 *   datatypes SEED COUNT
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define ROOM (1 << 22)
#define MIDDLE (ROOM / 2)
#define MOST 4

static char text[1 << 16];

static void note(const char *what) {
    if (strlen(text) + strlen(what) + 2 < sizeof text)
        strcat(strcat(text, " "), what);
}

static MPI_Datatype basic(void) {
    MPI_Datatype all[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_FLOAT,
                          MPI_LONG_LONG}, new;
    note("basic");
    MPI_Type_dup(all[below(sizeof all / sizeof *all)], &new);
    return new;
}

static MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    return extent > 0 ? extent : 0;
}

static MPI_Datatype make(int level);

/* No part is empty, and the bounds are set: where they follow from the parts', MPICH takes them
 * otherwise than the standard does. */
static MPI_Datatype structure(MPI_Datatype first, int level, int count, int *lengths) {
    MPI_Datatype parts[MOST], new, whole;
    MPI_Aint places[MOST], place = 0;
    MPI_Count size;
    note("struct");
    for (int i = 0; i < count; i++) {
        parts[i] = i == 0 ? first : make(level - 1);
        MPI_Type_size_x(parts[i], &size);
        if (size == 0)
            parts[i] = basic();
        lengths[i] += lengths[i] == 0;
        places[i] = place;
        place += extent_of(parts[i]) * lengths[i] + (MPI_Aint)below(3) * 8;
    }
    MPI_Type_create_struct(count, lengths, places, parts, &new);
    MPI_Type_create_resized(new, 0, place, &whole);
    MPI_Type_free(&new);
    return whole;
}

static MPI_Datatype subarray(MPI_Datatype old) {
    MPI_Datatype new;
    int sizes[3], subsizes[3], starts[3], dims = 1 + (int)below(3);
    note("subarray");
    for (int i = 0; i < dims; i++) {
        sizes[i] = 1 + (int)below(4);
        subsizes[i] = 1 + (int)below((unsigned)sizes[i]);
        starts[i] = (int)below((unsigned)(sizes[i] - subsizes[i] + 1));
    }
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Type_create_subarray(dims, sizes, subsizes, starts, order, old, &new);
    return new;
}

static MPI_Datatype darray(MPI_Datatype old) {
    MPI_Datatype new;
    int sizes[3], kinds[3], blocks[3], grid[3], dims = 1 + (int)below(3), ranks = 1;
    note("darray");
    for (int i = 0; i < dims; i++) {
        sizes[i] = 1 + (int)below(6);
        grid[i] = 1 + (int)below(3);
        kinds[i] = below(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        int least = kinds[i] == MPI_DISTRIBUTE_BLOCK ? (sizes[i] + grid[i] - 1) / grid[i] : 1;
        blocks[i] = below(2) ? MPI_DISTRIBUTE_DFLT_DARG : least + (int)below(3);
        if (below(4) == 0) {
            kinds[i] = MPI_DISTRIBUTE_NONE;
            blocks[i] = MPI_DISTRIBUTE_DFLT_DARG;
            grid[i] = 1;
        }
        ranks *= grid[i];
    }
    int rank = (int)below((unsigned)ranks), order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Type_create_darray(ranks, rank, dims, sizes, kinds, blocks, grid, order, old, &new);
    return new;
}

static MPI_Datatype make(int level) {
    int lengths[MOST], places[MOST], count = 1 + (int)below(MOST), at = 0;
    MPI_Aint bytes[MOST];
    MPI_Datatype new;
    if (level == 0 || below(8) == 0)
        return basic();
    MPI_Datatype old = make(level - 1);
    MPI_Aint extent = extent_of(old);
    for (int i = 0; i < count; i++) {
        lengths[i] = (int)below(4);
        places[i] = at + (int)below(3);
        at = places[i] + lengths[i];
        bytes[i] = places[i] * (extent > 0 ? extent : 8);
    }
    int number = (int)below(4), length = (int)below(4), stride = (int)below(9) - 3;
    switch (below(11)) {
    case 0:
        note("contiguous");
        MPI_Type_contiguous(number, old, &new);
        break;
    case 1:
        note("vector");
        MPI_Type_vector(number, length, stride, old, &new);
        break;
    case 2:
        note("hvector");
        MPI_Type_create_hvector(number, length, (MPI_Aint)stride * 8, old, &new);
        break;
    case 3:
        note("indexed");
        MPI_Type_indexed(count, lengths, places, old, &new);
        break;
    case 4:
        note("hindexed");
        MPI_Type_create_hindexed(count, lengths, bytes, old, &new);
        break;
    case 5:
        note("indexed_block");
        MPI_Type_create_indexed_block(count, length, places, old, &new);
        break;
    case 6:
        note("hindexed_block");
        MPI_Type_create_hindexed_block(count, length, bytes, old, &new);
        break;
    case 7:
        new = structure(old, level, count, lengths);
        break;
    case 8:
        new = subarray(old);
        break;
    case 9:
        new = darray(old);
        break;
    default:
        note("resized");
        MPI_Type_create_resized(old, ((MPI_Aint)below(5) - 2) * 8, (MPI_Aint)below(9) * 8, &new);
        break;
    }
    MPI_Type_free(&old);
    return new;
}

/* Where the first and the last byte of an element are: not what MPI_Type_get_true_extent says, as
 * MPICH errs there. */
static void touch(MPI_Datatype type, MPI_Count size, unsigned char *into, unsigned char *packed) {
    int position = 0, first = -1, last = -1;
    memset(into, 0, ROOM);
    memset(packed, 1, (size_t)size);
    MPI_Unpack(packed, (int)size, &position, into + MIDDLE, 1, type, MPI_COMM_SELF);
    for (int i = 0; i < ROOM; i++)
        if (into[i]) {
            first = first < 0 ? i : first;
            last = i;
        }
    printf(" touched %d to %d", first - MIDDLE, last - MIDDLE);
}

/* What arrives of elements that are sent packed, and of packed ones that are unpacked. */
static void move(MPI_Datatype type, int copies, MPI_Count size) {
    static unsigned char from[ROOM], into[ROOM], packed[ROOM];
    int position = 0, whole, part;
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + (i >> 8));
    MPI_Type_commit(&type);
    MPI_Pack(from + MIDDLE, copies, type, packed, ROOM, &position, MPI_COMM_SELF);
    printf(" packed %d %llx", position, fingerprint(packed, (size_t)position));
    memset(into, 0, ROOM);
    MPI_Irecv(into + MIDDLE, copies, type, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(packed, position, MPI_PACKED, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, type, &whole);
    printf(" received %d %llx", whole, fingerprint(into, ROOM));
    part = (int)below((unsigned)position + 1);
    MPI_Status_set_elements(&status, MPI_BYTE, part);
    MPI_Get_count(&status, type, &whole);
    printf(" whole of %d: %s", part, whole == MPI_UNDEFINED ? "undefined" : "defined");
    position = 0;
    memset(into, 0, ROOM);
    MPI_Unpack(packed, (int)size * copies, &position, into + MIDDLE, copies, type, MPI_COMM_SELF);
    printf(" unpacked %d %llx", position, fingerprint(into, ROOM));
    touch(type, size, into, packed);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 100;
    for (int number = 0; number < count; number++) {
        int integers, addresses, datatypes, combiner;
        MPI_Count size, lb, extent, true_lb, true_extent;
        begin(seed, (unsigned)number);
        text[0] = 0;
        MPI_Datatype type = make(1 + (int)below(4));
        MPI_Type_size_x(type, &size);
        MPI_Type_get_extent_x(type, &lb, &extent);
        MPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
        MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
        printf("%d%s: size %lld envelope %d %d %d", number, text, (long long)size, integers,
               addresses, datatypes);
        /* Where nothing is, is arbitrary. */
        if (size > 0)
            printf(" from %lld to %lld", (long long)lb, (long long)(lb + extent));
        int copies = 1 + (int)below(3);
        long long reach = llabs(extent) * copies + llabs(true_lb) + true_extent;
        if (size > 0 && size * copies < ROOM / 4 && reach < MIDDLE / 2)
            move(type, copies, size);
        printf("\n");
        fflush(stdout);
        MPI_Type_free(&type);
    }
    MPI_Finalize();
    return 0;
}

/* Arrays as descriptors: a section that is not contiguous becomes a datatype of its own or, where a
 * call is done with it at its end and it cannot be one, is copied. */
#include "fortran.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As gfortran hands them to a procedure of Fortran (libgfortran.h); strides count spans. */
struct descriptor {
    char *address;
    size_t offset, element;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, lower, upper;
    } dimensions[];
};

static ptrdiff_t extent(const struct descriptor *array, int dimension)
{
    return array->dimensions[dimension].upper - array->dimensions[dimension].lower + 1;
}

static ptrdiff_t step(const struct descriptor *array, int dimension)
{
    return array->dimensions[dimension].stride * array->span;
}

static bool contiguous(const struct descriptor *array)
{
    ptrdiff_t next = (ptrdiff_t)array->element;
    for (int dimension = 0; dimension < array->rank; dimension++) {
        if (extent(array, dimension) > 1 && step(array, dimension) != next)
            return false;
        next *= extent(array, dimension);
    }
    return true;
}

/* As MPICH has them. */
enum { COMM_WORLD = 0x44000000, ERR_BUFFER = 1 };

static void refuse(const char *why)
{
    fprintf(stderr, "heddle: a section of an array that is not contiguous: %s\n", why);
    PMPI_Abort(COMM_WORLD, ERR_BUFFER);
}

/* An element of a section: where it is, from the section's address on. */
struct element {
    ptrdiff_t index[16];
    MPI_Aint place;
};

/* The next one in the array's order. Behind the section's end it goes on in the last dimension. */
static void advance(const struct descriptor *array, struct element *element)
{
    for (int dimension = 0; dimension < array->rank; dimension++) {
        element->place += step(array, dimension);
        if (++element->index[dimension] < extent(array, dimension) || dimension + 1 == array->rank)
            break;
        element->place -= extent(array, dimension) * step(array, dimension);
        element->index[dimension] = 0;
    }
}

static size_t number(const struct descriptor *array)
{
    size_t elements = 1;
    for (int dimension = 0; dimension < array->rank; dimension++) {
        if (extent(array, dimension) <= 0)
            return 0;
        elements *= (size_t)extent(array, dimension);
    }
    return elements;
}

struct part part_copied(void *descriptor, bool later)
{
    const struct descriptor *array = descriptor;
    struct part part = {.address = array->address};
    size_t elements = number(array);
    if (elements == 0 || contiguous(array))
        return part;
    if (later)
        refuse("this call cannot take one, as it may end before it is done; copy it first");
    part.address = malloc(elements * array->element);
    if (!part.address)
        refuse("no memory");
    part.copied = array;
    struct element from = {0};
    for (size_t element = 0; element < elements; element++, advance(array, &from))
        memcpy((char *)part.address + element * array->element, array->address + from.place,
               array->element);
    return part;
}

struct part part_of(void *descriptor, MPI_Count count, MPI_Datatype datatype, bool later)
{
    const struct descriptor *array = descriptor;
    struct part part = {.address = array->address, .count = count, .datatype = datatype};
    MPI_Aint lower, size;
    if (contiguous(array) || count <= 0 || PMPI_Type_get_extent(datatype, &lower, &size))
        return part;
    if (size != (MPI_Aint)array->element || count > INT_MAX) {
        part = part_copied(descriptor, later);
        part.count = count;
        part.datatype = datatype;
        return part;
    }
    MPI_Aint *places = malloc((size_t)count * sizeof *places);
    if (!places)
        refuse("no memory");
    struct element next = {0};
    for (MPI_Count element = 0; element < count; element++, advance(array, &next))
        places[element] = next.place;
    PMPI_Type_create_hindexed_block((int)count, 1, places, datatype, &part.datatype);
    PMPI_Type_commit(&part.datatype);
    free(places);
    part.count = 1;
    part.made = true;
    return part;
}

void part_end(struct part *part, bool changed)
{
    if (part->made)
        PMPI_Type_free(&part->datatype);
    const struct descriptor *array = part->copied;
    if (!array)
        return;
    struct element to = {0};
    size_t elements = changed ? number(array) : 0;
    for (size_t element = 0; element < elements; element++, advance(array, &to))
        memcpy(array->address + to.place, (char *)part->address + element * array->element,
               array->element);
    free(part->address);
}

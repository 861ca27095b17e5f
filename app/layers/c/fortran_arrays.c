/* Arrays as descriptors: a section that is not contiguous becomes a datatype of its own. */
#include "fortran.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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

void *whole(void *descriptor)
{
    const struct descriptor *array = descriptor;
    if (!contiguous(array))
        refuse("this call cannot take one; copy it first");
    return array->address;
}

/* Where the elements of a section are, in the array's order, from its address on. Behind its end it goes on in the last dimension. */
static void elements(const struct descriptor *array, MPI_Count count, MPI_Aint *places)
{
    ptrdiff_t index[16] = {0};
    MPI_Aint place = 0;
    for (MPI_Count element = 0; element < count; element++) {
        places[element] = place;
        for (int dimension = 0; dimension < array->rank; dimension++) {
            place += step(array, dimension);
            if (++index[dimension] < extent(array, dimension) || dimension + 1 == array->rank)
                break;
            place -= extent(array, dimension) * step(array, dimension);
            index[dimension] = 0;
        }
    }
}

struct part part_of(void *descriptor, MPI_Count count, MPI_Datatype datatype)
{
    const struct descriptor *array = descriptor;
    struct part part = {array->address, count, datatype, false};
    MPI_Aint lower, size;
    if (contiguous(array) || count <= 0 || PMPI_Type_get_extent(datatype, &lower, &size))
        return part;
    if (size != (MPI_Aint)array->element)
        refuse("its elements are no elements of the datatype");
    if (count > INT_MAX)
        refuse("it has too many elements");
    MPI_Aint *places = malloc((size_t)count * sizeof *places);
    if (!places)
        refuse("no memory");
    elements(array, count, places);
    PMPI_Type_create_hindexed_block((int)count, 1, places, datatype, &part.datatype);
    PMPI_Type_commit(&part.datatype);
    free(places);
    part.count = 1;
    part.made = true;
    return part;
}

void part_end(struct part *part)
{
    if (part->made)
        PMPI_Type_free(&part->datatype);
}

/* Values of attributes and contents of datatypes that are constants. */
#include "layer.h"

extern int heddle_Type_get_envelope_c(handle, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *,
                                      int *)
    __attribute__((weak));

/* Constants of the standard interface. */
enum {
    COMBINER_SUBARRAY = 111,
    COMBINER_DARRAY = 112,
    KEYVAL_IO = 502,
    KEYVAL_HOST = 503,
    KEYVAL_LASTUSEDCODE = 506,
    KEYVAL_WIN_CREATE_FLAVOR = 604,
    KEYVAL_WIN_MODEL = 605
};

/* The address of a number that stays as it is: constants of the program's interface, as values of
 * attributes. */
enum { KEPT_FROM = -8, KEPT = 24 };
static int *kept(int value)
{
    static int values[KEPT];
    if (value < KEPT_FROM || value >= KEPT_FROM + KEPT)
        return NULL;
    values[value - KEPT_FROM] = value;
    return &values[value - KEPT_FROM];
}

void attribute_out(int keyval, void *value)
{
    static int last_used;
    int **at = value, number;
    if (!*at)
        return;
    switch (keyval) {
    case KEYVAL_IO:
    case KEYVAL_HOST: number = rank_out(**at); break;
    case KEYVAL_LASTUSEDCODE:
        last_used = code_out(**at);
        *at = &last_used;
        return;
    case KEYVAL_WIN_CREATE_FLAVOR: number = flavor_out(**at); break;
    case KEYVAL_WIN_MODEL: number = model_out(**at); break;
    default: return;
    }
    if (kept(number))
        *at = kept(number);
}

/* Of the constructors' integers (MPI-4.1, section 5.1.13), orders, distributions and their
 * arguments are constants. Counts are among them unless the type was made with large ones. */
void contents_out(handle type, int *integers)
{
    MPI_Count numbers = 0, addresses, large = 0, types;
    int combiner = 0;
    if (!integers || !heddle_Type_get_envelope_c ||
        heddle_Type_get_envelope_c(type, &numbers, &addresses, &large, &types, &combiner))
        return;
    if (combiner == COMBINER_SUBARRAY) {
        integers[numbers - 1] = order_out(integers[numbers - 1]);
    } else if (combiner == COMBINER_DARRAY) {
        int dimensions = integers[2];
        int *distributions = integers + 3 + (large ? 0 : dimensions);
        for (int i = 0; i < dimensions; i++) {
            distributions[i] = distribution_out(distributions[i]);
            distributions[dimensions + i] = darg_out(distributions[dimensions + i]);
        }
        integers[numbers - 1] = order_out(integers[numbers - 1]);
    }
}

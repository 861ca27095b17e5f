/* Functions that our library does not have. */
#include "layer.h"

WEAK int heddle_unsupported(const char *name);

enum { ERR_UNSUPPORTED_OPERATION = 55 };

int missing(const char *name)
{
    return error_out(heddle_unsupported ? heddle_unsupported(name) : ERR_UNSUPPORTED_OPERATION);
}

WEAK int heddle_Pcontrol(int level, ...);
PUBLIC int PMPI_Pcontrol(const int level, ...)
{
    return heddle_Pcontrol ? heddle_Pcontrol(level) : 0;
}
ALIAS(MPI_Pcontrol, int, (const int level, ...))

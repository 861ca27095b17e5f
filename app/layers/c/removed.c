/* Functions that MPI-3.0 removed, about the bounds of datatypes. */
#include "layer.h"

WEAK int heddle_Type_get_extent(handle, MPI_Aint *, MPI_Aint *);

PUBLIC int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lower;
    return heddle_Type_get_extent ? error_out(heddle_Type_get_extent(type_in(datatype), &lower, extent))
                                  : missing("MPI_Type_extent");
}
ALIAS(MPI_Type_extent, int, (MPI_Datatype datatype, MPI_Aint *extent))

PUBLIC int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return heddle_Type_get_extent
               ? error_out(heddle_Type_get_extent(type_in(datatype), displacement, &extent))
               : missing("MPI_Type_lb");
}
ALIAS(MPI_Type_lb, int, (MPI_Datatype datatype, MPI_Aint *displacement))

PUBLIC int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lower = 0, extent = 0;
    if (!heddle_Type_get_extent)
        return missing("MPI_Type_ub");
    int result = heddle_Type_get_extent(type_in(datatype), &lower, &extent);
    if (!result)
        *displacement = lower + extent;
    return error_out(result);
}
ALIAS(MPI_Type_ub, int, (MPI_Datatype datatype, MPI_Aint *displacement))

/* A tool that is loaded before a program: counts its barriers. */
#include <mpi.h>
#include <stdio.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm) {
    barriers++;
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
    printf("barriers %d\n", barriers);
    return PMPI_Finalize();
}

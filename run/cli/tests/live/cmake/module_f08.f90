program ranks
use mpi_f08
implicit none
integer :: rank, total, error
call MPI_Init(error)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
call MPI_Reduce(rank, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
if (rank == 0) print '(a,i0)', 'sum ', total
call MPI_Finalize(error)
end program

! The module mpi_f08 has the names of the profiling interface, with and without an error code, for
! counts of either width (MPI 4.1, section 19.1.5).
program profiled
  use mpi_f08
  implicit none
  type(MPI_Comm) :: copy
  type(MPI_Status) :: status
  integer :: rank, ranks, got(2), ierror, old(MPI_STATUS_SIZE)
  integer(MPI_COUNT_KIND) :: two = 2
  double precision :: since
  call PMPI_Init()
  since = PMPI_Wtime()
  call PMPI_Comm_dup(MPI_COMM_WORLD, copy)
  call PMPI_Comm_rank(copy, rank, ierror)
  call PMPI_Comm_size(copy, ranks)
  call PMPI_Sendrecv([rank, 7], two, MPI_INTEGER, mod(rank + 1, ranks), 5, &
                     got, two, MPI_INTEGER, mod(rank + ranks - 1, ranks), 5, copy, status)
  if (got(1) /= mod(rank + ranks - 1, ranks) .or. got(2) /= 7) print *, 'got', got
  call PMPI_Status_f082f(status, old)
  if (old(MPI_TAG) /= 5) print *, 'tag', old(MPI_TAG)
  call PMPI_Comm_free(copy)
  if (PMPI_Wtime() < since) print *, 'time runs backwards'
  if (rank == 0) print '(a)', 'verified'
  call PMPI_Finalize(ierror)
end program

! A ring and collectives by the module mpi, with the sentinels of Fortran.
program classic
  use mpi
  implicit none
  integer :: rank, ranks, error, request, values(4), got(4)
  integer :: statuses(MPI_STATUS_SIZE)
  double precision :: total
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  values = rank
  call MPI_Irecv(got, 4, MPI_INTEGER, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, request, error)
  call MPI_Send(values, 4, MPI_INTEGER, mod(rank + 1, ranks), 8, MPI_COMM_WORLD, error)
  call MPI_Wait(request, statuses, error)
  if (statuses(MPI_SOURCE) /= mod(rank + ranks - 1, ranks)) stop 1
  call MPI_Sendrecv(values, 4, MPI_INTEGER, mod(rank + 1, ranks), 9, got, 4, MPI_INTEGER, &
       mod(rank + ranks - 1, ranks), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  total = 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (total /= ranks) stop 2
  call MPI_Finalize(error)
end program classic

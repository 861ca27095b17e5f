! The same by the module mpi_f08.
program modern
  use mpi_f08
  implicit none
  integer :: rank, ranks, values(4), got(4)
  type(MPI_Request) :: request
  type(MPI_Status) :: answer
  double precision :: total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  values = rank
  call MPI_Irecv(got, 4, MPI_INTEGER, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, request)
  call MPI_Send(values, 4, MPI_INTEGER, mod(rank + 1, ranks), 8, MPI_COMM_WORLD)
  call MPI_Wait(request, answer)
  if (answer%MPI_SOURCE /= mod(rank + ranks - 1, ranks)) stop 1
  call MPI_Sendrecv(values, 4, MPI_INTEGER, mod(rank + 1, ranks), 9, got, 4, MPI_INTEGER, &
       mod(rank + ranks - 1, ranks), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  total = 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (total /= ranks) stop 2
  call MPI_Finalize()
end program modern

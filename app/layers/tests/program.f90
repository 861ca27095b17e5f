! As program.c, in Fortran; HEADER is `include 'mpif.h'` or `use mpi`.
subroutine add(from, into, count, type)
  HEADER_USE
  implicit none
  HEADER_INCLUDE
  integer :: count, type
  integer :: from(count), into(count)
  if (type /= MPI_INT) stop 1
  into = into + from
end subroutine

program main
  HEADER_USE
  implicit none
  HEADER_INCLUDE
  external :: add
  integer :: size, split, result, op, ierror, i, status(MPI_STATUS_SIZE), value(1)
  integer :: requests(40), statuses(MPI_STATUS_SIZE, 40)
  integer(MPI_ADDRESS_KIND) :: largest
  logical :: flag

  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  if (size /= 8 .or. ierror /= MPI_SUCCESS) stop 2
  call MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, -7, split, ierror)
  call MPI_Comm_size(split, size, ierror)
  if (size /= 2) stop 3
  call MPI_Comm_compare(MPI_COMM_WORLD, split, result, ierror)
  if (result /= MPI_CONGRUENT) stop 4
  call MPI_Recv(MPI_BOTTOM, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status, &
                ierror)
  if (ierror /= MPI_ERR_TRUNCATE) stop 5
  if (status(MPI_SOURCE) /= 6 .or. status(MPI_TAG) /= 9) stop 6
  call MPI_Recv(MPI_BOTTOM, 3, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                MPI_STATUS_IGNORE, ierror)
  requests = MPI_REQUEST_NULL
  call MPI_Waitall(40, requests, statuses, ierror)
  if (ierror /= MPI_ERR_IN_STATUS .or. requests(40) == MPI_REQUEST_NULL) stop 7
  if (statuses(MPI_SOURCE, 2) /= MPI_PROC_NULL .or. statuses(MPI_SOURCE, 40) /= 39) stop 8
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Op_create(add, .true., op, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, largest, flag, ierror)
  if (.not. flag .or. largest /= 77) stop 9
  call MPI_Comm_free(split, ierror)
  if (split /= MPI_COMM_NULL) stop 10
  print '(a)', 'right'
end program

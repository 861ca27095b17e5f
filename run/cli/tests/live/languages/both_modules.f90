! What both modules have: types of handles and statuses, comparisons, and what turns statuses into
! each other.
module old
  use mpi
  implicit none
contains
  logical function old_is_right()
    type(MPI_Comm) :: world, self
    type(MPI_Request) :: request
    type(MPI_Status) :: new
    integer :: status(MPI_STATUS_SIZE), ierror, bytes
    world%MPI_VAL = MPI_COMM_WORLD
    self%MPI_VAL = MPI_COMM_SELF
    request%MPI_VAL = MPI_REQUEST_NULL
    old_is_right = world == world .and. world /= self .and. .not. world == self .and. &
        request == request
    call MPI_Sendrecv(ierror, 1, MPI_INTEGER, 0, 9, bytes, 1, MPI_INTEGER, 0, 9, MPI_COMM_SELF, &
                      status, ierror)
    call MPI_Status_f2f08(status, new, ierror)
    old_is_right = old_is_right .and. new%MPI_SOURCE == 0 .and. new%MPI_TAG == 9
    status = 0
    call MPI_Status_f082f(new, status, ierror)
    old_is_right = old_is_right .and. status(MPI_TAG) == 9
    call MPI_Get_count(status, MPI_INTEGER, bytes, ierror)
    old_is_right = old_is_right .and. bytes == 1
  end function
end module

module new
  use mpi_f08
  implicit none
contains
  logical function new_is_right()
    type(MPI_Status) :: status, other
    integer :: old(MPI_STATUS_SIZE), got, ierror
    type(MPI_Session) :: session
    call MPI_Sendrecv(7, 1, MPI_INTEGER, 0, 8, got, 1, MPI_INTEGER, 0, 8, MPI_COMM_SELF, status)
    call MPI_Status_f082f(status, old)
    new_is_right = got == 7 .and. old(MPI_TAG) == 8
    call MPI_Status_f2f08(old, other, ierror)
    new_is_right = new_is_right .and. other%MPI_TAG == 8 .and. ierror == MPI_SUCCESS
    session = MPI_SESSION_NULL
    new_is_right = new_is_right .and. session == MPI_SESSION_NULL .and. &
        .not. session /= MPI_SESSION_NULL
  end function
end module

program both_modules
  use mpi
  use old, only: old_is_right
  use new, only: new_is_right
  implicit none
  integer :: rank, ierror
  logical :: right, all
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  right = old_is_right()
  right = new_is_right() .and. right
  call MPI_Reduce(right, all, 1, MPI_LOGICAL, MPI_LAND, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. all) print '(a)', 'verified'
  call MPI_Finalize(ierror)
end program

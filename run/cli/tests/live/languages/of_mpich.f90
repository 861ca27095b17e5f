! What lies in MPICH's modules: sizes, comparisons of handles, and those of both modules' handles.
module old_of_mpich
  use mpi
  implicit none
contains
  logical function old_is_right()
    type(MPI_Comm) :: world, self
    integer :: bytes, ierror
    old_is_right = .true.
    call MPI_Sizeof(1d0, bytes, ierror)
    old_is_right = old_is_right .and. bytes == 8
    call MPI_Sizeof([1., 2.], bytes, ierror)
    old_is_right = old_is_right .and. bytes == 4
    call MPI_Sizeof((1., 2.), bytes, ierror)
    old_is_right = old_is_right .and. bytes == 8
    call MPI_Sizeof('text', bytes, ierror)
    old_is_right = old_is_right .and. bytes == 1
    call MPI_Sizeof(2_8, bytes, ierror)
    old_is_right = old_is_right .and. bytes == 8
    call MPI_Sizeof([1_2], bytes, ierror)
    old_is_right = old_is_right .and. bytes == 2
    call MPI_Sizeof(.true., bytes, ierror)
    old_is_right = old_is_right .and. bytes == 4
    world%MPI_VAL = MPI_COMM_WORLD
    self%MPI_VAL = MPI_COMM_SELF
    old_is_right = old_is_right .and. world == world .and. world /= self .and. .not. world == self
  end function
end module

module new_of_mpich
  use mpi_f08
  implicit none
contains
  logical function new_is_right()
    type(MPI_Session) :: session, ended
    type(MPI_Request) :: request
    integer :: handle
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
    handle = session%MPI_VAL
    new_is_right = session == session .and. session == handle .and. handle == session
    ended = session
    call MPI_Session_finalize(ended)
    new_is_right = new_is_right .and. session /= ended .and. ended /= handle .and. &
        .not. session == ended
    request = MPI_REQUEST_NULL
    handle = request%MPI_VAL
    new_is_right = new_is_right .and. request == handle .and. handle == request
    new_is_right = new_is_right .and. .not. (request /= handle .or. handle /= request)
    handle = MPI_COMM_SELF%MPI_VAL
    new_is_right = new_is_right .and. MPI_COMM_WORLD /= handle
  end function
end module

program of_mpich
  use mpi
  use old_of_mpich, only: old_is_right
  use new_of_mpich, only: new_is_right
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

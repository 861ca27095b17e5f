! The state of a generalized request is the variable that the program passes, which its functions
! and the program change (MPI 4.1, section 13.2).
subroutine query(state, status, ierror)
  use mpi
  integer(kind=MPI_ADDRESS_KIND) state
  integer status(MPI_STATUS_SIZE), ierror
  state = state + 10
  call MPI_Status_set_cancelled(status, .false., ierror)
  call MPI_Status_set_elements(status, MPI_BYTE, 0, ierror)
  status(MPI_SOURCE) = MPI_UNDEFINED
  status(MPI_TAG) = MPI_UNDEFINED
  ierror = MPI_SUCCESS
end subroutine

subroutine release(state, ierror)
  use mpi
  integer(kind=MPI_ADDRESS_KIND) state
  integer ierror
  state = state + 100
  ierror = MPI_SUCCESS
end subroutine

subroutine cancel(state, done, ierror)
  use mpi
  integer(kind=MPI_ADDRESS_KIND) state
  logical done
  integer ierror
  ierror = MPI_SUCCESS
end subroutine

program requests
  use mpi
  integer(kind=MPI_ADDRESS_KIND), volatile :: state
  external query, release, cancel
  integer request, rank, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  state = 5
  call MPI_Grequest_start(query, release, cancel, state, request, ierror)
  state = 7
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  if (state /= 117) print *, 'the state is', state
  if (rank == 0) print '(a)', 'verified'
  call MPI_Finalize(ierror)
end program

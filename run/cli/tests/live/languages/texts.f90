! Texts of Fortran: no terminator counts in their lengths, names begin with the blanks that they are
! given, and what is not found is left.
program texts
  use mpi
  implicit none
  integer :: rank, ierror, info, comm, window, length, wrong = 0, total
  integer(MPI_ADDRESS_KIND), parameter :: nothing = 0
  integer :: place(1)
  logical :: found
  character(len=12) :: text
  character(len=MPI_MAX_OBJECT_NAME) :: name

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, '  a key ', '  value one  ', ierror)
  call gets(5, 9, 'value')
  call gets(9, 9, 'value one')
  call gets(12, 9, 'value one')
  call gets(0, 9, 'untouched')
  length = 7
  text = 'untouched'
  call MPI_Info_get_string(info, 'no key', length, text, found, ierror)
  call check(.not. found .and. length == 7 .and. text == 'untouched')
  call MPI_Info_get(info, 'no key', 12, text, found, ierror)
  call check(.not. found .and. text == 'untouched')
  call MPI_Info_get(info, 'a key', 12, text, found, ierror)
  call check(found .and. text == 'value one')
  call MPI_Info_free(info, ierror)

  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_name(comm, '  a name  ', ierror)
  call MPI_Comm_get_name(comm, name, length, ierror)
  call check(length == 8 .and. name == '  a name')
  call MPI_Comm_set_name(comm, '   ', ierror)
  call MPI_Comm_get_name(comm, name, length, ierror)
  call check(length == 0 .and. name == ' ')
  call MPI_Comm_free(comm, ierror)
  call MPI_Type_set_name(MPI_REAL16, ' real', ierror)
  call MPI_Type_get_name(MPI_REAL16, name, length, ierror)
  call check(length == 5 .and. name == ' real')
  call MPI_Win_create(place, nothing, 1, MPI_INFO_NULL, MPI_COMM_SELF, window, ierror)
  call MPI_Win_set_name(window, ' window', ierror)
  call MPI_Win_get_name(window, name, length, ierror)
  call check(length == 7 .and. name == ' window')
  call MPI_Win_free(window, ierror)

  call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. total == 0) print '(a)', 'verified'
  call MPI_Finalize(ierror)

contains
  subroutine check(right)
    logical, intent(in) :: right
    if (.not. right) then
      wrong = 1
      print *, 'rank', rank, length, found, '<', text, '> <', trim(name), '>'
    end if
  end subroutine

  ! Of so many characters.
  subroutine gets(room, needed, wanted)
    integer, intent(in) :: room, needed
    character(len=*), intent(in) :: wanted
    length = room
    text = 'untouched'
    call MPI_Info_get_string(info, 'a key', length, text, found, ierror)
    call check(found .and. length == needed .and. text == wanted)
  end subroutine
end program

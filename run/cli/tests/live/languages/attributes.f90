! Attributes that one language sets and another reads: C has the address of an integer of Fortran's,
! and Fortran a pointer of C as an integer (MPI 4.1, section 19.3.7).
module functions
  use mpi
  use iso_c_binding
  implicit none
  integer :: rank, wrong = 0
  ! What the delete function was given last.
  integer(MPI_ADDRESS_KIND) :: deleted
  logical :: wide

  interface
    function in_c(comm) bind(C, name="PMPI_Comm_f2c")
      import
      integer(c_int), value :: comm
      integer(c_intptr_t) :: in_c
    end function
    function c_keyval(copy, delete, keyval, extra) bind(C, name="PMPI_Comm_create_keyval")
      import
      type(c_funptr), value :: copy, delete
      integer(c_int) :: keyval, c_keyval
      type(c_ptr), value :: extra
    end function
    function c_set(comm, keyval, value) bind(C, name="PMPI_Comm_set_attr")
      import
      integer(c_intptr_t), value :: comm
      integer(c_int), value :: keyval
      type(c_ptr), value :: value
      integer(c_int) :: c_set
    end function
    function c_get(comm, keyval, value, flag) bind(C, name="PMPI_Comm_get_attr")
      import
      integer(c_intptr_t), value :: comm
      integer(c_int), value :: keyval
      type(c_ptr) :: value
      integer(c_int) :: flag, c_get
    end function
  end interface

contains
  subroutine check(right, number)
    logical, intent(in) :: right
    integer, intent(in) :: number
    if (right) return
    wrong = 1
    print *, 'rank', rank, 'check', number
  end subroutine

  ! In C.
  function passes_on(comm, keyval, extra, old, new, flag) bind(C)
    integer(c_intptr_t), value :: comm
    integer(c_int), value :: keyval
    type(c_ptr), value :: extra, old
    type(c_ptr) :: new
    integer(c_int) :: flag, passes_on
    new = old
    flag = 1
    passes_on = MPI_SUCCESS
  end function
  function looks(comm, keyval, value, extra) bind(C)
    integer(c_intptr_t), value :: comm
    integer(c_int), value :: keyval
    type(c_ptr), value :: value, extra
    integer(c_int) :: looks
    deleted = at(value, wide)
    looks = MPI_SUCCESS
  end function

  ! In Fortran, of today and of MPI-1.
  subroutine increases(comm, keyval, extra, old, new, flag, ierror)
    integer :: comm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, old, new
    logical :: flag
    new = old + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine increases_old(comm, keyval, extra, old, new, flag, ierror)
    integer :: comm, keyval, extra, old, new, ierror
    logical :: flag
    new = old + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  function at(place, wide)
    type(c_ptr), intent(in) :: place
    logical, intent(in) :: wide
    integer(MPI_ADDRESS_KIND) :: at
    integer(MPI_ADDRESS_KIND), pointer :: long
    integer, pointer :: short
    if (wide) then
      call c_f_pointer(place, long)
      at = long
    else
      call c_f_pointer(place, short)
      at = short
    end if
  end function

  ! What a communicator has: C reads the address of it, each time the same one.
  subroutine has(comm, keyval, value, wide, number)
    integer, intent(in) :: comm, keyval, number
    integer(MPI_ADDRESS_KIND), intent(in) :: value
    logical, intent(in) :: wide
    type(c_ptr) :: place, again
    integer(c_int) :: flag
    call check(c_get(in_c(comm), keyval, place, flag) == 0 .and. flag == 1, number)
    call check(at(place, wide) == value, number)
    call check(c_get(in_c(comm), keyval, again, flag) == 0 .and. c_associated(place, again), number)
    call reads(comm, keyval, value, number)
  end subroutine

  ! Fortran reads the integer, of which the old call has the low part.
  subroutine reads(comm, keyval, value, number)
    integer, intent(in) :: comm, keyval, number
    integer(MPI_ADDRESS_KIND), intent(in) :: value
    integer(MPI_ADDRESS_KIND) :: word
    integer :: short, ierror
    logical :: found
    call MPI_Comm_get_attr(comm, keyval, word, found, ierror)
    call check(found .and. word == value, number)
    call MPI_Attr_get(comm, keyval, short, found, ierror)
    call check(found .and. short == transfer(value, 0), number)
  end subroutine
end module

program attributes
  use functions
  implicit none
  integer(MPI_ADDRESS_KIND), parameter :: large = 2_MPI_ADDRESS_KIND**40 + 5
  integer(MPI_ADDRESS_KIND) :: address
  integer :: comm, copy, in_c_key, new_key, old_key, same_key, ierror, total
  integer, target :: place

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  ierror = c_keyval(c_funloc(passes_on), c_funloc(looks), in_c_key, c_null_ptr)
  address = transfer(c_loc(place), address)

  ! Each call's own width, and what C is given to delete.
  call MPI_Attr_put(comm, in_c_key, -7, ierror)
  call has(comm, in_c_key, -7_MPI_ADDRESS_KIND, .false., 1)
  wide = .false.
  call MPI_Comm_set_attr(comm, in_c_key, large, ierror)
  call check(deleted == -7, 2)
  call has(comm, in_c_key, large, .true., 3)

  ! A copy that outlives its original.
  call MPI_Comm_dup(comm, copy, ierror)
  wide = .true.
  call MPI_Comm_delete_attr(comm, in_c_key, ierror)
  call check(deleted == large, 4)
  call has(copy, in_c_key, large, .true., 5)
  deleted = 0
  call MPI_Comm_free(copy, ierror)
  call check(deleted == large, 6)

  ! Pointers of C.
  place = 12
  ierror = c_set(in_c(comm), in_c_key, c_loc(place))
  call reads(comm, in_c_key, address, 7)
  wide = .false.
  call MPI_Comm_delete_attr(comm, in_c_key, ierror)
  call check(deleted == 12, 8)

  ! What functions of Fortran are given and give.
  call MPI_Comm_create_keyval(increases, MPI_COMM_NULL_DELETE_FN, new_key, large, ierror)
  call MPI_Keyval_create(increases_old, MPI_NULL_DELETE_FN, old_key, 4, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, same_key, large, ierror)
  call MPI_Attr_put(comm, new_key, -8, ierror)
  call MPI_Comm_set_attr(comm, old_key, large, ierror)
  call MPI_Comm_set_attr(comm, same_key, large, ierror)
  call MPI_Comm_dup(comm, copy, ierror)
  call has(copy, new_key, large - 8, .true., 9)
  call has(copy, old_key, 9_MPI_ADDRESS_KIND, .false., 10)
  call has(copy, same_key, large, .true., 11)
  call MPI_Comm_free(copy, ierror)
  ierror = c_set(in_c(comm), new_key, c_loc(place))
  ierror = c_set(in_c(comm), same_key, c_loc(place))
  call MPI_Comm_dup(comm, copy, ierror)
  call has(copy, new_key, address + large, .true., 12)
  call reads(copy, same_key, address, 13)
  call MPI_Comm_free(copy, ierror)
  call MPI_Comm_free(comm, ierror)

  call MPI_Reduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. total == 0) print '(a)', 'verified'
  call MPI_Finalize(ierror)
end program

! What the module mpi_f08 names besides functions of C: predefined attribute functions, sizes,
! sections, addresses.
program module
  use mpi_f08
  use iso_c_binding
  implicit none
  integer :: rank, ranks, key, bytes, unit
  logical :: right, found
  type(MPI_Comm) :: first, second
  type(MPI_Win) :: window
  type(MPI_Datatype) :: pieces
  type(c_ptr) :: address
  real(8), pointer :: memory(:)
  real(8) :: values(4)
  complex :: number
  integer(MPI_ADDRESS_KIND) :: value, places(2), length

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = .true.

  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_WORLD, first)
  call MPI_Comm_set_attr(first, key, 77_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(first, second)
  call MPI_Comm_get_attr(second, key, value, found)
  right = right .and. found .and. value == 77
  call MPI_Comm_free(second)
  call MPI_Comm_free(first)
  call MPI_Comm_free_keyval(key)

  call MPI_Sizeof(values, bytes)
  right = right .and. bytes == 8
  call MPI_Sizeof(number, bytes)
  right = right .and. bytes == 8
  call MPI_Sizeof('text', bytes)
  right = right .and. bytes == 1

  call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, address)
  call c_f_pointer(address, memory, [10])
  memory = rank
  call MPI_Allreduce(MPI_IN_PLACE, memory, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  right = right .and. all(memory == ranks * (ranks - 1) / 2)
  call MPI_Free_mem(memory)
  call MPI_Win_allocate(80_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_SELF, address, window)
  call MPI_Win_free(window)
  call MPI_Win_allocate_shared(80_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_SELF, address, &
                               window)
  call MPI_Win_shared_query(window, 0, length, unit, address)
  right = right .and. length == 80 .and. unit == 8
  call MPI_Win_free(window)

  call MPI_Get_address(values(1), places(1))
  call MPI_Get_address(values(3), places(2))
  call MPI_Type_create_struct(2, [1, 1], places, [MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION], &
                              pieces)
  call MPI_Type_commit(pieces)
  values = rank
  call MPI_Bcast(MPI_BOTTOM, 1, pieces, ranks - 1, MPI_COMM_WORLD)
  call MPI_F_sync_reg(values)
  right = right .and. all(values == [ranks - 1, rank, ranks - 1, rank])
  call MPI_Type_free(pieces)

  call MPI_Pcontrol(1)
  call MPI_Allreduce(MPI_IN_PLACE, right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  if (rank == 0) print '(a)', merge('verified', 'wrong   ', right)
  call MPI_Finalize()
end program

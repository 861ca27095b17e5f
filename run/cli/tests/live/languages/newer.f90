! What MPI 4 has beside the functions of MPI-3: fields of statuses that are set, and buffers that
! the library makes; and buffers that come back as pointers.
program newer
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    type(MPI_Status) :: status
    type(c_ptr) :: back = c_null_ptr
    integer, target :: buffer(1000)
    integer :: wrong = 0, all, rank, size, got, length, seen
    integer(MPI_COUNT_KIND) :: long
    ! Compilers may think that no pointer comes back from a procedure: addresses are compared.
    integer(c_intptr_t) :: place
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)

    call MPI_Status_set_source(status, 3)
    call MPI_Status_set_tag(status, 4)
    call MPI_Status_set_error(status, MPI_ERR_RANK)
    call MPI_Status_get_tag(status, seen)
    if (status%MPI_SOURCE /= 3 .or. seen /= 4 .or. status%MPI_ERROR /= MPI_ERR_RANK) wrong = &
        wrong + 1

    call MPI_Buffer_attach(buffer, 4000)
    call MPI_Buffer_detach(back, length)
    if (transfer(back, place) /= transfer(c_loc(buffer), place) .or. length /= 4000) wrong = &
        wrong + 1
    back = c_null_ptr
    call MPI_Buffer_attach(buffer, 4000_MPI_COUNT_KIND)
    call MPI_Buffer_detach(back, long)
    if (transfer(back, place) /= transfer(c_loc(buffer), place) .or. long /= 4000) wrong = wrong + 1

    call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0)
    call MPI_Bsend(rank, 1, MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD)
    call MPI_Recv(got, 1, MPI_INTEGER, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, &
                  MPI_STATUS_IGNORE)
    if (got /= mod(rank + size - 1, size)) wrong = wrong + 1
    call MPI_Buffer_detach(back, length)

    ! An internal procedure that uses a variable of its host is called by code on the stack.
    call with_procedure(rank, size, wrong)
    call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0 .and. all == 0) print '(a)', 'verified'
    call MPI_Finalize()
end program

subroutine with_procedure(rank, size, wrong)
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: rank, size, wrong, calls, total
    type(MPI_Op) :: op
    calls = 0
    call MPI_Op_create(add, .true., op)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    if (total /= size*(size - 1)/2) wrong = wrong + 1
    call MPI_Op_free(op)
contains
    subroutine add(from, into, length, datatype)
        type(c_ptr), value :: from, into
        integer :: length
        type(MPI_Datatype) :: datatype
        integer, pointer :: given(:), kept(:)
        call c_f_pointer(from, given, [length])
        call c_f_pointer(into, kept, [length])
        kept = kept + given
        calls = calls + 1
    end subroutine
end subroutine

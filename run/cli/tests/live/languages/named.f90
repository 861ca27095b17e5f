! What modules are asked for by name: procedures, constants, the forms of callbacks; and the extents
! of MPI-1, which are plain integers.
module callbacks
    use mpi_f08, only: MPI_User_function, MPI_Comm_errhandler_function, &
        MPI_Comm_copy_attr_function, MPI_Datatype
    implicit none
    procedure(MPI_User_function), pointer :: chosen => null()
    procedure(MPI_Comm_errhandler_function), pointer :: handler => null()
    procedure(MPI_Comm_copy_attr_function), pointer :: copier => null()
contains
    subroutine larger(invec, inoutvec, len, datatype)
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: invec, inoutvec
        integer :: len
        type(MPI_Datatype) :: datatype
        integer, pointer :: given(:), kept(:)
        call c_f_pointer(invec, given, [len])
        call c_f_pointer(inoutvec, kept, [len])
        kept = max(kept, given)
    end subroutine
end module

subroutine with_handles(wrong)
    use mpi_f08
    use callbacks
    implicit none
    integer :: wrong, rank, size, largest
    type(MPI_Op) :: op
    chosen => larger
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    call MPI_Op_create(chosen, .true., op)
    call MPI_Allreduce(rank, largest, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    if (largest /= size - 1) wrong = wrong + 1
    call MPI_Op_free(op)
end subroutine

program named
    use mpi, only: MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE, MPI_MODE_NOPUT, MPI_MODE_NOSTORE, &
        MPI_MODE_NOSUCCEED
    use mpi, only: MPI_COMM_WORLD, MPI_INTEGER, MPI_REAL8, MPI_SUM, MPI_STATUS_SIZE, &
        MPI_STATUSES_IGNORE
    use mpi, only: MPI_Init_thread, MPI_Allreduce, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize, &
        MPI_Irecv, MPI_Isend
    use mpi, only: MPI_Type_vector, MPI_Type_extent, MPI_Type_ub, MPI_Waitall
    implicit none (type, external)
    external :: with_handles
    integer :: ierr, provided, rank, size, sum, kind, beside(3), requests(2), got(2), wrong = 0, &
        given(2), all
    call MPI_Init_thread(required=MPI_THREAD_MULTIPLE, provided=provided, ierror=ierr)
    if (provided < MPI_THREAD_SINGLE) wrong = wrong + 1
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror=ierr)
    call MPI_Comm_size(comm=MPI_COMM_WORLD, size=size, ierror=ierr)
    call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (sum /= size*(size - 1)/2) wrong = wrong + 1
    given = [rank, -rank]
    call MPI_Irecv(got, 2, MPI_INTEGER, mod(rank + 1, size), 0, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(given, 2, MPI_INTEGER, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, &
                   requests(2), ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    if (any(got /= [mod(rank + 1, size), -mod(rank + 1, size)])) wrong = wrong + 1
    if (ior(MPI_MODE_NOPUT, ior(MPI_MODE_NOSTORE, MPI_MODE_NOSUCCEED)) /= 28672) wrong = wrong + 1
    call MPI_Type_vector(3, 1, 2, MPI_REAL8, kind, ierr)
    beside = 77
    call MPI_Type_extent(kind, beside(2), ierr)
    if (any(beside /= [77, 40, 77])) wrong = wrong + 1
    call MPI_Type_ub(kind, beside(2), ierr)
    if (any(beside /= [77, 40, 77])) wrong = wrong + 1
    call with_handles(wrong)
    call MPI_Allreduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0 .and. all == 0) print '(a)', 'verified'
    call MPI_Finalize(ierr)
end program

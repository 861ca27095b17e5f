! Writes to a unit that is never closed; the argument is the beginning of the file's name.
program units
    use mpi
    implicit none
    integer :: error, rank
    character(len=200) :: path
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call get_command_argument(1, path)
    open (unit=10 + rank, file=trim(path)//char(48 + rank))
    write (10 + rank, '(a, i0)') 'of rank ', rank
    call MPI_Finalize(error)
end program

! All ranks write to the same unit, each to a file of its own, and never close it; the argument is
! the beginning of the file's name.
program units
    use mpi
    implicit none
    integer :: error, rank, line, read_rank, read_line
    character(len=200) :: path
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call get_command_argument(1, path)
    open (unit=10, file=trim(path)//char(48 + rank), status='replace')
    do line = 1, 3
        write (10, '(a, i0, i2)') 'of rank ', rank, line
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
    rewind (10)
    do line = 1, 2
        read (10, '(8x, i1, i2)') read_rank, read_line
        if (read_rank /= rank .or. read_line /= line) call MPI_Abort(MPI_COMM_WORLD, 3, error)
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
    write (10, '(a)') 'the end'
    call MPI_Finalize(error)
end program

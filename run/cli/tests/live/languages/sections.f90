! Sections of arrays that are not contiguous, with mpi_f08 of MPICH, which takes them.
program sections
    use mpi_f08
    implicit none
    integer :: rank, size, next, before, i, wrong = 0
    integer :: line(20), got(20), grid(6, 5), other(6, 5), cube(3, 4, 5), there(3, 4, 5)
    real(8) :: reals(10)
    type(MPI_Request) :: requests(2)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    next = mod(rank + 1, size)
    before = mod(rank + size - 1, size)
    line = [(100 * rank + i, i = 1, 20)]
    got = -1
    ! Every second element, into every third, backwards.
    call MPI_Sendrecv(line(1:12:2), 6, MPI_INTEGER, next, 1, &
        got(20:5:-3), 6, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do i = 1, 6
        if (got(20 - 3 * (i - 1)) /= 100 * before + 2 * i - 1) wrong = wrong + 1
    end do
    if (count(got /= -1) /= 6) wrong = wrong + 1
    ! A row, into part of a row.
    grid = reshape([(1000 * rank + i, i = 1, 30)], [6, 5])
    other = -1
    call MPI_Irecv(other(2, 2:4), 3, MPI_INTEGER, before, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(grid(3, :), 3, MPI_INTEGER, next, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    if (any(other(2, 2:4) /= 1000 * before + [3, 9, 15])) wrong = wrong + 1
    if (count(other /= -1) /= 3) wrong = wrong + 1
    ! A part of a cube, from rank 0 to all.
    cube = reshape([(i, i = 1, 60)], [3, 4, 5])
    there = 0
    if (rank == 0) there(::2, 2:3, ::4) = cube(::2, 2:3, ::4)
    call MPI_Bcast(there(::2, 2:3, ::4), 8, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (any(there(::2, 2:3, ::4) /= cube(::2, 2:3, ::4)) .or. count(there /= 0) /= 8) wrong = wrong + 1
    ! Whole arrays as before, also with two reals as one element of a datatype.
    reals = rank
    call MPI_Bcast(reals, 5, MPI_2DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    if (any(reals /= 0)) wrong = wrong + 1
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0 .and. wrong == 0) print '(a)', 'verified'
    call MPI_Finalize()
    if (wrong /= 0) stop 1
end program

! Sections of arrays that are not contiguous, with mpi_f08 of MPICH, which takes them.
program sections
    use mpi_f08
    implicit none
    integer :: rank, size, next, before, i, wrong = 0
    integer :: line(20), got(20), grid(6, 5), other(6, 5), cube(3, 4, 5), there(3, 4, 5)
    real(8) :: reals(10)
    integer, allocatable :: blocks(:, :, :)
    integer :: others(300)
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
    if (any(there(::2, 2:3, ::4) /= cube(::2, 2:3, ::4)) .or. count(there /= 0) /= 8) wrong = &
        wrong + 1
    ! Sections that cannot be a datatype: numbers of all ranks, a block for each rank, and two reals
    ! as one element.
    grid = rank
    call MPI_Allreduce(MPI_IN_PLACE, grid(2, :), 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (any(grid(2, :) /= size * (size - 1) / 2) .or. count(grid /= rank) > 5) wrong = wrong + 1
    grid = rank
    other = -1
    call MPI_Reduce(grid(3, :), other(4, :), 5, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD)
    if (rank == 0 .and. (any(other(4, :) /= size - 1) .or. count(other /= -1) /= 5)) wrong = &
        wrong + 1
    if (rank /= 0 .and. any(other /= -1)) wrong = wrong + 1
    allocate (blocks(2, 3, size))
    blocks = -1
    cube = 10 * rank
    call MPI_Allgather(cube(2, 1:3, 5), 3, MPI_INTEGER, blocks(2, :, :), 3, MPI_INTEGER, &
                       MPI_COMM_WORLD)
    do i = 1, size
        if (any(blocks(2, :, i) /= 10 * (i - 1)) .or. any(blocks(1, :, i) /= -1)) wrong = wrong + 1
    end do
    call MPI_Iallgather(cube(2, 1:3, 5), 3, MPI_INTEGER, others, 3, MPI_INTEGER, MPI_COMM_WORLD, &
                        requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    do i = 1, min(size, 20)
        if (any(others(3 * i - 2:3 * i) /= 10 * (i - 1))) wrong = wrong + 1
    end do
    reals = rank
    call MPI_Bcast(reals(1:10:3), 2, MPI_2DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    if (any(reals(1:10:3) /= 0) .or. any(reals(2:9:3) /= rank)) wrong = wrong + 1
    ! Whole arrays as before, also with two reals as one element of a datatype.
    reals = rank
    call MPI_Bcast(reals, 5, MPI_2DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    if (any(reals /= 0)) wrong = wrong + 1
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0 .and. wrong == 0) print '(a)', 'verified'
    call MPI_Finalize()
    if (wrong /= 0) stop 1
end program

! A program that starts itself: each child prints its arguments. Each line that the parent prints is
! a failure.
program spawned
  use mpi_f08
  implicit none
  type(MPI_Comm) :: parent, child
  type(MPI_Info) :: infos(2)
  character(len=1000) :: me, argument, programs(2)
  character(len=12) :: arguments(3), all(2, 3)
  integer :: codes(3), counts(2), rank, i

  call MPI_Init()
  call MPI_Comm_get_parent(parent)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (parent /= MPI_COMM_NULL) then
    do i = 1, command_argument_count()
      call get_command_argument(i, argument)
      print '(2i0, 4a)', rank, i, ' ', trim(argument), '.'
    end do
    if (command_argument_count() == 0) print '(i0, a)', rank, ' none.'
    call MPI_Comm_disconnect(parent)
  else
    call get_command_argument(0, me)
    arguments = [character(len=12) :: 'one two', '-x', ' ']
    call MPI_Comm_spawn(me, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, child, codes)
    call MPI_Comm_disconnect(child)
    call MPI_Comm_spawn(me, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, child, &
                        MPI_ERRCODES_IGNORE)
    call MPI_Comm_disconnect(child)
    programs = me
    counts = [1, 2]
    infos = MPI_INFO_NULL
    all(1, :) = [character(len=12) :: 'a', 'b', ' ']
    all(2, :) = [character(len=12) :: 'c', ' ', 'never']
    codes = -1
    call MPI_Comm_spawn_multiple(2, programs, all, counts, infos, 0, MPI_COMM_WORLD, child, codes)
    if (any(codes /= MPI_SUCCESS)) print *, 'codes', codes
    call MPI_Comm_disconnect(child)
    call MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &
                                 child, MPI_ERRCODES_IGNORE)
    call MPI_Comm_disconnect(child)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_spawn('no-such-program', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &
                        child, codes(1:1))
    if (codes(1) /= MPI_ERR_SPAWN) print *, 'code', codes(1)
  end if
  call MPI_Finalize()
end program

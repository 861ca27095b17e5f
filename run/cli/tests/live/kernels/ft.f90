! A partial differential equation solved by Fourier transforms in three dimensions: kernel FT of the
! NAS parallel benchmarks, class S (64 points in each dimension, 6 steps). The checksums are those
! that the benchmarks publish. The number of ranks divides 64.
module transform
  implicit none
  integer, parameter :: dp = kind(1d0), n = 64
  real(dp), parameter :: pi = acos(-1d0)
contains
  ! Of one line, in place; the sign is that of the exponent.
  recursive subroutine fft(x, sign)
    complex(dp), intent(inout) :: x(:)
    integer, intent(in) :: sign
    complex(dp) :: even(size(x) / 2), odd(size(x) / 2)
    integer :: k, half
    half = size(x) / 2
    if (half == 0) return
    even = x(1::2)
    odd = x(2::2)
    call fft(even, sign)
    call fft(odd, sign)
    do k = 1, half
      odd(k) = odd(k) * exp(cmplx(0, sign * pi * (k - 1) / half, dp))
    end do
    x(:half) = even + odd
    x(half + 1:) = even - odd
  end subroutine

  ! The wave number of an index.
  pure integer function wave(i)
    integer, intent(in) :: i
    wave = modulo(i - 1 + n / 2, n) - n / 2
  end function
end module

program ft
  use mpi_f08
  use transform
  implicit none
  integer(8), parameter :: a = 1220703125_8, mask = 70368744177663_8
  real(dp), &
      parameter :: right(2, 6) = &
          reshape([5.546087004964d+02, 4.845363331978d+02, 5.546385409189d+02, 4.865304269511d+02, &
    5.546148406171d+02, 4.883910722336d+02, 5.545423607415d+02, 4.901273169046d+02, &
        5.544255039624d+02, 4.917475857993d+02, &
    5.542683411902d+02, 4.932597244941d+02], [2, 6])
  ! Planes of z, and after the exchange, of y.
  complex(dp), allocatable :: u(:, :, :), v(:, :, :), w(:, :, :)
  complex(dp) :: checksum, all
  integer(8) :: seed
  integer :: rank, ranks, planes, x, y, z, j, step
  type(MPI_Comm) :: comm

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  if (modulo(n, ranks) /= 0) call MPI_Abort(comm, 2)
  planes = n / ranks
  allocate (u(n, n, planes), v(n, n, planes), w(n, n, planes))
  seed = 314159265_8
  do z = 1, n
    do y = 1, n
      do x = 1, n
        all = cmplx(next(), next(), dp)
        if ((z - 1) / planes == rank) u(x, y, z - rank * planes) = all
      end do
    end do
  end do
  do z = 1, planes
    call plane(u(:, :, z), -1)
  end do
  call exchange(u, v)
  do y = 1, planes
    do x = 1, n
      call fft(v(x, :, y), -1)
    end do
  end do
  do step = 1, 6
    do y = 1, planes
      do z = 1, n
        do x = 1, n
          v(x, z, y) = &
              v(x, z, y) * exp(-4d-6 * pi**2 * (wave(x)**2 + wave(y + rank * planes)**2 + &
                                                wave(z)**2))
        end do
      end do
    end do
    w = v
    do y = 1, planes
      do x = 1, n
        call fft(w(x, :, y), 1)
      end do
    end do
    call exchange(w, u)
    checksum = 0
    do z = 1, planes
      call plane(u(:, :, z), 1)
    end do
    do j = 1, 1024
      z = modulo(5 * j, n) - rank * planes + 1
      if (z >= 1 .and. z <= planes) checksum = checksum + u(modulo(j, n) + 1, &
                                                            modulo(3 * j, n) + 1, z)
    end do
    call MPI_Allreduce(checksum / n**3, all, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, comm)
    if (abs(all - cmplx(right(1, step), right(2, step), dp)) > 1d-12 * abs(all)) then
      print *, 'wrong:', step, all
      call MPI_Abort(comm, 1)
    end if
  end do
  if (rank == 0) print '(a)', 'verified'
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  real(dp) function next()
    seed = iand(a * seed, mask)
    next = real(seed, dp) / 2d0**46
  end function

  subroutine plane(p, sign)
    complex(dp), intent(inout) :: p(:, :)
    integer, intent(in) :: sign
    integer :: i
    do i = 1, n
      call fft(p(:, i), sign)
    end do
    do i = 1, n
      call fft(p(i, :), sign)
    end do
  end subroutine

  ! From planes of one dimension to planes of the other.
  subroutine exchange(from, to)
    complex(dp), intent(in) :: from(n, n, planes)
    complex(dp), intent(out) :: to(n, n, planes)
    complex(dp) :: sent(n, planes, planes, ranks), got(n, planes, planes, ranks)
    integer :: r, i, k
    do r = 1, ranks
      do i = 1, planes
        do k = 1, planes
          sent(:, i, k, r) = from(:, (r - 1) * planes + k, i)
        end do
      end do
    end do
    call MPI_Alltoall(sent, n * planes**2, MPI_DOUBLE_COMPLEX, got, n * planes**2, &
                      MPI_DOUBLE_COMPLEX, comm)
    do r = 1, ranks
      do i = 1, planes
        do k = 1, planes
          to(:, (r - 1) * planes + i, k) = got(:, i, k, r)
        end do
      end do
    end do
  end subroutine
end program

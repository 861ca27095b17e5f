c     Pairs of Gaussian deviates, counted in square rings: kernel EP of the NAS parallel benchmarks, class S (2**24 pairs).
c     The sums are those that the benchmarks publish.
      program ep
      implicit none
      include 'mpif.h'
      integer m, mk
      parameter (m = 24, mk = 16)
      integer*8 a, s, mask, seed, step, power
      parameter (a = 1220703125_8, s = 271828183_8)
      parameter (mask = 70368744177663_8)
      double precision q(0:9), sums(2), all(2), counts(0:9)
      double precision u1, u2, t, f, right(2), total
      integer rank, ranks, ierr, block, i, l
      common /results/ sums, q

      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_size(mpi_comm_world, ranks, ierr)
      do l = 0, 9
         q(l) = 0
      end do
      sums(1) = 0
      sums(2) = 0
c     A block has 2**mk pairs, thus so many numbers twice.
      step = power(a, 2_8 ** (mk + 1))
      do block = rank, 2 ** (m - mk) - 1, ranks
         seed = iand(s * power(step, int(block, 8)), mask)
         do i = 1, 2 ** mk
            seed = iand(a * seed, mask)
            u1 = 2 * (dble(seed) / 2d0 ** 46) - 1
            seed = iand(a * seed, mask)
            u2 = 2 * (dble(seed) / 2d0 ** 46) - 1
            t = u1 * u1 + u2 * u2
            if (t .le. 1) then
               f = sqrt(-2 * log(t) / t)
               l = int(max(abs(u1 * f), abs(u2 * f)))
               q(l) = q(l) + 1
               sums(1) = sums(1) + u1 * f
               sums(2) = sums(2) + u2 * f
            end if
         end do
      end do
      call mpi_allreduce(sums, all, 2, mpi_double_precision, mpi_sum,
     &                   mpi_comm_world, ierr)
      call mpi_reduce(q, counts, 10, mpi_double_precision, mpi_sum,
     &                0, mpi_comm_world, ierr)
      call mpi_allreduce(sum(q), total, 1, mpi_double_precision,
     &                   mpi_sum, mpi_comm_world, ierr)
      right(1) = -3.247834652034740d3
      right(2) = -6.958407078382297d3
      do i = 1, 2
         if (abs(all(i) - right(i)) .gt. 1d-8 * abs(right(i))) then
            print *, 'wrong:', all
            call mpi_abort(mpi_comm_world, 1, ierr)
         end if
      end do
      if (rank .eq. 0) then
         if (sum(counts) .ne. total) call mpi_abort(mpi_comm_world,
     &                                              1, ierr)
         print '(a)', 'verified'
      end if
      call mpi_finalize(ierr)
      end

c     A power modulo 2**46.
      integer*8 function power(base, exponent)
      implicit none
      integer*8 base, exponent, b, e, mask
      parameter (mask = 70368744177663_8)
      power = 1
      b = base
      e = exponent
      do while (e .gt. 0)
         if (iand(e, 1_8) .eq. 1) power = iand(power * b, mask)
         b = iand(b * b, mask)
         e = e / 2
      end do
      end

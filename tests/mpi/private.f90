! A library in Fortran that is loaded for one caller only (private.c), as Python loads its modules,
! so what stands for no argument in it is its own where it has mpif.h, and this library's where it
! is compiled for the module (BY).
subroutine begin(ierr)
  use mpi
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
end subroutine begin

! The number of what has gone wrong.
subroutine work(wrong)
#ifdef BY
  use BY
#endif
  implicit none
#ifndef BY
  include 'mpif.h'
#endif
  integer :: wrong, rank, ranks, ierr, requests(2), numbers(2), sum
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  sum = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  wrong = merge(0, 1, sum == ranks * (ranks + 1) / 2)
  numbers = [rank, -1]
  call MPI_Irecv(numbers(2), 1, MPI_INTEGER, modulo(rank - 1, ranks), 3, MPI_COMM_WORLD, &
       requests(1), ierr)
  call MPI_Isend(numbers(1), 1, MPI_INTEGER, modulo(rank + 1, ranks), 3, MPI_COMM_WORLD, &
       requests(2), ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  wrong = wrong + merge(0, 1, numbers(2) == modulo(rank - 1, ranks))
  call MPI_Sendrecv(numbers(1), 1, MPI_INTEGER, rank, 4, numbers(2), 1, MPI_INTEGER, rank, 4, &
       MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  wrong = wrong + merge(0, 1, numbers(2) == rank) + untouched()
contains
  ! A status that is written all the same writes over what has no room for it.
  integer function untouched()
    untouched = merge(0, 1, all(MPI_STATUS_IGNORE == 0) .and. all(MPI_STATUSES_IGNORE == 0))
  end function untouched
end subroutine work

subroutine finish(ierr)
  use mpi
  implicit none
  integer :: ierr, rank, ranks
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(ierr)
end subroutine finish

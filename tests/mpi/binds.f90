! Calls a library whose symbols are bound locally (bound.f90), and has common blocks of its own.
program binds
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, sum, ierr
  integer, external :: right
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  sum = 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (sum /= ranks .or. right(rank, ranks) /= 2) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(ierr)
end program binds

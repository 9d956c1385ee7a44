! A library whose symbols are bound locally, so where it has mpif.h what stands for no argument is its
! own. It is compiled for each way to MPI: a module, which BY names, or else mpif.h. All reduce
! numbers in place; the result is how many of them were right.
integer function right(rank, ranks)
#ifdef BY
  use BY
#endif
  implicit none
#ifndef BY
  include 'mpif.h'
#endif
  integer :: rank, ranks, sum, told, ierr
  sum = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 3, told, 1, MPI_INTEGER, &
      modulo(rank - 1, ranks), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  right = merge(1, 0, sum == ranks * (ranks + 1) / 2)
  right = right + merge(1, 0, told == modulo(rank - 1, ranks))
end function right

! What the module mpi does not let pass: the error code is left out.
program forgets
  use mpi
  implicit none
  integer :: rank, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Finalize(ierr)
end program forgets

! A message goes to the next rank, by the module; the sum is made in place.
program ring
  use mpi
  implicit none
  integer :: rank, ranks, error, told, status(MPI_STATUS_SIZE)
  double precision :: begin

  call MPI_Init(error)
  begin = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 7, told, 1, MPI_INTEGER, &
      mod(rank + ranks - 1, ranks), 7, MPI_COMM_WORLD, status, error)
  if (status(MPI_SOURCE) /= told) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  call MPI_Allreduce(MPI_IN_PLACE, told, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (told /= ranks * (ranks - 1) / 2 .or. MPI_Wtime() < begin) then
    call MPI_Abort(MPI_COMM_WORLD, 2, error)
  end if
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(error)
end program ring

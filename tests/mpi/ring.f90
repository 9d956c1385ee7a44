! A message goes to the next rank, by the module; the sum is made in place. How long what is of a
! type is, which takes the module's interface.
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
  if (.not. are_right()) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(error)

contains
  ! Scalars and arrays of each type, whole and in part.
  logical function are_right()
    integer :: sizes(8), most
    integer(2) :: small
    integer(8) :: wide(3)
    double precision :: square(3, 3)
    complex :: pairs(2)
    logical :: flag
    character(7) :: text
    small = 0
    wide = 0
    square = 0
    pairs = 0
    flag = .true.
    text = ''
    call MPI_Sizeof(small, sizes(1), error)
    call MPI_Sizeof(wide, sizes(2), error)
    call MPI_Sizeof(square, sizes(3), error)
    call MPI_Sizeof(square(2, :), sizes(4), error)
    call MPI_Sizeof(pairs(2), sizes(5), error)
    call MPI_Sizeof(flag, sizes(6), error)
    call MPI_Sizeof(text, sizes(7), error)
    call PMPI_Sizeof(1.0, sizes(8), error)
    most = storage_size(text) / 8
    are_right = error == MPI_SUCCESS .and. all(sizes == [2, 8, 8, 8, 8, 4, most, 4])
  end function are_right
end program ring

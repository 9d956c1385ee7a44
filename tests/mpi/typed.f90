! `use mpi`: the types of Fortran 2008 are there, too, and a status of one form becomes the other.
program typed
  use mpi
  implicit none
  type(MPI_Comm) :: world, other
  type(MPI_Datatype) :: kind
  type(MPI_Status) :: found
  integer :: status(MPI_STATUS_SIZE), back(MPI_STATUS_SIZE), rank, ranks, number, count, ierror
  call MPI_Init(ierror)
  world%MPI_VAL = MPI_COMM_WORLD
  other = world
  if (.not. world == other) call wrong('a handle is not its copy')
  other%MPI_VAL = MPI_COMM_SELF
  if (world == other) call wrong('two handles are one')
  kind = MPI_Datatype(MPI_INTEGER)
  call MPI_Comm_rank(world%MPI_VAL, rank, ierror)
  call MPI_Comm_size(world%MPI_VAL, ranks, ierror)
  number = rank
  call MPI_Sendrecv_replace(number, 1, kind%MPI_VAL, mod(rank + 1, ranks), 7, &
                            mod(rank + ranks - 1, ranks), 7, world%MPI_VAL, status, ierror)
  call MPI_Status_f2f08(status, found, ierror)
  if (found%MPI_SOURCE /= number .or. found%MPI_TAG /= 7) call wrong('the status is another')
  call PMPI_Status_f082f(found, back, ierror)
  if (any(back /= status)) call wrong('the status does not come back')
  call MPI_Get_count(back, kind%MPI_VAL, count, ierror)
  if (count /= 1) call wrong('the status has lost its count')
  call MPI_Barrier(world%MPI_VAL, ierror)
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(ierror)
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine wrong
end program typed

! The names of the module mpi: some of them only, and by other names; arguments by their names; and
! what programs give for arguments that are not looked at.
module some
  use mpi, only: MPI_Init, MPI_Finalize, MPI_Abort, MPI_Comm_size, MPI_Send, MPI_COMM_WORLD, &
      MPI_INTEGER, MPI_PROC_NULL, MPI_Type_extent, the_rank => MPI_Comm_rank
  implicit none (type, external)
contains
  subroutine begin(rank, ranks)
    integer, intent(out) :: rank, ranks
    integer :: ierr
    call MPI_Init(ierr)
    call the_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(comm=MPI_COMM_WORLD, size=ranks, ierror=ierr)
    call MPI_Send(buf=[1, 2], count=2, datatype=MPI_INTEGER, dest=MPI_PROC_NULL, tag=0, &
        comm=MPI_COMM_WORLD, ierror=ierr)
  end subroutine begin
end module some

program named
  use mpi
  use some, only: begin
  implicit none (type, external)
  type :: pair
    integer :: one, other
  end type pair
  type(pair) :: pairs(2)
  integer :: rank, ranks, ierr, key, extent, requests(2), statuses(MPI_STATUS_SIZE, 2)
  integer :: flat(2 * MPI_STATUS_SIZE), words(3, 2), sum
  integer, allocatable :: all(:), ones(:), places(:), types(:)
  integer(MPI_ADDRESS_KIND) :: value
  character(5) :: text
  logical :: flag

  call begin(rank, ranks)
  allocate (all(ranks), ones(ranks), places(ranks), types(ranks))
  ones = 1
  types = MPI_INTEGER
  places = [(key - 1, key = 1, ranks)]

  ! Buffers of all kinds.
  text = merge('right', 'wrong', rank == 0)
  pairs = merge(pair(1, 2), pair(3, 4), rank == 0)
  words = merge(5, 6, rank == 0)
  call MPI_Bcast(text, 5, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(text(2:3), 2, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(pairs, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(words(2, :), 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call PMPI_Bcast(words(1, 1), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call check(text == 'right' .and. pairs(2)%other == 2 .and. words(2, 2) == 5)
  call MPI_Reduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) call check(sum == ranks * (ranks + 1) / 2)

  ! One number where none is looked at, and datatypes as an array.
  all = -1
  all(rank + 1) = rank
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, ones, places, MPI_INTEGER, &
      MPI_COMM_WORLD, ierr)
  call MPI_Alltoallv(MPI_IN_PLACE, 0, 0, MPI_DATATYPE_NULL, all, ones, places, types, &
      MPI_COMM_WORLD, ierr)
  call check(all(ranks) == rank)
  if (rank == 0) then
    call MPI_Gatherv(rank, 1, MPI_INTEGER, all, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call check(all(ranks) == ranks - 1)
  else
    call MPI_Gatherv(rank, 1, MPI_INTEGER, 0, 0, 0, 0, 0, MPI_COMM_WORLD, ierr)
  end if

  ! Statuses of all shapes.
  requests = MPI_REQUEST_NULL
  call MPI_Waitall(2, requests, statuses, ierr)
  call MPI_Waitall(2, requests, flat, ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Recv(key, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, statuses(1, 2), ierr)
  call MPI_Recv(key, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, statuses(:, 2), ierr)
  call MPI_Recv(key, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call check(statuses(MPI_SOURCE, 2) == MPI_PROC_NULL)

  ! Subroutines, and numbers of both widths.
  call MPI_Op_create(larger, .true., key, ierr)
  call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, key, MPI_COMM_WORLD, ierr)
  call check(sum == ranks - 1)
  call MPI_Op_free(key, ierr)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, value, ierr)
  call MPI_Comm_free_keyval(key, ierr)
  call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, key, 0, ierr)
  call MPI_Keyval_free(key, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, key, flag, ierr)
  call check(flag .and. key == value)
  call MPI_Type_extent(MPI_INTEGER, extent, ierr)
  call check(extent == 4)
  call MPI_Alloc_mem(8_MPI_ADDRESS_KIND, MPI_INFO_NULL, value, ierr)
  call check(value /= 0)

  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(ierr)

contains
  subroutine check(is_right)
    logical, intent(in) :: is_right
    if (.not. is_right) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine check

  subroutine larger(given, kept, count, datatype)
    integer :: count, datatype, given(count), kept(count)
    kept = merge(max(given, kept), 0, datatype == MPI_INTEGER)
  end subroutine larger
end program named

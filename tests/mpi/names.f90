! Subroutines whose arguments are others in Fortran than in C: requests of the program's own,
! neighbours with a datatype for each, names that MPI-3.0 has removed, those for tools.
module own
  implicit none
  include 'mpif.h'
  integer :: freed = 0
contains
  subroutine query(extra, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierror
    status(MPI_SOURCE) = int(extra)
    status(MPI_TAG) = 5
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
  end subroutine

  subroutine release(extra, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    integer :: ierror
    freed = int(extra)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine take_back(extra, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierror
    ierror = merge(MPI_ERR_OTHER, MPI_SUCCESS, complete .or. extra /= 11)
  end subroutine
end module own

program names
  use own
  implicit none
  integer :: rank, size, ierr, failures = 0

  call PMPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call generalized
  call neighbours
  call older
  call spawned
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. failures == 0) print '(a, i0)', 'ok ', size
  call PMPI_Finalize(ierr)

contains
  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (is_right) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
  end subroutine

  subroutine generalized
    integer :: request, count, status(MPI_STATUS_SIZE)
    integer(kind=MPI_ADDRESS_KIND) :: extra
    logical :: flag
    extra = 11
    call MPI_Grequest_start(query, release, take_back, extra, request, ierr)
    extra = 0
    call MPI_Test(request, flag, status, ierr)
    call check(.not. flag, 'a request that has not ended')
    call MPI_Cancel(request, ierr)
    call check(ierr == MPI_SUCCESS, 'what takes it back')
    call MPI_Grequest_complete(request, ierr)
    call MPI_Wait(request, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, count, ierr)
    call check(status(MPI_SOURCE) == 11 .and. status(MPI_TAG) == 5 .and. count == 3, 'its status')
    call check(freed == 11 .and. request == MPI_REQUEST_NULL, 'its end')
  end subroutine

  ! Each rank sends an integer to the next and a pair of reals to the one before.
  subroutine neighbours
    integer :: ring, counts(2), types(2), backward(2), at
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    type :: both
      sequence
      real :: reals(2)
      integer :: number
    end type
    type(both) :: sent, got
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring, ierr)
    sent = both([real(rank), 0.5], 7 * rank)
    got = both([-1.0, -1.0], -1)
    counts = [2, 1]
    places = [0, 8]
    types = [MPI_REAL, MPI_INTEGER]
    backward = [MPI_INTEGER, MPI_REAL]
    call MPI_Neighbor_alltoallw(sent, counts, places, types, &
         got, [1, 2], [8_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND], backward, ring, ierr)
    at = modulo(rank - 1, size)
    call check(ierr == MPI_SUCCESS .and. got%number == 7 * at, 'what came from the one before')
    at = modulo(rank + 1, size)
    call check(got%reals(1) == real(at) .and. got%reals(2) == 0.5, 'what came from the next')
    call MPI_Comm_free(ring, ierr)
  end subroutine

  subroutine older
    integer :: first, second, pair, apart, extent, lower, upper, handler, status(MPI_STATUS_SIZE)
    integer :: sent(4), got(4)
    common /together/ sent
    call MPI_Address(sent(1), first, ierr)
    call MPI_Address(sent(3), second, ierr)
    call check(second - first == 8, 'how far elements are from each other')
    call MPI_Type_struct(2, [1, 1], [0, second - first], [MPI_INTEGER, MPI_INTEGER], pair, ierr)
    call MPI_Type_commit(pair, ierr)
    call MPI_Type_extent(pair, extent, ierr)
    call MPI_Type_lb(pair, lower, ierr)
    call MPI_Type_ub(pair, upper, ierr)
    call check(extent == 12 .and. lower == 0 .and. upper == 12, 'where a datatype ends')
    sent = [1, 2, 3, 4]
    call MPI_Sendrecv(sent, 1, pair, rank, 0, got, 2, MPI_INTEGER, rank, 0, &
         MPI_COMM_WORLD, status, ierr)
    call check(got(1) == 1 .and. got(2) == 3, 'elements of a struct')
    call MPI_Type_hvector(2, 1, 12, MPI_INTEGER, apart, ierr)
    call MPI_Type_extent(apart, extent, ierr)
    call check(extent == 16, 'elements that are some bytes apart')
    call MPI_Type_free(apart, ierr)
    call MPI_Type_hindexed(2, [1, 1], [4, 12], MPI_INTEGER, apart, ierr)
    call MPI_Type_extent(apart, extent, ierr)
    call check(extent == 12, 'elements at displacements')
    call MPI_Type_free(apart, ierr)
    call MPI_Type_free(pair, ierr)
    call MPI_Errhandler_get(MPI_COMM_WORLD, handler, ierr)
    call check(handler == MPI_ERRORS_ARE_FATAL, 'the handler at first')
    call MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Errhandler_get(MPI_COMM_WORLD, handler, ierr)
    call check(handler == MPI_ERRORS_RETURN, 'the handler that was set')
  end subroutine

  ! Ranks cannot be started from within MPI, and a program is told so.
  subroutine spawned
    integer :: other
    call MPI_Comm_spawn('nothing', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, other, &
         MPI_ERRCODES_IGNORE, ierr)
    call check(ierr == MPI_ERR_UNSUPPORTED_OPERATION, 'a call that is not there')
  end subroutine
end program names

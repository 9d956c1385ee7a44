! Subroutines whose arguments are others in Fortran than in C: requests of the program's own,
! neighbours with a datatype for each, names that MPI-3.0 has removed, those for tools; lengths of
! texts, what a call leaves alone, and what only Fortran has.
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

  subroutine in_file(datatype, extent, extra, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra
    integer :: datatype, ierror
    extent = extra
    ierror = merge(MPI_ERR_TYPE, MPI_SUCCESS, datatype == MPI_DATATYPE_NULL)
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
  call in_place
  call older
  call spawned
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
  call detached
  call hints
  call sets
  call labels
  call indices
  call fortrans
  call kinds
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

  ! What stands for the arguments of a send buffer that is none is not looked at.
  subroutine in_place
    integer :: nothing(1), at, of_each(size), counts(size), places(size), types(size)
    of_each = [(100 * rank + at, at = 1, size)]
    counts = 1
    places = [(4 * (at - 1), at = 1, size)]
    types = MPI_INTEGER
    nothing = -1
    call MPI_Alltoallw(MPI_IN_PLACE, nothing, nothing, nothing, of_each, counts, places, types, &
         MPI_COMM_WORLD, ierr)
    call check(ierr == MPI_SUCCESS .and. &
         all(of_each == [(100 * (at - 1) + rank + 1, at = 1, size)]), 'what all gave in place')
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

  ! C tells the address of the buffer; here that argument is not used.
  subroutine detached
    integer, save :: memory(1000)
    integer :: unused(4), length, session
    unused = 7
    call MPI_Buffer_attach(memory, 4000, ierr)
    call MPI_Buffer_detach(unused, length, ierr)
    call check(ierr == MPI_SUCCESS .and. length == 4000, 'the length of a buffer')
    call MPI_Comm_attach_buffer(MPI_COMM_WORLD, memory, 2000, ierr)
    call MPI_Comm_detach_buffer(MPI_COMM_WORLD, unused, length, ierr)
    call check(ierr == MPI_SUCCESS .and. length == 2000, 'the length of a communicator''s')
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
    call MPI_Session_attach_buffer(session, memory, 3000, ierr)
    call MPI_Session_detach_buffer(session, unused, length, ierr)
    call check(ierr == MPI_SUCCESS .and. length == 3000, 'the length of a session''s')
    call MPI_Session_finalize(session, ierr)
    ! One that the library sees to.
    call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0, ierr)
    memory = 5
    call MPI_Bsend(memory, 1000, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierr)
    memory = 0
    call MPI_Recv(memory, 1000, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. all(memory == 5), 'a message from no buffer of ours')
    call MPI_Buffer_detach(unused, length, ierr)
    call check(ierr == MPI_SUCCESS .and. length == 0, 'the length of the library''s buffer')
    call check(all(unused == 7), 'an argument that is not used')
  end subroutine

  ! No zero ends a text, and what was not found or fails leaves it alone.
  subroutine hints
    integer :: info, length
    character(8) :: text
    character(4) :: short
    logical :: flag
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, ' tab ', ' '//achar(9)//'x'//achar(9)//' ', ierr)
    length = 8
    call MPI_Info_get_string(info, 'tab', length, text, flag, ierr)
    call check(length == 3 .and. text == achar(9)//'x'//achar(9), 'only blanks are stripped')
    call MPI_Info_set(info, ' key ', '  value ', ierr)
    length = 5
    call MPI_Info_get_string(info, 'key', length, text, flag, ierr)
    call check(flag .and. length == 5 .and. text == 'value', 'a value that fits')
    length = 4
    call MPI_Info_get_string(info, 'key', length, text, flag, ierr)
    call check(flag .and. length == 5 .and. text == 'valu', 'a value that is cut')
    length = huge(length)
    call MPI_Info_get_string(info, 'key', length, short, flag, ierr)
    call check(flag .and. length == 5 .and. short == 'valu', 'a value with less room than said')
    length = 0
    text = 'as it is'
    call MPI_Info_get_string(info, 'key', length, text, flag, ierr)
    call check(flag .and. length == 5 .and. text == 'as it is', 'the length of a value')
    length = 8
    call MPI_Info_get_string(info, 'none', length, text, flag, ierr)
    call check(.not. flag .and. length == 8 .and. text == 'as it is', 'a value that is not there')
    call MPI_Info_get(info, 'none', 8, text, flag, ierr)
    call check(.not. flag .and. text == 'as it is', 'a value that is not there, by the older way')
    call MPI_Info_get_nthkey(info, 9, text, ierr)
    call check(ierr /= MPI_SUCCESS .and. text == 'as it is', 'a key that is not there')
    call MPI_Info_get(info, 'key', 8, text, flag, ierr)
    call check(flag .and. text == 'value', 'a value by the older way')
    call MPI_Info_free(info, ierr)
  end subroutine

  subroutine sets
    integer :: session, length
    character(11) :: set
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierr)
    length = 0
    set = 'unchanged'
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, set, ierr)
    call check(length == 11 .and. set == 'unchanged', 'the length of a set''s name')
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, set, ierr)
    call check(length == 11 .and. set == 'mpi://WORLD', 'a set''s name')
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, length, set, ierr)
    call check(ierr /= MPI_SUCCESS .and. set == 'mpi://WORLD', 'a set that is not there')
    call MPI_Session_finalize(session, ierr)
  end subroutine

  ! Blanks before a name are of the name, those behind it are not.
  subroutine labels
    integer :: datatype, win, length, class
    integer, save :: memory(10)
    character(MPI_MAX_OBJECT_NAME) :: label, longest
    character(MPI_MAX_ERROR_STRING) :: text
    call MPI_Comm_set_name(MPI_COMM_SELF, '  mine ', ierr)
    call MPI_Comm_get_name(MPI_COMM_SELF, label, length, ierr)
    call check(length == 6 .and. label == '  mine', 'a communicator''s name')
    call MPI_Type_contiguous(2, MPI_INTEGER, datatype, ierr)
    call MPI_Type_set_name(datatype, ' pair ', ierr)
    call MPI_Type_get_name(datatype, label, length, ierr)
    call check(length == 5 .and. label == ' pair', 'a datatype''s name')
    longest = repeat('x', len(longest))
    call MPI_Type_set_name(datatype, longest, ierr)
    call MPI_Type_get_name(datatype, label, length, ierr)
    call check(length == len(label) .and. label == longest, 'the longest name')
    call MPI_Type_set_name(datatype, '   ', ierr)
    call MPI_Type_get_name(datatype, label, length, ierr)
    call check(length == 0 .and. label == '', 'no name')
    call MPI_Type_free(datatype, ierr)
    call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_set_name(win, ' window ', ierr)
    call MPI_Win_get_name(win, label, length, ierr)
    call check(length == 7 .and. label == ' window', 'a window''s name')
    call MPI_Win_free(win, ierr)
    call MPI_Add_error_class(class, ierr)
    call MPI_Add_error_string(class, '  odd ', ierr)
    call MPI_Error_string(class, text, length, ierr)
    call check(length == 5 .and. text == '  odd', 'what an error is')
  end subroutine

  ! Indices begin with 1 where the call has set them, and only there.
  subroutine indices
    integer :: requests(2), count, at, places(2), sent(2), got(1), statuses(MPI_STATUS_SIZE, 2)
    logical :: flag
    sent = 3
    requests = [MPI_REQUEST_NULL, -1]
    count = 1
    places = 5
    call MPI_Waitsome(2, requests, count, places, MPI_STATUSES_IGNORE, ierr)
    call check(ierr /= MPI_SUCCESS .and. count == 1 .and. all(places == 5), 'some that are none')
    call MPI_Testsome(2, requests, count, places, MPI_STATUSES_IGNORE, ierr)
    call check(ierr /= MPI_SUCCESS .and. count == 1 .and. all(places == 5), 'tests of such')
    at = 5
    call MPI_Waitany(2, requests, at, MPI_STATUS_IGNORE, ierr)
    call check(ierr /= MPI_SUCCESS .and. at == 5, 'any of such')
    requests = MPI_REQUEST_NULL
    call MPI_Waitsome(2, requests, count, places, MPI_STATUSES_IGNORE, ierr)
    call check(count == MPI_UNDEFINED .and. all(places == 5), 'some of none')
    call MPI_Testany(2, requests, at, flag, MPI_STATUS_IGNORE, ierr)
    call check(flag .and. at == MPI_UNDEFINED, 'any of none')

    ! A message that is too long is an error of one of them, which has an index.
    call MPI_Irecv(got, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, requests(2), ierr)
    call MPI_Send(sent, 2, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierr)
    call MPI_Waitsome(2, requests, count, places, statuses, ierr)
    call check(ierr == MPI_ERR_IN_STATUS .and. count == 1, 'one that has failed')
    call check(all(places == [2, 5]), 'which one has failed')
    call check(statuses(MPI_ERROR, 1) == MPI_ERR_TRUNCATE, 'why it has failed')
    call MPI_Irecv(got, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, requests(2), ierr)
    call MPI_Send(sent, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierr)
    call MPI_Waitany(2, requests, at, MPI_STATUS_IGNORE, ierr)
    call check(ierr == MPI_SUCCESS .and. at == 2 .and. got(1) == 3, 'any one')
  end subroutine

  ! What C has not, and the functions by their names for tools.
  subroutine fortrans
    integer, save :: memory(4)
    integer(kind=MPI_ADDRESS_KIND) :: from, to, extra
    double precision :: begin
    call check(.not. (MPI_SUBARRAYS_SUPPORTED .or. MPI_ASYNC_PROTECTS_NONBLOCKING), 'promises')
    memory = 4
    call MPI_F_sync_reg(memory)
    call PMPI_F_sync_reg(memory)
    call check(all(memory == 4), 'a buffer that is kept out of registers')
    begin = MPI_Wtime()
    call check(PMPI_Wtime() >= begin .and. PMPI_Wtick() > 0, 'the time')
    call MPI_Get_address(memory(1), from, ierr)
    call MPI_Get_address(memory(3), to, ierr)
    call check(PMPI_Aint_diff(to, from) == 8, 'a difference of addresses')
    call check(PMPI_Aint_add(from, 8_MPI_ADDRESS_KIND) == to, 'a sum of addresses')
    extra = 8
    call MPI_Register_datarep('odd', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, in_file, &
         extra, ierr)
    call check(ierr == MPI_SUCCESS, 'a representation without conversions')
  end subroutine

  ! The kinds that the compiler has for more digits than a double has.
  subroutine kinds
    integer, parameter :: long = selected_real_kind(18), longest = selected_real_kind(33)
    integer :: datatype
    real(long) :: number
    complex(long) :: point
    real(longest) :: precise
    number = 1 + 2 * epsilon(number)
    call MPI_Type_create_f90_real(18, MPI_UNDEFINED, datatype, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, number, 1, datatype, MPI_MAX, MPI_COMM_WORLD, ierr)
    call check(number == 1 + 2 * epsilon(number), 'the largest of reals of 18 digits')
    call MPI_Type_create_f90_real(16, 4000, datatype, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, number, 1, datatype, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(abs(number - size) < size * size * 4 * epsilon(number), 'a sum of such reals')
    point = (1.0_long, -3.0_long)
    call MPI_Type_create_f90_complex(17, MPI_UNDEFINED, datatype, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, point, 1, datatype, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(point == size * (1.0_long, -3.0_long), 'a sum of complex numbers of them')
    precise = 1 + epsilon(precise)
    call MPI_Type_create_f90_real(33, MPI_UNDEFINED, datatype, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, precise, 1, datatype, MPI_MAX, MPI_COMM_WORLD, ierr)
    call check(precise == 1 + epsilon(precise), 'the largest of reals of 33 digits')
  end subroutine
end program names

! Fortran 2008: handles of types of their own, no error codes unless they are asked for, counts of
! both kinds, functions of the program that the library calls, memory that the library gives, and
! what is compared or copied.
module called
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: deleted = 0, handled = 0, freed = 0
contains
  ! The larger by its absolute value.
  subroutine farther(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), to(:)
    call c_f_pointer(invec, from, [len])
    call c_f_pointer(inoutvec, to, [len])
    if (datatype /= MPI_INTEGER) stop 20
    where (abs(from) > abs(to)) to = from
  end subroutine farther

  subroutine twice(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
      ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    if (oldcomm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID) stop 21
    attribute_val_out = attribute_val_in * extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine twice

  subroutine count_it(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (comm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID) stop 22
    deleted = deleted + int(attribute_val * extra_state)
    ierror = MPI_SUCCESS
  end subroutine count_it

  subroutine handle_it(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code, class
    call MPI_Error_class(error_code, class)
    if (comm /= MPI_COMM_WORLD .or. class /= MPI_ERR_RANK) stop 23
    handled = handled + 1
  end subroutine handle_it

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state))
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine free_it(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = freed + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine free_it

  subroutine cancel_it(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (complete .or. extra_state /= 5) stop 24
    ierror = MPI_SUCCESS
  end subroutine cancel_it

  subroutine in_file(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = extra_state
    ierror = merge(MPI_ERR_TYPE, MPI_SUCCESS, datatype == MPI_DATATYPE_NULL)
  end subroutine in_file

  ! What compilers know of a type beside its members has to be linked.
  integer function bits_of(what)
    class(*), intent(in) :: what
    bits_of = storage_size(what)
  end function bits_of
end module called

program modern
  use called
  use, intrinsic :: iso_c_binding, only: c_associated, c_loc
  implicit none
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(comm=MPI_COMM_WORLD, size=ranks)
  call messages()
  call reductions()
  call attributes_and_errors()
  call memory()
  call grids()
  call generalized()
  call representations()
  if (bits_of(MPI_COMM_SELF) /= bits_of(rank) .or. bits_of(MPI_STATUS_IGNORE) /= 256) stop 1
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize()

contains
  subroutine messages()
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status, statuses(2), again
    type(MPI_Message) :: message
    type(MPI_Datatype) :: column
    integer :: there(3, 4), here(4), told, count, old(MPI_STATUS_SIZE), before, after, i
    integer(MPI_COUNT_KIND) :: many
    logical :: flag
    before = mod(rank + ranks - 1, ranks)
    after = mod(rank + 1, ranks)
    there = reshape([(i + 100 * rank, i = 1, 12)], [3, 4])
    call MPI_Type_vector(4, 1, 3, MPI_INTEGER, column)
    call MPI_Type_commit(column)
    call MPI_Isend(there(2, 1), 1, column, after, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(here, 4, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    if (any(requests /= MPI_REQUEST_NULL)) stop 2
    if (any(here /= [2, 5, 8, 11] + 100 * before)) stop 3
    call MPI_Get_count(statuses(2), MPI_INTEGER, count)
    if (statuses(2)%MPI_SOURCE /= before .or. statuses(2)%MPI_TAG /= 3 .or. count /= 4) stop 4
    call MPI_Type_free(column)
    if (column /= MPI_DATATYPE_NULL) stop 5
    ! A part of an array that does not lie together.
    call MPI_Sendrecv(there(1, :), 4, MPI_INTEGER, after, 4, here, 4, MPI_INTEGER, before, 4, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    if (any(here /= [1, 4, 7, 10] + 100 * before)) stop 6
    ! Counts of the larger kind.
    many = 3
    call MPI_Sendrecv(there(:, 2), many, MPI_INTEGER, after, 6, here, 4_MPI_COUNT_KIND, MPI_INTEGER, &
        before, 6, MPI_COMM_WORLD, status)
    call PMPI_Get_count(status, MPI_INTEGER, many)
    if (any(here(:3) /= [4, 5, 6] + 100 * before) .or. many /= 3) stop 30
    call MPI_Isend(rank, 1, MPI_INTEGER, after, 5, MPI_COMM_WORLD, requests(1))
    call MPI_Mprobe(before, 5, MPI_COMM_WORLD, message, status)
    call MPI_Mrecv(told, 1, MPI_INTEGER, message, status)
    if (told /= before .or. message /= MPI_MESSAGE_NULL) stop 7
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
    if (.not. flag) stop 8
    call MPI_Status_f082f(status, old)
    call MPI_Status_f2f08(old, again)
    if (old(MPI_SOURCE) /= before .or. again%MPI_TAG /= 5) stop 9
  end subroutine messages

  subroutine reductions()
    type(MPI_Op) :: op
    integer :: value, sum, values(2)
    logical :: commute
    call MPI_Op_create(farther, .true., op)
    values = [rank, -2 * rank]
    call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    if (any(values /= [ranks - 1, -2 * (ranks - 1)])) stop 10
    call MPI_Op_commutative(op, commute)
    call MPI_Op_free(op)
    if (.not. commute .or. op /= MPI_OP_NULL) stop 11
    value = rank
    call PMPI_Allreduce(value, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (sum /= ranks * (ranks - 1) / 2) stop 12
    call PMPI_Barrier(MPI_COMM_WORLD)
  end subroutine reductions

  subroutine attributes_and_errors()
    type(MPI_Comm) :: comm
    type(MPI_Errhandler) :: handler
    integer :: key, error, length, class
    integer(MPI_ADDRESS_KIND) :: value, extra
    logical :: flag
    character(MPI_MAX_OBJECT_NAME) :: name
    character(MPI_MAX_ERROR_STRING) :: text
    extra = 2
    call MPI_Comm_create_keyval(twice, count_it, key, extra)
    value = 21
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_get_attr(comm, key, value, flag)
    if (.not. flag .or. value /= 42) stop 13
    call MPI_Comm_set_name(comm, 'two of them')
    call MPI_Comm_get_name(comm, name, length)
    if (name /= 'two of them' .or. length /= 11) stop 14
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Comm_free_keyval(key)
    if (deleted /= 126 .or. comm /= MPI_COMM_NULL .or. key /= MPI_KEYVAL_INVALID) stop 15
    call MPI_Comm_create_errhandler(handle_it, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, error)
    call MPI_Error_class(error, class)
    call MPI_Error_string(error, text, length)
    if (handled /= 1 .or. class /= MPI_ERR_RANK .or. len_trim(text) /= length) stop 16
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(handler)
  end subroutine attributes_and_errors

  subroutine memory()
    type(MPI_Win) :: win
    type(c_ptr) :: base, detached
    integer, pointer :: window(:)
    integer, target :: buffer(1000)
    integer(MPI_ADDRESS_KIND) :: size, at
    integer :: value, bytes
    size = 8
    call MPI_Win_allocate(size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
    call c_f_pointer(base, window, [2])
    window = -1
    call MPI_Win_fence(0, win)
    value = rank
    at = 1
    call MPI_Put(value, 1, MPI_INTEGER, mod(rank + 1, ranks), at, 1, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    if (any(window /= [-1, mod(rank + ranks - 1, ranks)])) stop 17
    call MPI_Win_free(win)
    call MPI_Buffer_attach(buffer, 4000)
    call MPI_Buffer_detach(detached, bytes)
    if (.not. c_associated(detached, c_loc(buffer)) .or. bytes /= 4000) stop 18
    call MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0)
    call MPI_Comm_detach_buffer(MPI_COMM_SELF, detached, bytes)
    if (.not. c_associated(detached, c_loc(MPI_BUFFER_AUTOMATIC))) stop 45
    call MPI_Alloc_mem(size, MPI_INFO_NULL, base)
    call c_f_pointer(base, window, [2])
    window = 7
    call MPI_Free_mem(window)
  end subroutine memory

  subroutine grids()
    type(MPI_Comm) :: grid, row
    integer :: dims(2), coords(2), left, right, at
    logical :: periods(2), whole(2)
    dims = [1, ranks]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .true.], .false., grid)
    call MPI_Cart_get(grid, 2, dims, periods, coords)
    if (periods(1) .or. .not. periods(2) .or. any(coords /= [0, rank])) stop 25
    call MPI_Cart_shift(grid, 1, 1, left, right)
    if (left /= mod(rank + ranks - 1, ranks) .or. right /= mod(rank + 1, ranks)) stop 26
    whole = [.false., .true.]
    call MPI_Cart_sub(grid, whole, row)
    call MPI_Comm_rank(row, at)
    if (at /= rank) stop 27
    call MPI_Comm_free(row)
    call MPI_Comm_free(grid)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [rank], MPI_UNWEIGHTED, 1, [rank], &
        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., grid)
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, at, 1, MPI_INTEGER, grid)
    if (at /= rank) stop 28
    call MPI_Comm_free(grid)
  end subroutine grids

  subroutine generalized()
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: count
    extra = 5
    call MPI_Grequest_start(query, free_it, cancel_it, extra, request)
    call MPI_Cancel(request)
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_elements(status, MPI_INTEGER, count)
    if (count /= 5 .or. freed /= 5) stop 29
  end subroutine generalized

  ! One that converts nothing, of large counts, and so may be that of a file.
  subroutine representations()
    type(MPI_File) :: file
    integer, parameter :: mode = MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE
    integer(MPI_ADDRESS_KIND) :: extra
    integer(MPI_OFFSET_KIND) :: at
    integer :: error
    character(80) :: name
    extra = 4
    call MPI_Register_datarep_c('own', MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, &
        in_file, extra)
    call system_clock(at)
    write (name, '(a, i0, a, i0)') '/tmp/muster-modern-', at, '-', rank
    call MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, file)
    at = 0
    call MPI_File_set_view(file, at, MPI_INTEGER, MPI_INTEGER, 'own', MPI_INFO_NULL, error)
    if (error /= MPI_SUCCESS) stop 46
    call MPI_File_close(file)
  end subroutine representations
end program modern

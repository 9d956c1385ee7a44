! Attributes in Fortran: the standard's, the program's by the standard's callbacks and by its own, by
! the newer and the older names; and computing with addresses.
module callbacks
  use mpi
  implicit none
  integer :: deleted = 0
contains
  subroutine twice(comm, key, extra, value, copy, flag, error)
    integer :: comm, key, error
    integer(MPI_ADDRESS_KIND) :: extra, value, copy
    logical :: flag
    if (comm == MPI_COMM_NULL .or. key == MPI_KEYVAL_INVALID) stop 20
    copy = value * extra
    flag = .true.
    error = MPI_SUCCESS
  end subroutine twice

  subroutine count_it(comm, key, value, extra, error)
    integer :: comm, key, error
    integer(MPI_ADDRESS_KIND) :: value, extra
    if (comm == MPI_COMM_NULL .or. key == MPI_KEYVAL_INVALID .or. extra /= 2) stop 21
    deleted = deleted + int(value)
    error = MPI_SUCCESS
  end subroutine count_it
end module callbacks

program attributes
  use callbacks
  implicit none
  integer :: error, comm, key, other, old, small, win, rank, ranks, datatype
  integer(MPI_ADDRESS_KIND) :: value, at, begin, big
  integer, target :: memory(10)
  logical :: flag

  big = -123456789012_MPI_ADDRESS_KIND
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, error)
  if (.not. flag .or. value < 32767) stop 1

  ! A value that is copied as it is, one that is not copied, and one that a subroutine copies.
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, big, error)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, big, error)
  call MPI_Comm_create_keyval(twice, count_it, other, 2_MPI_ADDRESS_KIND, error)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, other, 21_MPI_ADDRESS_KIND, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_get_attr(comm, key, value, flag, error)
  if (.not. flag .or. value /= big) stop 2
  call MPI_Comm_get_attr(comm, other, value, flag, error)
  if (.not. flag .or. value /= 42) stop 3
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, other, error)
  if (deleted /= 21) stop 4
  call MPI_Comm_free(comm, error)
  if (deleted /= 63) stop 5
  call MPI_Comm_get_attr(MPI_COMM_WORLD, other, value, flag, error)
  if (flag) stop 6
  call MPI_Comm_free_keyval(other, error)
  if (other /= MPI_KEYVAL_INVALID) stop 7

  ! The older names have default integers.
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, error)
  call MPI_Attr_put(MPI_COMM_SELF, old, -7, error)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, error)
  call MPI_Attr_get(comm, old, small, flag, error)
  if (.not. flag .or. small /= -7) stop 8
  call MPI_Comm_free(comm, error)

  ! Datatypes and windows, whose own attributes are numbers.
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, key, big, error)
  call MPI_Type_set_attr(MPI_INTEGER, key, big, error)
  call MPI_Type_get_attr(MPI_INTEGER, key, value, flag, error)
  if (.not. flag .or. value /= big) stop 9
  call MPI_Type_dup(MPI_INTEGER, datatype, error)
  call MPI_Type_get_attr(datatype, key, value, flag, error)
  if (flag) stop 10
  call MPI_Type_free(datatype, error)
  call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call MPI_Get_address(memory, begin, error)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, error)
  if (.not. flag .or. value /= begin) stop 11
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, error)
  if (.not. flag .or. value /= 40) stop 12
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, error)
  if (.not. flag .or. value /= 4) stop 13
  call MPI_Win_free(win, error)

  call MPI_Get_address(memory(4), at, error)
  if (MPI_Aint_diff(at, begin) /= 12 .or. MPI_Aint_add(begin, 12_MPI_ADDRESS_KIND) /= at) stop 14
  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(error)
end program attributes

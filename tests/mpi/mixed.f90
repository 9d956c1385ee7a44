! Attributes of which one half is in Fortran and the other in C (mixed.c): what one language has set
! the other one finds, also in duplicates, and callbacks get it as their language has it.
module halves
  use mpi
  implicit none
  integer(MPI_ADDRESS_KIND) :: gone = 0
contains
  subroutine next(comm, key, extra, value, copy, flag, error)
    integer :: comm, key, error
    integer(MPI_ADDRESS_KIND) :: extra, value, copy
    logical :: flag
    if (comm == MPI_COMM_NULL .or. key == MPI_KEYVAL_INVALID) stop 20
    copy = value + extra
    flag = .true.
    error = MPI_SUCCESS
  end subroutine next

  subroutine note(comm, key, value, extra, error)
    integer :: comm, key, error
    integer(MPI_ADDRESS_KIND) :: value, extra
    if (comm == MPI_COMM_NULL .or. key == MPI_KEYVAL_INVALID .or. extra /= 4) stop 21
    gone = value
    error = MPI_SUCCESS
  end subroutine note
end module halves

program mixed
  use halves
  implicit none
  integer :: error, key, old, own, of_c, comm, win, datatype, small, rank, ranks, memory(10)
  integer(MPI_ADDRESS_KIND) :: value, big, place
  logical :: flag
  interface
    subroutine look_wide(comm, key, value) bind(c)
      import :: MPI_ADDRESS_KIND
      integer, value :: comm, key
      integer(MPI_ADDRESS_KIND), value :: value
    end subroutine
    subroutine look_narrow(comm, key, value) bind(c)
      integer, value :: comm, key, value
    end subroutine
    subroutine look_type(datatype, key, value) bind(c)
      import :: MPI_ADDRESS_KIND
      integer, value :: datatype, key
      integer(MPI_ADDRESS_KIND), value :: value
    end subroutine
    subroutine look_win(win, key, value) bind(c)
      import :: MPI_ADDRESS_KIND
      integer, value :: win, key
      integer(MPI_ADDRESS_KIND), value :: value
    end subroutine
    function key_of_c() bind(c)
      integer :: key_of_c
    end function
    function hang(comm, key) bind(c)
      import :: MPI_ADDRESS_KIND
      integer, value :: comm, key
      integer(MPI_ADDRESS_KIND) :: hang
    end function
    subroutine find(comm, key) bind(c)
      integer, value :: comm, key
    end subroutine
    function last_gone() bind(c)
      import :: MPI_ADDRESS_KIND
      integer(MPI_ADDRESS_KIND) :: last_gone
    end function
  end interface

  big = -123456789012_MPI_ADDRESS_KIND
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)

  ! What Fortran has set, and a duplicate of it.
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, big, error)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, big, error)
  call look_wide(MPI_COMM_WORLD, key, big)
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, error)
  call MPI_Attr_put(MPI_COMM_WORLD, old, -7, error)
  call look_narrow(MPI_COMM_WORLD, old, -7)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call look_wide(comm, key, big)
  call look_narrow(comm, old, -7)
  ! Each width reads the other one.
  call MPI_Comm_get_attr(comm, old, value, flag, error)
  if (.not. flag .or. value /= -7) stop 1
  call MPI_Attr_get(comm, key, small, flag, error)
  if (.not. flag .or. small /= 1097262572) stop 2
  call MPI_Comm_free(comm, error)

  ! Fortran's values under a key of C's, whose callbacks look at them by their places.
  of_c = key_of_c()
  call MPI_Comm_set_attr(MPI_COMM_WORLD, of_c, 35_MPI_ADDRESS_KIND, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call look_wide(comm, of_c, 36_MPI_ADDRESS_KIND)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, of_c, error)
  if (last_gone() /= 35) stop 3
  call MPI_Comm_free(comm, error)
  if (last_gone() /= 36) stop 4

  ! C's address is a number in Fortran, and an address again in C, also in duplicates.
  place = hang(MPI_COMM_WORLD, key)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, error)
  if (.not. flag .or. value /= place) stop 5
  place = hang(MPI_COMM_WORLD, old)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call find(comm, key)
  call find(comm, old)
  call MPI_Comm_get_attr(comm, old, value, flag, error)
  if (.not. flag .or. value /= place) stop 6
  call MPI_Comm_free(comm, error)

  ! Callbacks of Fortran's.
  call MPI_Comm_create_keyval(next, note, own, 4_MPI_ADDRESS_KIND, error)
  call MPI_Comm_set_attr(MPI_COMM_SELF, own, big, error)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, error)
  call look_wide(comm, own, big + 4)
  call MPI_Comm_free(comm, error)
  if (gone /= big + 4) stop 7
  place = hang(MPI_COMM_SELF, own)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, own, error)
  if (gone /= place) stop 8

  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, big, error)
  call MPI_Type_set_attr(MPI_INTEGER, key, big, error)
  call MPI_Type_dup(MPI_INTEGER, datatype, error)
  call look_type(datatype, key, big)
  call MPI_Type_free(datatype, error)
  call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, big, error)
  call MPI_Win_set_attr(win, key, big, error)
  call look_win(win, key, big)
  call MPI_Win_free(win, error)

  call MPI_Barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0)', 'ok ', ranks
  call MPI_Finalize(error)
end program mixed

! `use mpi`: the constants, the types of Fortran 2008 for statuses and handles, and the functions
! that are no subroutines. The subroutines are called by their names, and what they are given is not
! checked. mpifort compiles this when it is first needed, because each compiler has its own form of
! modules.
! Made by `cargo xtask header`, the types from the tables in crates/mpi-abi/standard.
module mpi
  implicit none
  include 'mpif.h'

  ! What is known of a message: three members are for programs.
  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer :: MPI_internal(5)
  end type MPI_Status

  ! Handles, which hold the integers of `mpif.h`.
  type, bind(C) :: MPI_Op
    integer :: MPI_VAL
  end type MPI_Op
  type, bind(C) :: MPI_Comm
    integer :: MPI_VAL
  end type MPI_Comm
  type, bind(C) :: MPI_Group
    integer :: MPI_VAL
  end type MPI_Group
  type, bind(C) :: MPI_Win
    integer :: MPI_VAL
  end type MPI_Win
  type, bind(C) :: MPI_File
    integer :: MPI_VAL
  end type MPI_File
  type, bind(C) :: MPI_Session
    integer :: MPI_VAL
  end type MPI_Session
  type, bind(C) :: MPI_Message
    integer :: MPI_VAL
  end type MPI_Message
  type, bind(C) :: MPI_Info
    integer :: MPI_VAL
  end type MPI_Info
  type, bind(C) :: MPI_Errhandler
    integer :: MPI_VAL
  end type MPI_Errhandler
  type, bind(C) :: MPI_Request
    integer :: MPI_VAL
  end type MPI_Request
  type, bind(C) :: MPI_Datatype
    integer :: MPI_VAL
  end type MPI_Datatype

  ! Those that cannot be called without an interface. Of the first, compilers describe the first
  ! argument, of any type and rank, and the library reads there how long an element is.
  interface
    subroutine MPI_Sizeof(x, size, ierror) bind(C, name='muster_sizeof_')
      use, intrinsic :: iso_c_binding, only: c_int
      type(*), dimension(..), intent(in) :: x
      integer(c_int), intent(out) :: size, ierror
    end subroutine MPI_Sizeof
    subroutine PMPI_Sizeof(x, size, ierror) bind(C, name='muster_sizeof_')
      use, intrinsic :: iso_c_binding, only: c_int
      type(*), dimension(..), intent(in) :: x
      integer(c_int), intent(out) :: size, ierror
    end subroutine PMPI_Sizeof
    subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer, intent(in) :: f_status(MPI_STATUS_SIZE)
      type(MPI_Status), intent(out) :: f08_status
      integer, intent(out) :: ierror
    end subroutine MPI_Status_f2f08
    subroutine MPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status), intent(in) :: f08_status
      integer, intent(out) :: f_status(MPI_STATUS_SIZE)
      integer, intent(out) :: ierror
    end subroutine MPI_Status_f082f
  end interface
  procedure(MPI_Status_f2f08) :: PMPI_Status_f2f08
  procedure(MPI_Status_f082f) :: PMPI_Status_f082f

  interface operator(==)
    elemental logical function muster_same_op(a, b)
      import
      type(MPI_Op), intent(in) :: a, b
    end function muster_same_op
    elemental logical function muster_same_comm(a, b)
      import
      type(MPI_Comm), intent(in) :: a, b
    end function muster_same_comm
    elemental logical function muster_same_group(a, b)
      import
      type(MPI_Group), intent(in) :: a, b
    end function muster_same_group
    elemental logical function muster_same_win(a, b)
      import
      type(MPI_Win), intent(in) :: a, b
    end function muster_same_win
    elemental logical function muster_same_file(a, b)
      import
      type(MPI_File), intent(in) :: a, b
    end function muster_same_file
    elemental logical function muster_same_session(a, b)
      import
      type(MPI_Session), intent(in) :: a, b
    end function muster_same_session
    elemental logical function muster_same_message(a, b)
      import
      type(MPI_Message), intent(in) :: a, b
    end function muster_same_message
    elemental logical function muster_same_info(a, b)
      import
      type(MPI_Info), intent(in) :: a, b
    end function muster_same_info
    elemental logical function muster_same_errhandler(a, b)
      import
      type(MPI_Errhandler), intent(in) :: a, b
    end function muster_same_errhandler
    elemental logical function muster_same_request(a, b)
      import
      type(MPI_Request), intent(in) :: a, b
    end function muster_same_request
    elemental logical function muster_same_datatype(a, b)
      import
      type(MPI_Datatype), intent(in) :: a, b
    end function muster_same_datatype
  end interface operator(==)

  interface operator(/=)
    elemental logical function muster_other_op(a, b)
      import
      type(MPI_Op), intent(in) :: a, b
    end function muster_other_op
    elemental logical function muster_other_comm(a, b)
      import
      type(MPI_Comm), intent(in) :: a, b
    end function muster_other_comm
    elemental logical function muster_other_group(a, b)
      import
      type(MPI_Group), intent(in) :: a, b
    end function muster_other_group
    elemental logical function muster_other_win(a, b)
      import
      type(MPI_Win), intent(in) :: a, b
    end function muster_other_win
    elemental logical function muster_other_file(a, b)
      import
      type(MPI_File), intent(in) :: a, b
    end function muster_other_file
    elemental logical function muster_other_session(a, b)
      import
      type(MPI_Session), intent(in) :: a, b
    end function muster_other_session
    elemental logical function muster_other_message(a, b)
      import
      type(MPI_Message), intent(in) :: a, b
    end function muster_other_message
    elemental logical function muster_other_info(a, b)
      import
      type(MPI_Info), intent(in) :: a, b
    end function muster_other_info
    elemental logical function muster_other_errhandler(a, b)
      import
      type(MPI_Errhandler), intent(in) :: a, b
    end function muster_other_errhandler
    elemental logical function muster_other_request(a, b)
      import
      type(MPI_Request), intent(in) :: a, b
    end function muster_other_request
    elemental logical function muster_other_datatype(a, b)
      import
      type(MPI_Datatype), intent(in) :: a, b
    end function muster_other_datatype
  end interface operator(/=)
end module mpi

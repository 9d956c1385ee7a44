! What `mpi` and `mpi_f08` both have: the types of statuses and handles. What compilers make of them
! beside their members is in an archive that mpifort links.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module muster_types
  implicit none

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
end module muster_types


  ! Of the first, compilers describe the first argument, of any type and rank, and the library reads
  ! there how long an element is.
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

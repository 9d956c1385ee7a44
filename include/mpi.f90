! `use mpi`: the constants, and the functions that are no subroutines. The subroutines are called by
! their names, and what they are given is not checked. mpifort compiles this when it is first needed,
! because each compiler has its own form of modules.
module mpi
  implicit none
  include 'mpif.h'

  ! The one that cannot be called without an interface: compilers describe its first argument, of
  ! any type and rank, and the library reads there how long an element is.
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
  end interface
end module mpi

! `use mpi_f08`: MPI 5.0 for Fortran 2008 and later (chapter 19 of the standard). Handles are types
! of their own, arguments are checked, and `ierror` may be left out. mpifort compiles this when it
! is first needed, because each compiler has its own form of modules.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_int
  use muster_types
@places@
  implicit none
  private :: c_ptr, c_int

! `use mpi`: the constants, the types of Fortran 2008 for statuses and handles, and interfaces of
! all functions and subroutines. Buffers are of any type and rank; beside one, arrays and datatypes
! are not checked either. mpifort compiles this when it is first needed, because each compiler has
! its own form of modules.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module mpi
  use muster_types
@places@
  implicit none


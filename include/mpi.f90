! `use mpi`: the constants, and the functions that are no subroutines. The subroutines are called by
! their names, and what they are given is not checked. mpifort compiles this when it is first needed,
! because each compiler has its own form of modules.
module mpi
  implicit none
  include 'mpif.h'
end module mpi

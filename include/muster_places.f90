! Arguments that are left out, by `mpi` and `mpi_f08`: the library's own variables. The object of
! this module is not linked, because it would have others.
! Made by `cargo xtask header` from the tables in crates/mpi-abi/standard.
module muster_places
  use, intrinsic :: iso_c_binding, only: c_int, c_char
  use muster_types, only: MPI_Status
  implicit none

  integer(c_int), bind(C, name='muster_own_bottom') :: MPI_BOTTOM
  integer(c_int), bind(C, name='muster_own_in_place') :: MPI_IN_PLACE
  integer(c_int), target, bind(C, name='muster_own_buffer_automatic') :: MPI_BUFFER_AUTOMATIC(1)
  integer(c_int), bind(C, name='muster_own_status_ignore') :: MPI_STATUS_IGNORE(8)
  integer(c_int), bind(C, name='muster_own_statuses_ignore') :: MPI_STATUSES_IGNORE(8, 1)
  integer(c_int), bind(C, name='muster_own_errcodes_ignore') :: MPI_ERRCODES_IGNORE(1)
  integer(c_int), bind(C, name='muster_own_unweighted') :: MPI_UNWEIGHTED(1)
  integer(c_int), bind(C, name='muster_own_weights_empty') :: MPI_WEIGHTS_EMPTY(1)
  character(kind=c_char), bind(C, name='muster_own_argv_null') :: MPI_ARGV_NULL(1)
  character(kind=c_char), bind(C, name='muster_own_argvs_null') :: MPI_ARGVS_NULL(1, 1)

  ! As `mpi_f08` has them.
  type(MPI_Status), bind(C, name='muster_own_f08_status_ignore') :: muster_status_ignore
  type(MPI_Status), bind(C, name='muster_own_f08_statuses_ignore') :: muster_statuses_ignore(1)
end module muster_places

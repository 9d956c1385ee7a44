!     Compiled with -fdefault-real-8: a DOUBLE PRECISION has 16 bytes.
      program wider
      implicit none
      include 'mpif.h'
      integer ierr
      call MPI_INIT(ierr)
      if (kind(1.d0) .ne. 16) stop 1
      if (kind(MPI_WTIME()) .ne. 8 .or. kind(PMPI_WTICK()) .ne. 8)
     &     stop 2
      if (MPI_WTIME() .lt. MPI_WTICK()) stop 3
      call MPI_FINALIZE(ierr)
      print '(a)', 'all good'
      end

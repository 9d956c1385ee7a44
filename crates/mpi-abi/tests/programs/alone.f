!     A rank that sends messages to itself, and texts and integers both
!     ways.
      program alone
      implicit none
      include 'mpif.h'
      integer ierr, rank, size, requests(2)
      integer statuses(MPI_STATUS_SIZE, 2)
      integer status(MPI_STATUS_SIZE), comm, length, version, minor, at
      integer (kind=MPI_ADDRESS_KIND) bound
      logical flag
      double precision sent(3), got(3), start
      character*(MPI_MAX_PROCESSOR_NAME) name
      character*(MPI_MAX_OBJECT_NAME) label

      call MPI_INIT(ierr)
      if (ierr .ne. MPI_SUCCESS) stop 1
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      if (rank .ne. 0 .or. size .ne. 1) stop 2
      call MPI_GET_VERSION(version, minor, ierr)
      if (version .ne. MPI_VERSION) stop 3

      start = MPI_WTIME()
      sent = (/ 1.5d0, 2.5d0, 3.5d0 /)
      got = 0
      call MPI_IRECV(got, 3, MPI_DOUBLE_PRECISION, 0, 7,
     &     MPI_COMM_WORLD, requests(1), ierr)
      call MPI_ISEND(sent, 3, MPI_DOUBLE_PRECISION, 0, 7,
     &     MPI_COMM_WORLD, requests(2), ierr)
      call MPI_WAITALL(2, requests, statuses, ierr)
      if (ierr .ne. MPI_SUCCESS .or. any(got .ne. sent)) stop 4
      if (statuses(MPI_SOURCE, 1) .ne. 0) stop 5
      if (statuses(MPI_TAG, 1) .ne. 7) stop 6
      if (requests(1) .ne. MPI_REQUEST_NULL) stop 7
      call MPI_WAITANY(2, requests, at, status, ierr)
      if (at .ne. MPI_UNDEFINED) stop 8

      call MPI_IRECV(got, 3, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE,
     &     MPI_ANY_TAG, MPI_COMM_WORLD, requests(2), ierr)
      call MPI_SEND(sent, 2, MPI_DOUBLE_PRECISION, 0, 9,
     &     MPI_COMM_WORLD, ierr)
      call MPI_WAITANY(2, requests, at, MPI_STATUS_IGNORE, ierr)
      if (at .ne. 2) stop 9

      got = sent
      call MPI_ALLREDUCE(MPI_IN_PLACE, got, 3, MPI_DOUBLE_PRECISION,
     &     MPI_SUM, MPI_COMM_WORLD, ierr)
      if (ierr .ne. MPI_SUCCESS .or. any(got .ne. sent)) stop 15

      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
      call MPI_COMM_SET_NAME(comm, 'mine  ', ierr)
      call MPI_COMM_GET_NAME(comm, label, length, ierr)
      if (length .ne. 4 .or. label .ne. 'mine') stop 10
      call MPI_COMM_GET_ATTR(comm, MPI_TAG_UB, bound, flag, ierr)
      if (.not. flag .or. bound .lt. 32767) stop 11
      call MPI_COMM_FREE(comm, ierr)
      if (comm .ne. MPI_COMM_NULL) stop 12
      call MPI_GET_PROCESSOR_NAME(name, length, ierr)
      if (length .lt. 1 .or. name(length:length) .eq. ' ') stop 13
      if (MPI_WTIME() .lt. start) stop 14
      call MPI_FINALIZE(ierr)
      if (ierr .eq. MPI_SUCCESS) print '(a)', 'all good'
      end

! What is stored in a variable before a request for it is started, or is read by its address, is seen
! there, also where the compiler knows of nobody who would look: buffers are targets. At -O2.
program kept
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: ierror, rank, ranks
    call MPI_Init(ierror)
    call persistent
    call by_address
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    if (rank == 0) print '(a, i0)', 'ok ', ranks
    call MPI_Finalize(ierror)
contains
    subroutine persistent
        integer, target :: sent
        integer :: got, request, i, status(MPI_STATUS_SIZE)
        call MPI_Send_init(sent, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, ierror)
        do i = 1, 3
            sent = 10 * i
            call MPI_Start(request, ierror)
            call MPI_Recv(got, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status, ierror)
            call MPI_Wait(request, status, ierror)
            if (got /= 10 * i) error stop 'a request has sent what was there before'
        end do
        call MPI_Request_free(request, ierror)
    end subroutine

    subroutine by_address
        integer, target :: stored
        integer(MPI_ADDRESS_KIND) :: address
        type(c_ptr) :: place
        integer, pointer :: seen
        stored = 5
        call MPI_Get_address(stored, address, ierror)
        stored = 77
        call MPI_Barrier(MPI_COMM_SELF, ierror)
        place = transfer(address, place)
        call c_f_pointer(place, seen)
        if (seen /= 77) error stop 'what was stored is not there'
    end subroutine
end program


  ! The functions that are no subroutines, and those that C does not have or has otherwise.
  interface
    real(selected_real_kind(15)) function MPI_Wtime()
    end function MPI_Wtime
    real(selected_real_kind(15)) function PMPI_Wtime()
    end function PMPI_Wtime
    real(selected_real_kind(15)) function MPI_Wtick()
    end function MPI_Wtick
    real(selected_real_kind(15)) function PMPI_Wtick()
    end function PMPI_Wtick
    integer(MPI_ADDRESS_KIND) function MPI_Aint_add(base, disp)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: base, disp
    end function MPI_Aint_add
    integer(MPI_ADDRESS_KIND) function PMPI_Aint_add(base, disp)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: base, disp
    end function PMPI_Aint_add
    integer(MPI_ADDRESS_KIND) function MPI_Aint_diff(addr1, addr2)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
    end function MPI_Aint_diff
    integer(MPI_ADDRESS_KIND) function PMPI_Aint_diff(addr1, addr2)
      import
      integer(MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
    end function PMPI_Aint_diff
    subroutine MPI_Pcontrol(level)
      integer, intent(in) :: level
    end subroutine MPI_Pcontrol
    subroutine PMPI_Pcontrol(level)
      integer, intent(in) :: level
    end subroutine PMPI_Pcontrol
    subroutine MPI_F_sync_reg(buf)
      !GCC$ attributes no_arg_check :: buf
      !DEC$ attributes no_arg_check :: buf
      !DIR$ ignore_tkr buf
      type(*), dimension(*) :: buf
    end subroutine MPI_F_sync_reg
  end interface
  procedure(MPI_F_sync_reg) :: PMPI_F_sync_reg

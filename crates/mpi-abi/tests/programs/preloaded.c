/* A tool that is loaded before the library. */
#include <mpi.h>
#include <stdio.h>

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    fputs("seen\n", stderr);
    return PMPI_Comm_rank(comm, rank);
}

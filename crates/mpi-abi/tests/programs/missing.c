/* Calls functions that the library does not have. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    MPI_Comm comm = MPI_COMM_NULL;
    char port[MPI_MAX_PORT_NAME];
    int first = MPI_Comm_join(0, &comm);
    int second = PMPI_Comm_join(0, &comm);

    printf("%d %d %d\n", first, second, MPI_Open_port(MPI_INFO_NULL, port));
    return 0;
}

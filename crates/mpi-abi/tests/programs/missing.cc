/* Calls functions that the library does not have. */
#include <mpi.h>
#include <cstdio>

int main()
{
    MPI_Comm comm = MPI_COMM_NULL;
    char port[MPI_MAX_PORT_NAME];
    int first = MPI_Comm_join(0, &comm);
    int second = PMPI_Comm_join(0, &comm);

    std::printf("%d %d %d\n", first, second, MPI_Open_port(MPI_INFO_NULL, port));
    return 0;
}

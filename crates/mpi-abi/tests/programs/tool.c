/* A tool that counts calls, as part of the program. */
#include <mpi.h>
#include <stdio.h>

static int seen;

int MPI_Get_version(int *version, int *subversion)
{
    seen++;
    return PMPI_Get_version(version, subversion);
}

int main(void)
{
    int version, subversion;

    MPI_Get_version(&version, &subversion);
    printf("seen %d, version %d.%d\n", seen, version, subversion);
    return 0;
}

/* An error that nobody handles. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int subversion;

    MPI_Get_version(NULL, &subversion);
    puts("went on");
    return 0;
}

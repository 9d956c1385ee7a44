/* Each rank says which it is, where, of which program, and what it was told. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, found, *program;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &found);
    printf("%02d on %s app %d", rank, getenv("MUSTER_NODE"), found ? *program : -1);
    if (argc > 1)
        printf(" %s", argv[1]);
    if (getenv("COLOUR"))
        printf(" %s", getenv("COLOUR"));
    printf("\n");
    return MPI_Finalize();
}

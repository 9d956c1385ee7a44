/* An error before the program has said what errors do, and what it knows of that. */

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    char handler[MPI_MAX_INFO_VAL] = "nothing";
    int room = sizeof handler, is_known, class;
    MPI_Init(&argc, &argv);
    MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &room, handler, &is_known);
    MPI_Error_class(MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD), &class);
    printf("%s: %d\n", handler, class == MPI_ERR_RANK);
    return MPI_Finalize();
}

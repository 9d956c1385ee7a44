/* Ranks that all wait until somebody writes to a pipe: the last one there, the others for it. */
#include "check.h"
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv) {
    begin(&argc, &argv);
    char word;
    int value = 0;
    if (rank == size - 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        printf("waits\n");
        fflush(stdout);
        int pipe = open(argv[1], O_RDONLY);
        CHECK(read(pipe, &word, 1) == 1);
        value = 1;
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Bcast(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    CHECK(value == 1);
    if (rank == size - 1) printf("goes on\n");
    return end();
}

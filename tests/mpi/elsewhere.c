/* Rank 1 waits for a file before it sends, and the others test meanwhile: no message tells them
   that it does not compute. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    int in = -1, flag = 0;
    MPI_Request request;
    CHECK(argc == 2);
    begin(&argc, &argv);
    if (rank == 1) {
        while (access(argv[1], F_OK))
            rest(10000);
        for (int to = 0; to < size; to++)
            if (to != 1)
                MPI_Send(&to, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(in == rank);
    }
    return end();
}

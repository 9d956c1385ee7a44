/* Ranks that wait for one another for ever, in the way that the argument says; or only for long. */
#include "check.h"
#include <unistd.h>

static int value, values[2];

static void receive(int from, int tag, MPI_Comm comm) {
    MPI_Recv(&value, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Comm halo;
    begin(&argc, &argv);
    const char *how = argv[1];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    if (strcmp(how, "cycle") == 0) {
        if (rank < 2) receive(1 - rank, 7, halo);
    } else if (strcmp(how, "ring") == 0) {
        MPI_Ssend(&value, 1, MPI_INT, next, 3, halo);
        receive(before, 3, halo);
    } else if (strcmp(how, "barrier") == 0) {
        if (rank == 0) receive(1, 5, MPI_COMM_WORLD);
    } else if (strcmp(how, "different") == 0) {
        if (rank == 0) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (strcmp(how, "any") == 0) {
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG, halo);
    } else if (strcmp(how, "waitall") == 0) {
        MPI_Request requests[2];
        MPI_Irecv(&values[0], 1, MPI_INT, next, 1, halo, &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, before, 2, halo, &requests[1]);
        MPI_Send(&value, 1, MPI_INT, next, 2, halo);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(how, "probe") == 0) {
        MPI_Probe(next, 4, halo, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "finalize") == 0) {
        if (rank == 0) receive(1, 5, MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    } else if (strcmp(how, "gone") == 0) {
        if (rank == 0) receive(MPI_ANY_SOURCE, 5, halo);
        exit(0);
    } else if (strcmp(how, "gone-probe") == 0) {
        if (rank == 0) MPI_Probe(MPI_ANY_SOURCE, 5, halo, MPI_STATUS_IGNORE);
        exit(0);
    } else if (strcmp(how, "slow") == 0) {
        /* One rank does something else while all others wait for it, and for each other. */
        if (rank == size - 1) sleep(5);
        if (rank > 0) receive(before, 1, halo);
        if (rank < size - 1 && rank > 0) MPI_Ssend(&value, 1, MPI_INT, next, 1, halo);
        if (rank == 0) MPI_Ssend(&value, 1, MPI_INT, next, 1, halo);
        if (rank == size - 1) MPI_Send(&value, 1, MPI_INT, 0, 2, halo);
        if (rank == 0) receive(MPI_ANY_SOURCE, 2, halo);
        MPI_Barrier(halo);
    }
    MPI_Comm_free(&halo);
    return end();
}

/* Ranks that only ask, and never wait: each sends to the next and hears of the one before. */
#include "check.h"

enum { LONG = 100000 };
static int out[LONG], in[LONG];

/* Sends so many integers around, and asks after both messages until both have ended. */
static void around(int count) {
    MPI_Request requests[2];
    MPI_Status status;
    int flag = 0;
    for (int at = 0; at < count; at++) out[at] = rank + at;
    MPI_Isend(out, count, MPI_INT, (rank + 1) % size, count, MPI_COMM_WORLD, &requests[0]);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, count, MPI_COMM_WORLD, &flag, &status);
    CHECK(status.MPI_SOURCE == (rank + size - 1) % size);
    MPI_Irecv(in, count, MPI_INT, status.MPI_SOURCE, count, MPI_COMM_WORLD, &requests[1]);
    for (int ended = 0; ended < 2; ended += flag) {
        int which;
        MPI_Testany(2, requests, &which, &flag, MPI_STATUS_IGNORE);
    }
    for (int at = 0; at < count; at++) CHECK(in[at] == status.MPI_SOURCE + at);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int lengths[] = {1, 5000, LONG};
    for (int round = 0; round < 30; round++) around(lengths[round % 3]);
    return end();
}

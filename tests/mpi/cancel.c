/* Sends that are taken back (MPI-5.0, 3.8.4): who waits for one waits for no receive. */

#include "check.h"

enum { LONG = 1 << 20 };

static char bytes[2 * LONG];

/* Ends a send that was taken back; whether it was cancelled. */
static int ends_cancelled(MPI_Request *request) {
    MPI_Status status;
    int flag;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &flag);
    return flag;
}

/* Nobody ever receives them. */
static void unmatched(int to) {
    MPI_Request request;
    MPI_Issend(bytes, 4, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request);
    CHECK(ends_cancelled(&request) && request == MPI_REQUEST_NULL);
    MPI_Issend(bytes, LONG, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request);
    CHECK(ends_cancelled(&request));
    if (to != rank) {
        MPI_Isend(bytes, LONG, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request);
        CHECK(ends_cancelled(&request));
    }
    MPI_Ssend_init(bytes, 4, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 3; round++) {
        MPI_Start(&request);
        CHECK(ends_cancelled(&request));
    }
    MPI_Request_free(&request);
    /* A request may be given back instead of waited for. */
    MPI_Issend(bytes, 4, MPI_CHAR, to, 1, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
}

/* Their receives have been posted before: too late. */
static void matched(int to, int from) {
    MPI_Request receives[2], send;
    MPI_Irecv(bytes + LONG, LONG, MPI_CHAR, from, 2, MPI_COMM_WORLD, &receives[0]);
    MPI_Irecv(bytes + LONG, 4, MPI_CHAR, from, 3, MPI_COMM_WORLD, &receives[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Issend(bytes, LONG, MPI_CHAR, to, 2, MPI_COMM_WORLD, &send);
    CHECK(!ends_cancelled(&send));
    MPI_Issend(bytes, 4, MPI_CHAR, to, 3, MPI_COMM_WORLD, &send);
    CHECK(!ends_cancelled(&send));
    MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
}

/* More than there is room for, without a receive: none of it is lost. */
static void leaving(int to, int from) {
    enum { MANY = 1000, PART = 4000 };
    static char part[PART], room[PART];
    for (int at = 0; at < MANY; at++) {
        MPI_Request request;
        memset(part, at % 100, PART);
        MPI_Isend(part, PART, MPI_CHAR, to, 4, MPI_COMM_WORLD, &request);
        CHECK(!ends_cancelled(&request));
    }
    for (int at = 0; at < MANY; at++) {
        MPI_Recv(room, PART, MPI_CHAR, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(room[0] == at % 100 && room[PART - 1] == at % 100);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, flag;
    unmatched(rank);
    unmatched(to);
    matched(to, from);
    leaving(to, from);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The last is taken back while its receiver is at its end. */
    MPI_Request request;
    MPI_Issend(bytes, 4, MPI_CHAR, to, 5, MPI_COMM_WORLD, &request);
    CHECK(ends_cancelled(&request));
    return end();
}

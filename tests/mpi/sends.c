/* Every way to send, blocking, begun and kept: short and long messages, around a ring. */
#include "check.h"

enum { SHORT = 3, LONG = 50000, ROUNDS = 3 };
static const int lengths[] = {0, SHORT, LONG};
static int next, last;
static int out[LONG], in[LONG];

/* What a rank sends in a turn. */
static int value(int from, int turn, int at) { return from * 100000 + turn * 10000 + at; }

static void fill(int turn) {
    for (int at = 0; at < LONG; at++) out[at] = value(rank, turn, at), in[at] = -1;
}

static void has_come(int length, int turn, int tag, MPI_Status *status) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == length && status->MPI_SOURCE == last && status->MPI_TAG == tag);
    for (int at = 0; at < LONG; at++) CHECK(in[at] == (at < length ? value(last, turn, at) : -1));
}

/* A ready send may be called where the receive is known to be posted. */
static void ready(int length, int turn) {
    MPI_Request requests[2];
    MPI_Status status;
    fill(turn);
    MPI_Irecv(in, LONG, MPI_INT, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Rsend(out, length, MPI_INT, next, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Wait(&requests[0], &status);
    has_come(length, turn, 1, &status);
    fill(turn + 1);
    MPI_Irecv(in, LONG, MPI_INT, last, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irsend(out, length, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], &status);
    has_come(length, turn + 1, 2, &status);
}

/* A synchronous send has not ended while nobody receives it, however short it is. */
static void synchronous(int length, int turn) {
    MPI_Request request;
    MPI_Status status;
    int flag;
    fill(turn);
    MPI_Issend(out, length, MPI_INT, next, 3, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, LONG, MPI_INT, last, 3, MPI_COMM_WORLD, &status);
    has_come(length, turn, 3, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* What a buffered send has taken may be written over at once, also where nobody receives yet. */
static void buffered(int length, int turn) {
    MPI_Request request;
    MPI_Status status;
    fill(turn);
    MPI_Ibsend(out, length, MPI_INT, next, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(out, 255, sizeof out);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, LONG, MPI_INT, last, 4, MPI_COMM_WORLD, &status);
    has_come(length, turn, 4, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bsend_init(out, length, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
    for (int round = 0; round < ROUNDS; round++) {
        fill(turn + round);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request != MPI_REQUEST_NULL);
        memset(out, 255, sizeof out);
        MPI_Recv(in, LONG, MPI_INT, last, 5, MPI_COMM_WORLD, &status);
        has_come(length, turn + round, 5, &status);
        /* Now there is room again. */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&request);
}

/* Sends that are kept, of all ways but the buffered: each goes as its blocking form does. */
static void kept(int length, int turn) {
    MPI_Request requests[4];
    MPI_Status status;
    int flag;
    MPI_Send_init(out, length, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(out, length, MPI_INT, next, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Rsend_init(out, length, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[2]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int way = 0; way < 3; way++) {
            fill(turn + round);
            MPI_Recv_init(in, LONG, MPI_INT, last, 6 + way, MPI_COMM_WORLD, &requests[3]);
            /* The synchronous one waits for its receive, and before the ready one it is there. */
            if (way == 1) MPI_Start(&requests[way]);
            else MPI_Start(&requests[3]);
            MPI_Barrier(MPI_COMM_WORLD);
            if (way == 1) {
                MPI_Test(&requests[way], &flag, MPI_STATUS_IGNORE);
                CHECK(!flag);
                MPI_Barrier(MPI_COMM_WORLD);
            }
            MPI_Start(&requests[way == 1 ? 3 : way]);
            MPI_Wait(&requests[3], &status);
            has_come(length, turn + round, 6 + way, &status);
            MPI_Wait(&requests[way], MPI_STATUS_IGNORE);
            MPI_Request_free(&requests[3]);
        }
    }
    for (int way = 0; way < 3; way++) MPI_Request_free(&requests[way]);
}

/* Who asks for some gets each once, with its place. */
static void some(void) {
    enum { COUNT = 6 };
    MPI_Request requests[2 * COUNT];
    MPI_Status statuses[2 * COUNT];
    int places[2 * COUNT], seen[2 * COUNT] = {0}, got[COUNT], count = 0;
    for (int at = 0; at < COUNT; at++) {
        out[at] = value(rank, 0, at);
        MPI_Irecv(&got[at], 1, MPI_INT, last, 10 + at, MPI_COMM_WORLD, &requests[at]);
    }
    for (int at = COUNT - 1; at >= 0; at--)
        MPI_Isend(&out[at], 1, MPI_INT, next, 10 + at, MPI_COMM_WORLD, &requests[COUNT + at]);
    for (int left = 2 * COUNT; left > 0; left -= count) {
        MPI_Testsome(2 * COUNT, requests, &count, places, statuses);
        CHECK(count >= 0 && count <= left);
        for (int at = 0; at < count; at++) {
            int place = places[at];
            CHECK(!seen[place]++ && requests[place] == MPI_REQUEST_NULL);
            if (place < COUNT) CHECK(statuses[at].MPI_TAG == 10 + place);
        }
    }
    for (int at = 0; at < COUNT; at++) CHECK(got[at] == value(last, 0, at));
    MPI_Testsome(2 * COUNT, requests, &count, places, statuses);
    CHECK(count == MPI_UNDEFINED);
}

/* Nobody is sent to, and who is not there. */
static void nowhere(void) {
    MPI_Request requests[7];
    MPI_Comm comm;
    int none = MPI_PROC_NULL;
    CHECK(MPI_Rsend(out, SHORT, MPI_INT, none, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    MPI_Irsend(out, SHORT, MPI_INT, none, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(out, SHORT, MPI_INT, none, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibsend(out, SHORT, MPI_INT, none, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Bsend_init(out, SHORT, MPI_INT, none, 0, MPI_COMM_WORLD, &requests[3]);
    MPI_Ssend_init(out, SHORT, MPI_INT, none, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Rsend_init(out, SHORT, MPI_INT, none, 0, MPI_COMM_WORLD, &requests[5]);
    MPI_Startall(3, &requests[3]);
    MPI_Waitall(3, &requests[3], MPI_STATUSES_IGNORE);
    for (int at = 3; at < 6; at++) MPI_Request_free(&requests[at]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    FAILS(MPI_Rsend(out, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    FAILS(MPI_Irsend(out, -1, MPI_INT, 0, 0, comm, requests), MPI_ERR_COUNT);
    FAILS(MPI_Issend(out, 1, MPI_INT, 0, -5, comm, requests), MPI_ERR_TAG);
    FAILS(MPI_Ibsend(out, 1, MPI_DATATYPE_NULL, 0, 0, comm, requests), MPI_ERR_TYPE);
    FAILS(MPI_Bsend_init(out, 1, MPI_INT, size, 0, comm, requests), MPI_ERR_RANK);
    FAILS(MPI_Ssend_init(out, 1, MPI_INT, -7, 0, comm, requests), MPI_ERR_RANK);
    FAILS(MPI_Rsend_init(out, -1, MPI_INT, 0, 0, comm, requests), MPI_ERR_COUNT);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    int room = 2 * (LONG * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room), *back;
    MPI_Buffer_attach(buffer, room);
    for (int which = 0; which < 3; which++) {
        ready(lengths[which], 0);
        synchronous(lengths[which], 2);
        buffered(lengths[which], 3);
        kept(lengths[which], 6);
    }
    some();
    nowhere();
    MPI_Buffer_detach(&back, &room);
    CHECK(back == buffer);
    free(buffer);
    return end();
}

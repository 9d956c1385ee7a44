/* Requests of the program's own, requests that are looked at and stay, and sends that are begun
   together with a receive. */
#include "check.h"

static int queries, frees, cancels;

static int query(void *extra, MPI_Status *status) {
    queries++;
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 7;
    return MPI_SUCCESS;
}

static int release(void *extra) {
    (void)extra;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) {
    (void)extra;
    CHECK(!complete);
    cancels++;
    return MPI_SUCCESS;
}

static int refuse(void *extra, MPI_Status *status) {
    (void)extra;
    status->MPI_TAG = 9;
    return MPI_ERR_NO_SPACE;
}

/* What the program's own functions say is what waiting says; and each is called as often as due. */
static void of_the_programs_own(void) {
    int number = 5, flag, count;
    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &number, &request);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag && queries == 0);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag && queries == 1 && frees == 0 && status.MPI_TAG == 7);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    CHECK(request == MPI_REQUEST_NULL && count == 5 && status.MPI_SOURCE == 3);
    CHECK(queries == 2 && frees == 1 && cancels == 1);
    /* One that was freed lives until it is complete. */
    MPI_Grequest_start(query, release, cancel, &number, &request);
    MPI_Request same = request;
    MPI_Grequest_complete(same);
    MPI_Request_free(&request);
    CHECK(frees == 2 && queries == 2);
    MPI_Grequest_start(query, release, cancel, &number, &request);
    same = request;
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL && frees == 2);
    MPI_Grequest_complete(same);
    CHECK(frees == 3 && queries == 2);
    /* What its function returns, waiting returns; with several it is in the status, where what it
       has set stands. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Grequest_start(refuse, release, cancel, &number, &request);
    MPI_Grequest_complete(request);
    CHECK(MPI_Wait(&request, &status) == MPI_ERR_NO_SPACE && frees == 4);
    MPI_Grequest_start(refuse, release, cancel, &number, &request);
    MPI_Grequest_complete(request);
    /* Looked at it is the same. */
    flag = status.MPI_TAG = 0;
    CHECK(MPI_Request_get_status(request, &flag, &status) == MPI_ERR_NO_SPACE);
    CHECK(flag && status.MPI_TAG == 9);
    flag = status.MPI_TAG = 0;
    CHECK(MPI_Request_get_status_all(1, &request, &flag, &status) == MPI_ERR_IN_STATUS);
    CHECK(flag && status.MPI_ERROR == MPI_ERR_NO_SPACE && status.MPI_TAG == 9);
    CHECK(MPI_Waitall(1, &request, &status) == MPI_ERR_IN_STATUS);
    CHECK(status.MPI_ERROR == MPI_ERR_NO_SPACE && status.MPI_TAG == 9 && frees == 5);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    /* It is about no communicator, so the world's handler does as well. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Grequest_start(refuse, release, cancel, &number, &request);
    MPI_Grequest_complete(request);
    CHECK(MPI_Wait(&request, &status) == MPI_ERR_NO_SPACE && frees == 6);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Looking at requests leaves them as they are; there is nothing to say of none. */
static void looked_at(void) {
    int out = rank, in[2] = {-1, -1}, index, flag, number, which[2];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[2];
    status.MPI_ERROR = MPI_ERR_OTHER;
    MPI_Request_get_status_any(2, requests, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED && status.MPI_ERROR == MPI_SUCCESS);
    MPI_Request_get_status_some(2, requests, &number, which, statuses);
    CHECK(number == MPI_UNDEFINED);
    statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = MPI_ERR_OTHER;
    MPI_Waitall(2, requests, statuses);
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_SOURCE == MPI_ANY_SOURCE);
    statuses[1].MPI_ERROR = MPI_ERR_OTHER;
    MPI_Testall(2, requests, &flag, statuses);
    CHECK(flag && statuses[1].MPI_ERROR == MPI_SUCCESS);
    MPI_Irecv(&in[0], 1, MPI_INT, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, last, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Request_get_status_all(2, requests, &flag, statuses);
    CHECK(!flag);
    MPI_Send(&out, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    do MPI_Request_get_status_any(2, requests, &index, &flag, &status);
    while (!flag);
    CHECK(index == 1 && status.MPI_TAG == 2 && requests[1] != MPI_REQUEST_NULL);
    MPI_Request_get_status_some(2, requests, &number, which, statuses);
    CHECK(number == 1 && which[0] == 1 && statuses[0].MPI_SOURCE == last);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    /* Where none has failed nothing is said of errors. */
    statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = MPI_ERR_OTHER;
    do MPI_Request_get_status_all(2, requests, &flag, statuses);
    while (!flag);
    CHECK(statuses[0].MPI_TAG == 1 && statuses[1].MPI_TAG == 2);
    CHECK(statuses[0].MPI_ERROR == MPI_ERR_OTHER && statuses[1].MPI_ERROR == MPI_ERR_OTHER);
    MPI_Waitall(2, requests, statuses);
    CHECK(in[0] == last && in[1] == last && statuses[1].MPI_TAG == 2);
}

/* Of several of which one has failed the statuses say which, each time they are looked at. */
static void failed(void) {
    int out[2] = {rank, rank}, in[2], index, flag, number, which[2];
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int at = 0; at < 2; at++) {
        MPI_Irecv(&in[at], 1, MPI_INT, rank, at, MPI_COMM_WORLD, &requests[at]);
        MPI_Send(out, 2 - at, MPI_INT, rank, at, MPI_COMM_WORLD);
    }
    for (int times = 0; times < 2; times++) {
        CHECK(MPI_Request_get_status_all(2, requests, &flag, statuses) == MPI_ERR_IN_STATUS);
        CHECK(flag && statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE && statuses[0].MPI_TAG == 0);
        CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_TAG == 1);
        CHECK(MPI_Request_get_status_some(2, requests, &number, which, statuses) ==
              MPI_ERR_IN_STATUS);
        CHECK(number == 2 && which[0] == 0 && which[1] == 1);
        CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS);
        CHECK(MPI_Request_get_status_any(2, requests, &index, &flag, &status) == MPI_ERR_TRUNCATE);
        CHECK(flag && index == 0 && status.MPI_TAG == 0);
        CHECK(MPI_Request_get_status(requests[0], &flag, &status) == MPI_ERR_TRUNCATE && flag);
    }
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
    CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static MPI_Comm told_of;
static int told;

static void tells(MPI_Comm *comm, int *code, ...) {
    told_of = *comm;
    told = *code;
    *code = MPI_SUCCESS;
}

/* The handler of the first that has failed is told of its error, and not that there are some in
   the statuses, which the call says whatever the handler does. */
static void handled(void) {
    int out[2] = {1, 2}, in[2], count, which[2], flag, code;
    MPI_Comm comms[2];
    MPI_Request requests[2];
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(tells, &handler);
    for (int at = 0; at < 2; at++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comms[at]);
        MPI_Comm_set_errhandler(comms[at], handler);
    }
    for (int way = 0; way < 2; way++) {
        for (int at = 0; at < 2; at++) {
            MPI_Irecv(&in[at], 1, MPI_INT, 0, 0, comms[at], &requests[at]);
            MPI_Send(out, 2, MPI_INT, 0, 0, comms[at]);
        }
        /* Each may be looked at before, and that is told of the first, too. */
        do code = MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE);
        while (!flag);
        CHECK(code == MPI_ERR_IN_STATUS);
        CHECK(told == MPI_ERR_TRUNCATE && told_of == comms[0]);
        told_of = MPI_COMM_NULL;
        MPI_Request_get_status_some(2, requests, &count, which, MPI_STATUSES_IGNORE);
        CHECK(count == 2 && told_of == comms[which[0]]);
        told = MPI_SUCCESS;
        CHECK((way ? MPI_Waitsome(2, requests, &count, which, MPI_STATUSES_IGNORE)
                   : MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)) == MPI_ERR_IN_STATUS);
        CHECK(told == MPI_ERR_TRUNCATE && told_of == comms[way ? which[0] : 0]);
        if (way && count == 1)
            CHECK(MPI_Wait(&requests[1 - which[0]], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    for (int at = 0; at < 2; at++) MPI_Comm_free(&comms[at]);
    MPI_Errhandler_free(&handler);
}

/* All ranks of a ring send and receive at once, into another buffer and into the same. */
static void around(void) {
    enum { MANY = 70000 };
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int *out = malloc(MANY * sizeof *out), *in = malloc(MANY * sizeof *in);
    MPI_Request request;
    MPI_Status status;
    for (int at = 0; at < MANY; at++) out[at] = rank * 1000 + at;
    MPI_Isendrecv(out, MANY, MPI_INT, next, 4, in, MANY, MPI_INT, last, 4, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == last && status.MPI_TAG == 4);
    for (int at = 0; at < MANY; at++) CHECK(in[at] == last * 1000 + at);
    MPI_Isendrecv_replace(out, MANY, MPI_INT, next, 5, last, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    for (int at = 0; at < MANY; at++) CHECK(out[at] == last * 1000 + at);
    MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 5, in, 1, MPI_INT, MPI_PROC_NULL, 5,
                  MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    free(out);
    free(in);
}

/* Buffers that are told apart by their datatypes only. */
static void from_the_bottom(void) {
    int *out = malloc((size_t)size * sizeof *out), *in = malloc((size_t)size * sizeof *in);
    int *ones = malloc((size_t)size * sizeof *ones), *zeros = calloc((size_t)size, sizeof *zeros);
    MPI_Datatype *sent = malloc((size_t)size * sizeof *sent);
    MPI_Datatype *received = malloc((size_t)size * sizeof *received);
    for (int peer = 0; peer < size; peer++) {
        MPI_Aint from, into;
        out[peer] = rank * 100 + peer;
        ones[peer] = 1;
        MPI_Get_address(&out[peer], &from);
        MPI_Get_address(&in[peer], &into);
        MPI_Type_create_hindexed_block(1, 1, &from, MPI_INT, &sent[peer]);
        MPI_Type_create_hindexed_block(1, 1, &into, MPI_INT, &received[peer]);
        MPI_Type_commit(&sent[peer]);
        MPI_Type_commit(&received[peer]);
    }
    MPI_Alltoallw(MPI_BOTTOM, ones, zeros, sent, MPI_BOTTOM, ones, zeros, received, MPI_COMM_WORLD);
    for (int peer = 0; peer < size; peer++) {
        CHECK(in[peer] == peer * 100 + rank);
        MPI_Type_free(&sent[peer]);
        MPI_Type_free(&received[peer]);
    }
    free(out), free(in), free(ones), free(zeros), free(sent), free(received);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    of_the_programs_own();
    looked_at();
    failed();
    handled();
    around();
    from_the_bottom();
    return end();
}

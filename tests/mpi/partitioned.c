/* Messages in partitions: both sides may cut them differently, and each part is ready by itself. */
#include "check.h"

enum { N = 48 };

static int next, last;

/* Several rounds, of parts that are sent as many and received as others, of so many ints in all. */
static void around(int sent, int received, int all, MPI_Comm comm) {
    int *out = calloc((size_t)all, sizeof(int)), *in = calloc((size_t)all, sizeof(int));
    int flag, bytes;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Psend_init(out, sent, all / sent, MPI_INT, next, 7, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, received, all / received, MPI_INT, last, 7, comm, MPI_INFO_NULL,
                   &requests[1]);
    for (int round = 0; round < 4; round++) {
        for (int at = 0; at < all; at++) out[at] = rank * 10000 + round * 1000 + at % 1000;
        memset(in, -1, (size_t)all * sizeof(int));
        MPI_Startall(2, requests);
        /* The last first. */
        for (int part = sent - 1; part >= 0; part--) MPI_Pready(part, requests[0]);
        for (int part = 0; part < received; part++) {
            do MPI_Parrived(requests[1], part, &flag);
            while (!flag);
            for (int at = part * (all / received); at < (part + 1) * (all / received); at++) {
                CHECK(in[at] == last * 10000 + round * 1000 + at % 1000);
            }
        }
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[1], MPI_INT, &bytes);
        CHECK(bytes == all && statuses[1].MPI_SOURCE == last && statuses[1].MPI_TAG == 7);
        MPI_Parrived(requests[1], 0, &flag);
        CHECK(flag && requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    free(out);
    free(in);
}

/* The offer for a receive that was freed before it came is not for the next one. */
static void freed_before_its_offer(void) {
    int out[2] = {rank, rank + 1}, in[2] = {-1, -1};
    MPI_Request unused, requests[2];
    MPI_Precv_init(in, 1, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &unused);
    MPI_Request_free(&unused);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Psend_init(out, 1, 1, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &unused);
    MPI_Psend_init(&out[1], 1, 1, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&in[1], 1, 1, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == -1 && in[1] == last + 1);
    MPI_Request_free(&unused);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* A part that is not ready has not come. All come while another message is waited for. */
static void in_order(void) {
    int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {-1, -1, -1, -1}, flag, list[] = {1};
    MPI_Request send, receive;
    MPI_Precv_init(in, 4, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    MPI_Start(&receive);
    MPI_Psend_init(out, 4, 1, MPI_INT, next, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Start(&send);
    MPI_Pready_range(2, 3, send);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Parrived(receive, 1, &flag);
    CHECK(!flag);
    MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pready_list(1, list, send);
    MPI_Pready(0, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Send(out, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Recv(&flag, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    for (int at = 0; at < 4; at++) CHECK(in[at] == last + at);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

/* Of one tag the first send meets the first receive, whatever is started first. */
static void pairs(void) {
    int out[3], in[3];
    MPI_Request requests[6];
    for (int at = 0; at < 3; at++) {
        out[at] = rank * 10 + at;
        MPI_Psend_init(&out[at], 1, 1, MPI_INT, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[at]);
        MPI_Precv_init(&in[at], 1, 1, MPI_INT, last, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[5 - at]);
    }
    MPI_Startall(6, requests);
    for (int at = 2; at >= 0; at--) MPI_Pready(0, requests[at]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < 3; at++) CHECK(in[at] == last * 10 + at);
    for (int at = 0; at < 6; at++) MPI_Request_free(&requests[at]);
}

/* Every second int of the sender, and the first bytes of the receiver's pairs. */
static void derived(void) {
    int out[2 * N], in[2 * N];
    MPI_Datatype every, pair;
    MPI_Request requests[2];
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every);
    MPI_Type_contiguous(3, every, &pair);
    MPI_Type_commit(&every);
    MPI_Type_commit(&pair);
    for (int at = 0; at < 2 * N; at++) out[at] = rank * 1000 + at, in[at] = -1;
    MPI_Psend_init(out, 4, N / 4 / 3, pair, next, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, N / 2, 2, every, last, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 3, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < 2 * N; at++) CHECK(in[at] == (at % 2 ? -1 : last * 1000 + at));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    /* Elements that are cut in the middle. */
    MPI_Psend_init(out, 5, N / 4 * sizeof(int) / 4, MPI_BYTE, next, 2, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 1, 5, pair, last, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 4, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < 15; at++) CHECK(in[2 * at] == last * 1000 + at);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&every);
    MPI_Type_free(&pair);
}

/* What goes wrong, and what goes nowhere. */
static void errors(void) {
    int in[4], out[8], flag;
    MPI_Request send, receive;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int code = MPI_Psend_init(out, -1, 1, MPI_INT, next, 0, comm, MPI_INFO_NULL, &send);
    CHECK(class_of(code) == MPI_ERR_ARG);
    code = MPI_Precv_init(in, 1, 4, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_INFO_NULL, &receive);
    CHECK(class_of(code) == MPI_ERR_RANK);
    MPI_Psend_init(out, 2, 4, MPI_INT, next, 0, comm, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, 2, 2, MPI_INT, last, 0, comm, MPI_INFO_NULL, &receive);
    CHECK(class_of(MPI_Pready(0, send)) == MPI_ERR_REQUEST);
    MPI_Start(&send);
    MPI_Start(&receive);
    CHECK(class_of(MPI_Pready(2, send)) == MPI_ERR_ARG);
    CHECK(MPI_Pready(0, send) == MPI_SUCCESS);
    CHECK(class_of(MPI_Pready(0, send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Parrived(send, 0, &flag)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Parrived(receive, 2, &flag)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Wait(&receive, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    MPI_Pready(1, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    MPI_Comm_free(&comm);
    MPI_Psend_init(out, 2, 4, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Start(&send);
    MPI_Pready_range(0, 1, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    next = (rank + 1) % size;
    last = (rank + size - 1) % size;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    around(1, 1, N, MPI_COMM_WORLD);
    around(4, 4, N, copy);
    around(6, 4, N, MPI_COMM_WORLD);
    around(3, 16, N, copy);
    around(3, 2, 100000 * 6, MPI_COMM_WORLD);
    MPI_Comm_free(&copy);
    freed_before_its_offer();
    in_order();
    pairs();
    derived();
    errors();
    return end();
}

/* Every collective in each of its forms: blocking, begun and kept, with parts of different lengths
 * and datatypes, in place, with large counts, and with arguments that are wrong. */
#include "check.h"

enum { MOST = 64 };
static int me, all;
static int counts[MOST], places[MOST], own[4096], every[4096], into[4096];

/* What rank `from` has for rank `to`, element `at`. */
static int value(int from, int to, int at) { return from * 10000 + to * 100 + at; }

/* The parts of rank `by`: one element more for each rank, with a gap behind each. */
static int lay_out(int by) {
    int total = 0;
    for (int other = 0; other < all; other++) {
        counts[other] = (by + other) % 5;
        places[other] = total;
        total += counts[other] + 1;
    }
    return total;
}

static void clear(int *numbers) {
    for (int at = 0; at < 4096; at++) numbers[at] = -1;
}

#define GAPS(numbers)                                                                   \
    for (int other = 0; other < all; other++)                                           \
        CHECK((numbers)[places[other] + counts[other]] == -1)

static void gathered(void) {
    for (int other = 0; other < all; other++)
        for (int at = 0; at < counts[other]; at++)
            CHECK(every[places[other] + at] == value(other, 0, at));
    GAPS(every);
}

/* Gather and scatter, all-gather, with each rank's own length. */
static void lengths(MPI_Comm comm) {
    MPI_Request request;
    for (int root = 0; root < all; root++) {
        lay_out(0);
        for (int at = 0; at < counts[me]; at++) own[at] = value(me, 0, at);
        clear(every);
        MPI_Gatherv(own, counts[me], MPI_INT, every, counts, places, MPI_INT, root, comm);
        if (me == root) gathered();
        for (int other = 0; me == root && other < all; other++)
            if (other != me) every[places[other]] = counts[other] ? -2 : -1;
        if (me == root)
            MPI_Igatherv(MPI_IN_PLACE, 0, MPI_INT, every, counts, places, MPI_INT, root, comm,
                         &request);
        else
            MPI_Igatherv(own, counts[me], MPI_INT, NULL, NULL, NULL, MPI_INT, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (me == root) gathered();
        clear(into);
        MPI_Scatterv(every, counts, places, MPI_INT, into, counts[me], MPI_INT, root, comm);
        for (int at = 0; at < counts[me]; at++) CHECK(into[at] == own[at]);
        CHECK(into[counts[me]] == -1);
        clear(into);
        MPI_Iscatterv(every, counts, places, MPI_INT, me == root ? MPI_IN_PLACE : into, counts[me],
                      MPI_INT, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int at = 0; me != root && at < counts[me]; at++) CHECK(into[at] == own[at]);
    }
    clear(every);
    MPI_Allgatherv(own, counts[me], MPI_INT, every, counts, places, MPI_INT, comm);
    gathered();
    clear(every);
    for (int at = 0; at < counts[me]; at++) every[places[me] + at] = own[at];
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, every, counts, places, MPI_INT, comm,
                    &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    gathered();
}

static void exchanged(const int *numbers) {
    for (int other = 0; other < all; other++)
        for (int at = 0; at < counts[other]; at++)
            CHECK(numbers[places[other] + at] == value(other, me, at));
    GAPS(numbers);
}

/* All-to-all: the same lengths both ways, so that it can be in place. */
static void exchanges(MPI_Comm comm) {
    MPI_Request request;
    MPI_Datatype types[MOST];
    int bytes[MOST];
    lay_out(me);
    clear(own), clear(into), clear(every);
    for (int other = 0; other < all; other++) {
        types[other] = other % 2 == me % 2 ? MPI_INT : MPI_UNSIGNED;
        if (counts[other] == 0) types[other] = MPI_DATATYPE_NULL;
        bytes[other] = places[other] * (int)sizeof(int);
        for (int at = 0; at < counts[other]; at++)
            own[places[other] + at] = every[places[other] + at] = value(me, other, at);
    }
    MPI_Alltoallv(own, counts, places, MPI_INT, into, counts, places, MPI_INT, comm);
    exchanged(into);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, every, counts, places, MPI_INT,
        comm);
    exchanged(every);
    clear(into);
    MPI_Ialltoallw(own, counts, bytes, types, into, counts, bytes, types, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchanged(into);
    memcpy(into, own, sizeof own);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, into, counts, bytes, types, comm);
    exchanged(into);
    for (int other = 0; other < all; other++)
        for (int at = 0; at < 2; at++) every[2 * other + at] = value(me, other, at);
    MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, every, 2, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int at = 0; at < 2 * all; at++) CHECK(every[at] == value(at / 2, me, at % 2));
}

/* Sums of `me + at`, for so many ranks. */
static int sum(int ranks, int at) { return ranks * (ranks - 1) / 2 + ranks * at; }

static void fill(int *numbers, int count) {
    for (int at = 0; at < count; at++) numbers[at] = me + at;
}

static void reductions(MPI_Comm comm) {
    enum { COUNT = 5 };
    MPI_Request requests[3];
    for (int root = 0; root < all; root++) {
        fill(into, COUNT);
        MPI_Reduce(me == root ? MPI_IN_PLACE : into, into, COUNT, MPI_INT, MPI_SUM, root, comm);
        for (int at = 0; me == root && at < COUNT; at++) CHECK(into[at] == sum(all, at));
        for (int at = 0; me != root && at < COUNT; at++) CHECK(into[at] == me + at);
        fill(own, COUNT);
        MPI_Ireduce(own, me == root ? into : NULL, COUNT, MPI_INT, MPI_MAX, root, comm, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        for (int at = 0; me == root && at < COUNT; at++) CHECK(into[at] == all - 1 + at);
    }
    int total = lay_out(0) - all, before = 0;
    for (int other = 0; other < me; other++) before += counts[other];
    fill(own, total), fill(every, total), clear(into);
    MPI_Reduce_scatter(own, into, counts, MPI_INT, MPI_SUM, comm);
    MPI_Ireduce_scatter(MPI_IN_PLACE, every, counts, MPI_INT, MPI_SUM, comm, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    for (int at = 0; at < counts[me]; at++)
        CHECK(into[at] == sum(all, before + at) && every[at] == into[at]);
    CHECK(into[counts[me]] == -1);
    fill(every, 2 * all);
    MPI_Ireduce_scatter_block(MPI_IN_PLACE, every, 2, MPI_INT, MPI_SUM, comm, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    for (int at = 0; at < 2; at++) CHECK(every[at] == sum(all, 2 * me + at));
    fill(into, COUNT), fill(every, COUNT), fill(own, COUNT);
    MPI_Scan(MPI_IN_PLACE, into, COUNT, MPI_INT, MPI_SUM, comm);
    MPI_Iexscan(MPI_IN_PLACE, every, COUNT, MPI_INT, MPI_SUM, comm, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    for (int at = 0; at < COUNT; at++) {
        CHECK(into[at] == sum(me + 1, at));
        CHECK(every[at] == (me == 0 ? at : sum(me, at)));
    }
    MPI_Reduce_local(own, into, COUNT, MPI_INT, MPI_SUM);
    for (int at = 0; at < COUNT; at++) CHECK(into[at] == sum(me + 1, at) + me + at);
}

#if MPI_VERSION >= 4
/* Kept collectives, started in one order here and in another one there. */
static void kept(MPI_Comm comm) {
    enum { COUNT = 300 };
    static int sums[COUNT], most[COUNT], told[COUNT];
    MPI_Request requests[6];
    MPI_Allreduce_init(own, sums, COUNT, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(own, most, COUNT, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Bcast_init(told, COUNT, MPI_INT, all - 1, comm, MPI_INFO_NULL, &requests[2]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[3]);
    MPI_Alltoall_init(every, 1, MPI_INT, into, 1, MPI_INT, comm, MPI_INFO_NULL, &requests[4]);
    MPI_Scan_init(own, into + MOST, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[5]);
    for (int turn = 0; turn < 5; turn++) {
        for (int at = 0; at < COUNT; at++) own[at] = me + at + turn, told[at] = me * turn + at;
        for (int other = 0; other < all; other++) every[other] = value(me, other, turn);
        for (int at = 0; at < 6; at++) MPI_Start(&requests[me % 2 ? at : 5 - at]);
        MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
        for (int at = 0; at < COUNT; at++) {
            CHECK(sums[at] == sum(all, at + turn) && most[at] == all - 1 + at + turn);
            CHECK(told[at] == (all - 1) * turn + at);
        }
        CHECK(into[MOST] == sum(me + 1, turn));
        for (int other = 0; other < all; other++) CHECK(into[other] == value(other, me, turn));
    }
    for (int at = 0; at < 6; at++) MPI_Request_free(&requests[at]);
}

static void add(void *from, void *to, MPI_Count *count, MPI_Datatype *type) {
    CHECK(*type == MPI_INT);
    for (MPI_Count at = 0; at < *count; at++) ((int *)to)[at] += ((int *)from)[at];
}

/* Large counts. */
static void large(MPI_Comm comm) {
    MPI_Count many[MOST];
    MPI_Aint far[MOST];
    MPI_Request request;
    MPI_Op op;
    lay_out(0);
    for (int other = 0; other < all; other++) many[other] = counts[other], far[other] =
        places[other];
    for (int at = 0; at < counts[me]; at++) own[at] = value(me, 0, at);
    clear(every);
    MPI_Iallgatherv_c(own, many[me], MPI_INT, every, many, far, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    gathered();
    fill(own, 5);
    MPI_Op_create_c(add, 1, &op);
    MPI_Allreduce_c(own, into, 5, MPI_INT, op, comm);
    for (int at = 0; at < 5; at++) CHECK(into[at] == sum(all, at));
    MPI_Op_free(&op);
}
#endif

/* What every library refuses, and that all goes on behind it. */
static void refused(MPI_Comm comm) {
    int number = me;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_Bcast(&number, 1, MPI_INT, all, comm), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(&number, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(&number, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    FAILS(MPI_Bcast(&number, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
    FAILS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Allreduce(own, into, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    FAILS(MPI_Allreduce(own, into, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
#if MPI_VERSION >= 4
    FAILS(MPI_Allreduce(own, own, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    /* On the first rank as well, though it gets nothing: or the others would not have begun. */
    FAILS(MPI_Exscan(own, own, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Allreduce(own, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
#endif
    MPI_Allreduce(&number, into, 1, MPI_INT, MPI_SUM, comm);
    CHECK(into[0] == sum(all, 0));
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, reversed};
    for (int which = 0; which < 3; which++) {
        MPI_Comm_rank(comms[which], &me);
        MPI_Comm_size(comms[which], &all);
        lengths(comms[which]);
        exchanges(comms[which]);
        reductions(comms[which]);
#if MPI_VERSION >= 4
        kept(comms[which]);
        large(comms[which]);
#endif
    }
    refused(reversed);
    MPI_Comm_free(&reversed);
    return end();
}

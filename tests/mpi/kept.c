/* Collectives that are kept and started again and again, and the begun ones that have no other
 * program: each with what the blocking form would give, computed by plain loops. */
#include "check.h"

enum { MOST = 64, ROOM = 1024, ROUNDS = 3 };
static MPI_Comm comm;
static int me, all, own[ROOM], every[ROOM], into[ROOM];
static int counts[MOST], places[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

/* What rank `from` has for rank `to` in a round. */
static int value(int from, int to, int round, int at) {
    return from * 10000 + to * 100 + round * 10 + at;
}

static void clear(int *numbers) {
    for (int at = 0; at < ROOM; at++) numbers[at] = -1;
}

/* One element more for each rank, with a gap behind each, the last rank's part first. */
static void lay_out(int by) {
    int total = 0;
    for (int other = all - 1; other >= 0; other--) {
        counts[other] = (by + other) % 4;
        places[other] = total;
        bytes[other] = total * (int)sizeof(int);
        types[other] = MPI_INT;
        total += counts[other] + 1;
    }
}

/* Starts a request and waits for it. */
static void once(MPI_Request *request) {
    MPI_Start(request);
    CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS && *request != MPI_REQUEST_NULL);
}

/* Ends a request: begun ones have ended by themselves. */
static void free_all(MPI_Request *requests, int count) {
    for (int at = 0; at < count; at++) MPI_Request_free(&requests[at]);
}

/* The same number of elements for each. */
static void same_lengths(int root) {
    MPI_Request requests[4], begun;
    MPI_Gather_init(own, 2, MPI_INT, every, 2, MPI_INT, root, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Scatter_init(every, 2, MPI_INT, into, 2, MPI_INT, root, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Allgather_init(own, 2, MPI_INT, every, 2, MPI_INT, comm, MPI_INFO_NULL, &requests[2]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int at = 0; at < 2; at++) own[at] = value(me, root, round, at);
        for (int way = 0; way < 3; way++) {
            clear(every);
            if (way == 0) once(&requests[0]);
            if (way == 1) once(&requests[2]);
            if (way == 2) {
                MPI_Igather(own, 2, MPI_INT, every, 2, MPI_INT, root, comm, &begun);
                MPI_Wait(&begun, MPI_STATUS_IGNORE);
            }
            for (int at = 0; at < 2 * all; at++) {
                int wanted = me == root || way == 1 ? value(at / 2, root, round, at % 2) : -1;
                CHECK(every[at] == wanted);
            }
            CHECK(every[2 * all] == -1);
        }
        for (int at = 0; at < 2 * all; at++) every[at] = value(me, at / 2, round, at % 2);
        clear(into);
        once(&requests[1]);
        for (int at = 0; at < 2; at++) CHECK(into[at] == value(root, me, round, at));
        clear(into);
        MPI_Iscatter(every, 2, MPI_INT, into, 2, MPI_INT, root, comm, &begun);
        MPI_Wait(&begun, MPI_STATUS_IGNORE);
        for (int at = 0; at < 2; at++) CHECK(into[at] == value(root, me, round, at));
        CHECK(into[2] == -1);
    }
    free_all(requests, 3);
}

/* The parts of all ranks, and the gaps between them. */
static void has_parts(const int *numbers, int to, int round) {
    for (int other = 0; other < all; other++) {
        for (int at = 0; at < counts[other]; at++)
            CHECK(numbers[places[other] + at] == value(other, to, round, at));
        CHECK(numbers[places[other] + counts[other]] == -1);
    }
}

/* Each has its own length. */
static void own_lengths(int root) {
    MPI_Request requests[3];
    lay_out(0);
    MPI_Gatherv_init(own, counts[me], MPI_INT, every, counts, places, MPI_INT, root, comm,
                     MPI_INFO_NULL, &requests[0]);
    MPI_Scatterv_init(every, counts, places, MPI_INT, into, counts[me], MPI_INT, root, comm,
                      MPI_INFO_NULL, &requests[1]);
    MPI_Allgatherv_init(own, counts[me], MPI_INT, every, counts, places, MPI_INT, comm,
                        MPI_INFO_NULL, &requests[2]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int at = 0; at < counts[me]; at++) own[at] = value(me, root, round, at);
        clear(every);
        once(&requests[0]);
        if (me == root) has_parts(every, root, round);
        else CHECK(every[0] == -1 && every[1] == -1);
        clear(every);
        once(&requests[2]);
        has_parts(every, root, round);
        for (int other = 0; other < all; other++)
            for (int at = 0; at < counts[other]; at++)
                every[places[other] + at] = value(me, other, round, at);
        clear(into);
        once(&requests[1]);
        for (int at = 0; at < counts[me]; at++) CHECK(into[at] == value(root, me, round, at));
        CHECK(into[counts[me]] == -1);
    }
    free_all(requests, 3);
}

/* From each to each: both have the same lengths. */
static void exchanges(void) {
    MPI_Request requests[2], begun;
    lay_out(me);
    MPI_Alltoallv_init(own, counts, places, MPI_INT, into, counts, places, MPI_INT, comm,
                       MPI_INFO_NULL, &requests[0]);
    MPI_Alltoallw_init(own, counts, bytes, types, into, counts, bytes, types, comm,
                       MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < ROUNDS; round++) {
        clear(own);
        for (int other = 0; other < all; other++)
            for (int at = 0; at < counts[other]; at++)
                own[places[other] + at] = value(me, other, round, at);
        for (int way = 0; way < 2; way++) {
            clear(into);
            once(&requests[way]);
            has_parts(into, me, round);
        }
        clear(into);
        MPI_Ialltoallv(own, counts, places, MPI_INT, into, counts, places, MPI_INT, comm, &begun);
        MPI_Wait(&begun, MPI_STATUS_IGNORE);
        has_parts(into, me, round);
        memcpy(into, own, sizeof own);
        MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, into, counts, places, MPI_INT,
                       comm, &begun);
        MPI_Wait(&begun, MPI_STATUS_IGNORE);
        has_parts(into, me, round);
    }
    free_all(requests, 2);
}

/* What the first so many ranks have at a place, added up. */
static int sum(int ranks, int round, int at) {
    int total = 0;
    for (int other = 0; other < ranks; other++) total += other * 3 + round + at;
    return total;
}

static void reductions(int root) {
    MPI_Request requests[4];
    lay_out(1);
    int total = 0, before = 0;
    for (int other = 0; other < all; other++) total += counts[other];
    for (int other = 0; other < me; other++) before += counts[other];
    MPI_Reduce_init(own, into, 5, MPI_INT, MPI_SUM, root, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Exscan_init(own, into, 5, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[1]);
    MPI_Reduce_scatter_init(own, into, counts, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[2]);
    MPI_Reduce_scatter_block_init(own, into, 2, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                                  &requests[3]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int at = 0; at < ROOM; at++) own[at] = me * 3 + round + at;
        clear(into);
        once(&requests[0]);
        for (int at = 0; at < 5; at++) CHECK(into[at] == (me == root ? sum(all, round, at) : -1));
        clear(into);
        once(&requests[1]);
        /* What the first rank has is not said. */
        for (int at = 0; me > 0 && at < 5; at++) CHECK(into[at] == sum(me, round, at));
        CHECK(into[5] == -1 && total < ROOM);
        clear(into);
        once(&requests[2]);
        for (int at = 0; at < counts[me]; at++) CHECK(into[at] == sum(all, round, before + at));
        CHECK(into[counts[me]] == -1);
        clear(into);
        once(&requests[3]);
        for (int at = 0; at < 2; at++) CHECK(into[at] == sum(all, round, 2 * me + at));
        CHECK(into[2] == -1);
    }
    free_all(requests, 4);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, reversed};
    for (int which = 0; which < 3; which++) {
        comm = comms[which];
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &all);
        for (int root = 0; root < all; root++) {
            same_lengths(root);
            own_lengths(root);
            reductions(root);
        }
        exchanges();
    }
    MPI_Comm_free(&reversed);
    return end();
}

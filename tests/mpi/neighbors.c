/* Collectives of neighbours: in grids, also in small ones that close, and in graphs. */
#include "check.h"

enum { MOST = 72 };

/* What a rank tells: itself, and by which edge. */
static int word(int from, int edge) { return from * 100 + edge; }

/* In a ring what one sends down comes from above, also where both are the same rank. */
static void ring(MPI_Comm comm, int sides[2]) {
    int out[2] = {word(rank, 0), word(rank, 1)}, in[2] = {-1, -1};
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int side = 0; side < 2; side++)
        CHECK(in[side] == (sides[side] == MPI_PROC_NULL ? -1 : word(sides[side], !side)));
    in[0] = in[1] = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int side = 0; side < 2; side++)
        CHECK(in[side] == (sides[side] == MPI_PROC_NULL ? -1 : sides[side]));
}

static void grids(void) {
    for (int closes = 0; closes < 2; closes++) {
        MPI_Comm comm;
        int sides[2];
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &closes, 0, &comm);
        MPI_Cart_shift(comm, 0, 1, &sides[0], &sides[1]);
        ring(comm, sides);
        MPI_Comm_free(&comm);
    }
}

/* Everybody has an edge to everybody, itself too, and two to the next: begun, kept, and with
   different lengths and datatypes. */
static void graph(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size, edges = size + 1;
    int to[MOST], from[MOST], out[MOST], in[MOST], counts[MOST], places[MOST];
    MPI_Aint bytes[MOST];
    MPI_Datatype types[MOST];
    MPI_Comm comm;
    MPI_Request request;
    for (int at = 0; at < size; at++) to[at] = from[at] = at;
    to[size] = next;
    from[size] = last;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, from, MPI_UNWEIGHTED, edges, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    for (int at = 0; at < edges; at++) {
        out[at] = word(rank, at);
        counts[at] = 1;
        places[at] = edges - 1 - at;
        bytes[at] = (MPI_Aint)(at * sizeof(int));
        types[at] = MPI_INT;
    }
    memset(in, 255, sizeof in);
    MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm,
                            &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* The first of the two edges to the next carries what is the first for it. */
    for (int at = 0; at < size; at++) CHECK(in[places[at]] == word(at, edges - 1 - rank));
    CHECK(in[places[size]] == word(last, 0));
    memset(in, 255, sizeof in);
    MPI_Neighbor_alltoallw_init(out, counts, bytes, types, in, counts, bytes, types, comm,
                                MPI_INFO_NULL, &request);
    for (int again = 0; again < 3; again++) {
        for (int at = 0; at < edges; at++) out[at] = word(rank, at) + again;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int at = 0; at < size; at++) CHECK(in[at] == word(at, rank) + again);
        CHECK(in[size] == word(last, size) + again);
    }
    MPI_Request_free(&request);
    /* Displacements may be addresses. */
    MPI_Aint sent[MOST], received[MOST];
    for (int at = 0; at < edges; at++) {
        MPI_Get_address(&out[at], &sent[at]);
        MPI_Get_address(&in[at], &received[at]);
    }
    memset(in, 255, sizeof in);
    MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, sent, types, MPI_BOTTOM, counts, received, types,
                           comm);
    for (int at = 0; at < size; at++) CHECK(in[at] == word(at, rank) + 2);
    MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, in, counts, places, MPI_INT, comm);
    for (int at = 0; at < edges; at++) CHECK(in[places[at]] == from[at]);
    MPI_Comm_free(&comm);
}

/* Who has no neighbours on a side sends nothing there, and needs no buffer. */
static void ends(void) {
    int first = 0, last = size - 1, has[2] = {rank > 0, rank < last}, got = -1;
    int from = rank - 1, to = rank + 1;
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, has[0], &from, MPI_UNWEIGHTED, has[1], &to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_allgather(has[1] ? &rank : NULL, 1, MPI_INT, has[0] ? &got : NULL, 1, MPI_INT,
                           comm);
    CHECK(got == (rank > first ? rank - 1 : -1));
    got = -1;
    MPI_Neighbor_alltoall(has[1] ? &rank : NULL, 1, MPI_INT, has[0] ? &got : NULL, 1, MPI_INT,
                          comm);
    CHECK(got == (rank > first ? rank - 1 : -1));
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    grids();
    graph();
    ends();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, &size, 1, MPI_INT, MPI_COMM_WORLD) ==
          MPI_ERR_TOPOLOGY);
    return end();
}

/* Collectives of neighbours, begun, kept and with lengths of their own, in a graph whose edges are
 * known to both ends: from each rank to the ones that follow it, as many as its number says. */
#include "check.h"

enum { MOST = 64, ROOM = 1024, ROUNDS = 3 };
static MPI_Comm comm;
static int to[MOST], from[MOST], ins, outs;
static int out[ROOM], in[ROOM];
static int sent[MOST], received[MOST], out_at[MOST], in_at[MOST];

/* How many edges a rank has to others, and the one at a place. */
static int edges_of(int other) { return other % 3; }
static int edge_of(int other, int at) { return (other + at + 1) % size; }

/* How many elements go over an edge, and what. */
static int length(int source, int edge) { return (source + edge) % 3 + 1; }
static int value(int source, int edge, int round, int at) {
    return source * 10000 + edge * 100 + round * 10 + at;
}

/* The edge of its source that an edge of ours is: the first of those that are left. */
static int edge_at[MOST];

/* In the order of their sources; of one source, as that has them. */
static void build(void) {
    ins = outs = 0;
    for (; outs < edges_of(rank); outs++) to[outs] = edge_of(rank, outs);
    for (int other = 0; other < size; other++)
        for (int at = 0; at < edges_of(other); at++)
            if (edge_of(other, at) == rank) from[ins] = other, edge_at[ins++] = at;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, MPI_UNWEIGHTED, outs, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
}

static void clear(void) {
    for (int at = 0; at < ROOM; at++) in[at] = -1;
}

/* Starts what is kept, or waits for what is begun. */
static void once(MPI_Request *request, int is_kept) {
    if (is_kept) MPI_Start(request);
    CHECK(MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK((*request == MPI_REQUEST_NULL) == !is_kept);
}

/* What comes over each edge, two elements each. */
static void pairs_have_come(int round, int is_same) {
    for (int edge = 0; edge < ins; edge++)
        for (int at = 0; at < 2; at++) {
            int wanted = value(from[edge], is_same ? 0 : edge_at[edge], round, at);
            CHECK(in[2 * edge + at] == wanted);
        }
    CHECK(in[2 * ins] == -1);
}

/* The same length for all. */
static void same_lengths(void) {
    MPI_Request kept[2], begun;
    MPI_Neighbor_allgather_init(out, 2, MPI_INT, in, 2, MPI_INT, comm, MPI_INFO_NULL, &kept[0]);
    MPI_Neighbor_alltoall_init(out, 2, MPI_INT, in, 2, MPI_INT, comm, MPI_INFO_NULL, &kept[1]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int edge = 0; edge <= outs; edge++)
            for (int at = 0; at < 2; at++) out[2 * edge + at] = value(rank, edge, round, at);
        clear();
        once(&kept[0], 1);
        pairs_have_come(round, 1);
        clear();
        once(&kept[1], 1);
        pairs_have_come(round, 0);
        clear();
        MPI_Ineighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, comm, &begun);
        once(&begun, 0);
        pairs_have_come(round, 1);
        clear();
        MPI_Ineighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm, &begun);
        once(&begun, 0);
        pairs_have_come(round, 0);
    }
    MPI_Request_free(&kept[0]);
    MPI_Request_free(&kept[1]);
}

/* The parts lie one behind the other, the last edge's first, with a gap behind each. */
static void lay_out(void) {
    int total = 0;
    for (int edge = outs - 1; edge >= 0; edge--) {
        sent[edge] = length(rank, edge);
        out_at[edge] = total;
        total += sent[edge] + 1;
    }
    total = 0;
    for (int edge = ins - 1; edge >= 0; edge--) {
        received[edge] = length(from[edge], edge_at[edge]);
        in_at[edge] = total;
        total += received[edge] + 1;
    }
}

static void parts_have_come(int round) {
    for (int edge = 0; edge < ins; edge++) {
        for (int at = 0; at < received[edge]; at++)
            CHECK(in[in_at[edge] + at] == value(from[edge], edge_at[edge], round, at));
        CHECK(in[in_at[edge] + received[edge]] == -1);
    }
}

/* Each edge has its own length, place and datatype. */
static void own_lengths(void) {
    MPI_Request kept, begun;
    MPI_Aint out_bytes[MOST], in_bytes[MOST];
    MPI_Datatype types[MOST];
    for (int at = 0; at < MOST; at++) types[at] = MPI_INT;
    for (int at = 0; at < outs; at++) out_bytes[at] = out_at[at] * (MPI_Aint)sizeof(int);
    for (int at = 0; at < ins; at++) in_bytes[at] = in_at[at] * (MPI_Aint)sizeof(int);
    MPI_Neighbor_alltoallv_init(out, sent, out_at, MPI_INT, in, received, in_at, MPI_INT, comm,
                                MPI_INFO_NULL, &kept);
    for (int round = 0; round < ROUNDS; round++) {
        for (int edge = 0; edge < outs; edge++)
            for (int at = 0; at < sent[edge]; at++)
                out[out_at[edge] + at] = value(rank, edge, round, at);
        clear();
        once(&kept, 1);
        parts_have_come(round);
        clear();
        CHECK(MPI_Neighbor_alltoallv(out, sent, out_at, MPI_INT, in, received, in_at, MPI_INT,
                                     comm) == MPI_SUCCESS);
        parts_have_come(round);
        clear();
        MPI_Ineighbor_alltoallw(out, sent, out_bytes, types, in, received, in_bytes, types, comm,
                                &begun);
        once(&begun, 0);
        parts_have_come(round);
    }
    MPI_Request_free(&kept);
}

/* What a rank tells all is as long as the rank wants it. */
static void told_to_all(void) {
    MPI_Request kept, begun;
    int count = length(rank, 0), total = 0;
    for (int edge = 0; edge < ins; edge++) {
        received[edge] = length(from[edge], 0);
        in_at[edge] = total;
        total += received[edge] + 1;
    }
    MPI_Neighbor_allgatherv_init(out, count, MPI_INT, in, received, in_at, MPI_INT, comm,
                                 MPI_INFO_NULL, &kept);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        for (int at = 0; at < count; at++) out[at] = value(rank, 0, round, at);
        clear();
        if (round % 2) {
            once(&kept, 1);
        } else {
            MPI_Ineighbor_allgatherv(out, count, MPI_INT, in, received, in_at, MPI_INT, comm,
                                     &begun);
            once(&begun, 0);
        }
        for (int edge = 0; edge < ins; edge++) {
            for (int at = 0; at < received[edge]; at++)
                CHECK(in[in_at[edge] + at] == value(from[edge], 0, round, at));
            CHECK(in[in_at[edge] + received[edge]] == -1);
        }
    }
    MPI_Request_free(&kept);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    build();
    same_lengths();
    lay_out();
    own_lengths();
    told_to_all();
    MPI_Comm_free(&comm);
    return end();
}

/* Topologies: grids, graphs, and graphs of which each rank knows its own edges. */
#include "check.h"

static void dimensions(void) {
    struct { int nodes, number, given[4], expected[4]; } all[] = {
        {6, 2, {0, 0}, {3, 2}},       {7, 2, {0, 0}, {7, 1}},       {6, 3, {0, 3, 0}, {2, 3, 1}},
        {12, 3, {0, 0, 0}, {3, 2, 2}}, {16, 2, {0, 0}, {4, 4}},      {1, 3, {0, 0, 0}, {1, 1, 1}},
        {64, 3, {0, 0, 0}, {4, 4, 4}}, {24, 4, {0, 0, 2, 0}, {3, 2, 2, 2}}, {5, 1, {0}, {5}},
        {8, 2, {2, 4}, {2, 4}}};
    for (size_t at = 0; at < sizeof all / sizeof *all; at++) {
        MPI_Dims_create(all[at].nodes, all[at].number, all[at].given);
        for (int one = 0; one < all[at].number; one++) {
            CHECK(all[at].given[one] == all[at].expected[one]);
        }
    }
}

/* The rank at a place, by counting; nobody outside of dimensions that do not wrap around. */
static int at(const int *sizes, const int *periods, int row, int column) {
    if (!periods[0] && (row < 0 || row >= sizes[0])) return MPI_PROC_NULL;
    if (!periods[1] && (column < 0 || column >= sizes[1])) return MPI_PROC_NULL;
    row = (row % sizes[0] + sizes[0]) % sizes[0];
    column = (column % sizes[1] + sizes[1]) % sizes[1];
    return row * sizes[1] + column;
}

static void grid(int row_period, int column_period) {
    MPI_Comm comm, sub, copy;
    int sizes[2] = {0, 0}, periods[2] = {row_period, column_period}, kind, me, number;
    int dims[2], wrap[2], place[2], from, to, there;
    MPI_Dims_create(size, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &comm);
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_CART);
    MPI_Cartdim_get(comm, &number);
    CHECK(number == 2);
    MPI_Comm_rank(comm, &me);
    CHECK(me == rank);
    MPI_Cart_get(comm, 2, dims, wrap, place);
    CHECK(dims[0] == sizes[0] && dims[1] == sizes[1]);
    CHECK(!wrap[0] == !periods[0] && !wrap[1] == !periods[1]);
    CHECK(place[0] == me / sizes[1] && place[1] == me % sizes[1]);
    for (int other = 0; other < size; other++) {
        int found[2];
        MPI_Cart_coords(comm, other, 2, found);
        CHECK(found[0] == other / sizes[1] && found[1] == other % sizes[1]);
        MPI_Cart_rank(comm, found, &there);
        CHECK(there == other);
    }
    if (periods[0] && periods[1]) {
        int far[2] = {place[0] - 5 * sizes[0], place[1] + 3 * sizes[1]};
        MPI_Cart_rank(comm, far, &there);
        CHECK(there == me);
    }
    for (int by = -3; by <= 3; by++) {
        MPI_Cart_shift(comm, 0, by, &from, &to);
        CHECK(from == at(sizes, periods, place[0] - by, place[1]));
        CHECK(to == at(sizes, periods, place[0] + by, place[1]));
        MPI_Cart_shift(comm, 1, by, &from, &to);
        CHECK(from == at(sizes, periods, place[0], place[1] - by));
        CHECK(to == at(sizes, periods, place[0], place[1] + by));
    }
    /* A shift is what a message takes. */
    int in = -1;
    MPI_Cart_shift(comm, 1, 1, &from, &to);
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 2, &in, 1, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE);
    CHECK(in == (from == MPI_PROC_NULL ? -1 : from));
    MPI_Cart_sub(comm, (int[]){0, 1}, &sub);
    MPI_Comm_rank(sub, &me);
    MPI_Comm_size(sub, &number);
    CHECK(me == place[1] && number == sizes[1]);
    MPI_Cart_get(sub, 1, dims, wrap, &there);
    CHECK(dims[0] == sizes[1] && !wrap[0] == !periods[1] && there == place[1]);
    int sum = rank;
    MPI_Cart_shift(sub, 0, 1, &from, &to);
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 2, &sum, 1, MPI_INT, from, 2, sub, MPI_STATUS_IGNORE);
    CHECK(from == MPI_PROC_NULL || sum == place[0] * sizes[1] + from);
    MPI_Comm_free(&sub);
    MPI_Cart_sub(comm, (int[]){0, 0}, &sub);
    MPI_Comm_size(sub, &number);
    CHECK(number == 1);
    MPI_Cartdim_get(sub, &number);
    CHECK(number == 0);
    MPI_Comm_free(&sub);
    MPI_Comm_dup(comm, &copy);
    MPI_Cart_get(copy, 2, dims, wrap, place);
    CHECK(dims[0] == sizes[0] && dims[1] == sizes[1]);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
}

/* Grids that not all ranks are in. */
static void smaller(void) {
    MPI_Comm comm;
    int one = 1, no = 0, number, there;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &no, 1, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank != 0));
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm);
    if (comm != MPI_COMM_NULL) {
        MPI_Cartdim_get(comm, &number);
        CHECK(number == 0);
        MPI_Comm_size(comm, &number);
        CHECK(number == 1);
        MPI_Comm_free(&comm);
    }
    MPI_Cart_map(MPI_COMM_WORLD, 1, &one, &no, &there);
    CHECK(rank < 1 ? there == 0 : there == MPI_UNDEFINED);
    MPI_Topo_test(MPI_COMM_WORLD, &number);
    CHECK(number == MPI_UNDEFINED);
}

/* A ring. */
static void graph(void) {
    MPI_Comm comm;
    int *index = malloc(sizeof(int) * (size_t)size);
    int *edges = malloc(sizeof(int) * 2 * (size_t)size);
    int kind, nodes, number, list[2];
    for (int node = 0; node < size; node++) {
        index[node] = 2 * node + 2;
        edges[2 * node] = (node + size - 1) % size;
        edges[2 * node + 1] = (node + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_GRAPH);
    MPI_Graphdims_get(comm, &nodes, &number);
    CHECK(nodes == size && number == 2 * size);
    for (int node = 0; node < size; node++) {
        MPI_Graph_neighbors_count(comm, node, &number);
        CHECK(number == 2);
        MPI_Graph_neighbors(comm, node, 2, list);
        CHECK(list[0] == edges[2 * node] && list[1] == edges[2 * node + 1]);
    }
    int *got = malloc(sizeof(int) * (size_t)size), *there = malloc(sizeof(int) * 2 * (size_t)size);
    MPI_Graph_get(comm, size, 2 * size, got, there);
    CHECK(memcmp(got, index, sizeof(int) * (size_t)size) == 0);
    CHECK(memcmp(there, edges, sizeof(int) * 2 * (size_t)size) == 0);
    MPI_Comm_free(&comm);
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &number);
    CHECK(number >= 0 && number < size);
    free(index);
    free(edges);
    free(got);
    free(there);
}

static void distributed(void) {
    MPI_Comm comm;
    int next = (rank + 1) % size, last = (rank + size - 1) % size, kind, from, to, weighted;
    int weight_in = 10 + last, weight_out = 10 + rank, source, target, w, v;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, &weight_in, 1, &next, &weight_out,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Topo_test(comm, &kind);
    CHECK(kind == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
    CHECK(from == 1 && to == 1 && weighted);
    MPI_Dist_graph_neighbors(comm, 1, &source, &w, 1, &target, &v);
    CHECK(source == last && target == next && w == weight_in && v == weight_out);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 0, NULL,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
    CHECK(from == 1 && to == 0 && !weighted);
    MPI_Dist_graph_neighbors(comm, 1, &source, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED);
    CHECK(source == last);
    MPI_Comm_free(&comm);
    /* Rank 0 names all edges: each rank to all ranks above it. */
    int *starts = malloc(sizeof(int) * (size_t)size), *degrees = malloc(sizeof(int) * (size_t)size);
    int *ends = malloc(sizeof(int) * (size_t)(size * size));
    int *weights = malloc(sizeof(int) * (size_t)(size * size)), count = 0;
    for (int node = 0; node < size; node++) {
        starts[node] = node;
        degrees[node] = size - 1 - node;
        for (int above = node + 1; above < size; above++) {
            ends[count] = above;
            weights[count++] = 100 * node + above;
        }
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, starts, degrees, ends,
                          rank == 0 && count > 0 ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                          &comm);
    MPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
    CHECK(from == rank && to == size - 1 - rank && weighted);
    int *in = malloc(sizeof(int) * (size_t)size), *win = malloc(sizeof(int) * (size_t)size);
    int *out = malloc(sizeof(int) * (size_t)size), *wout = malloc(sizeof(int) * (size_t)size);
    MPI_Dist_graph_neighbors(comm, from, in, win, to, out, wout);
    int seen = 0;
    for (int at = 0; at < from; at++) {
        CHECK(in[at] < rank && win[at] == 100 * in[at] + rank);
        seen += in[at];
    }
    for (int at = 0; at < to; at++) {
        CHECK(out[at] > rank && wout[at] == 100 * rank + out[at]);
        seen += out[at];
    }
    CHECK(seen == size * (size - 1) / 2 - rank);
    MPI_Comm_free(&comm);
    free(starts);
    free(degrees);
    free(ends);
    free(weights);
    free(in);
    free(win);
    free(out);
    free(wout);
}

/* The most memory that this process has had, in kB. */
static long most_memory(void) {
    char line[256];
    long most = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &most);
    if (status) fclose(status);
    return most;
}

/* A graph that one rank names takes as much memory for each as it is long: 1.4 MB here, and not as
 * if each rank had named so many edges. Not on a large simulated network, which would take long. */
static void large(void) {
    enum { EDGES = 120000 };
    int *ends = malloc(sizeof(int) * EDGES), last = size - 1, degree = EDGES, from, to, weighted;
    MPI_Comm comm;
    for (int at = 0; at < EDGES; at++) ends[at] = at % size;
    long before = most_memory();
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0, &last, &degree, ends, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &comm);
    CHECK(most_memory() - before < 24000);
    MPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
    CHECK(from == EDGES / size + (rank < EDGES % size) && to == (rank == last ? EDGES : 0));
    MPI_Comm_free(&comm);
    free(ends);
}

/* What is wrong has the class that the standard says. */
static void wrong(void) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm comm;
    int number, large = size + 1, no = 0, none[2] = {0, 0};
    FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &number), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Graphdims_get(MPI_COMM_WORLD, &number, &number), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &number), MPI_ERR_TOPOLOGY);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &large, &no, 0, &comm) != MPI_SUCCESS);
    CHECK(MPI_Dims_create(-1, 2, none) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    dimensions();
    for (int which = 0; which < 4; which++) grid(which & 1, which >> 1);
    smaller();
    graph();
    distributed();
    if (size <= 8) large();
    wrong();
    return end();
}

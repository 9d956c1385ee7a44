/* Rank 1 brings less to a collective than others expect of it, or the root less than rank 1 does:
   who receives it is told so, and nobody hangs. */
#include "check.h"

#define WORLD MPI_COMM_WORLD

static int from[64], into[64], counts[64], places[64];

/* Whether it is an error here, and of the class that says so. */
static void told(int is_here, int code) {
    if (is_here) CHECK(code == MPI_ERR_OTHER);
    else CHECK(code == MPI_SUCCESS || code == MPI_ERR_OTHER || code == MPI_ERR_TRUNCATE);
    MPI_Barrier(WORLD);
}

/* To a root, and from one. `few` is what this rank brings where rank 1 brings less. */
static void with_root(int few) {
    int is_root = rank == 0, own = rank == 1 ? 2 : 1;
    MPI_Request request;
    told(!is_root, MPI_Bcast(from, is_root ? 1 : 2, MPI_INT, 0, WORLD));
    MPI_Ibcast(from, is_root ? 1 : 2, MPI_INT, 0, WORLD, &request);
    told(!is_root, MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Bcast_init(from, is_root ? 1 : 2, MPI_INT, 0, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    told(!is_root, MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
    told(is_root, MPI_Gather(from, few, MPI_INT, into, 2, MPI_INT, 0, WORLD));
    told(is_root, MPI_Gatherv(from, few, MPI_INT, into, counts, places, MPI_INT, 0, WORLD));
    told(rank == 1, MPI_Scatter(from, 1, MPI_INT, into, own, MPI_INT, 0, WORLD));
    told(is_root, MPI_Reduce(from, into, few, MPI_INT, MPI_SUM, 0, WORLD));
    /* The root's own. */
    told(1, MPI_Gather(from, 1, MPI_INT, into, 2, MPI_INT, 0, MPI_COMM_SELF));
}

/* To all, and each to each. */
static void with_all(int few) {
    int less[64], is_next = rank == 2 && size > 2;
    MPI_Request request;
    for (int i = 0; i < size; i++) less[i] = i == 0 ? few : 2;
    /* What comes by way of rank 0 that one misses, or rank 1 itself has not in its place. */
    told(rank == (size == 2), MPI_Allgather(from, few, MPI_INT, into, 2, MPI_INT, WORLD));
    told(rank == 1, MPI_Allgatherv(from, few, MPI_INT, into, counts, places, MPI_INT, WORLD));
    told(1, MPI_Alltoall(from, few, MPI_INT, into, 2, MPI_INT, WORLD));
    told(rank == 0, MPI_Alltoallv(from, less, places, MPI_INT, into, counts, places, MPI_INT,
                                  WORLD));
    MPI_Ialltoallv(from, less, places, MPI_INT, into, counts, places, MPI_INT, WORLD, &request);
    told(rank == 0, MPI_Wait(&request, MPI_STATUS_IGNORE));
    told(rank == 0, MPI_Allreduce(from, into, few, MPI_INT, MPI_SUM, WORLD));
    MPI_Iallreduce(from, into, few, MPI_INT, MPI_SUM, WORLD, &request);
    told(rank == 0, MPI_Wait(&request, MPI_STATUS_IGNORE));
    told(rank == 0, MPI_Reduce_scatter_block(from, into, few, MPI_INT, MPI_SUM, WORLD));
    told(is_next, MPI_Scan(from, into, few, MPI_INT, MPI_SUM, WORLD));
}

/* Neighbours, and two groups. */
static void elsewhere(int few) {
    int dims[1] = {size}, closes[1] = {1}, is_odd = rank % 2;
    int root = is_odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm ring, half, both;
    MPI_Cart_create(WORLD, 1, dims, closes, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    int is_near = (rank + 1) % size == 1 || (rank + size - 1) % size == 1;
    told(is_near, MPI_Neighbor_allgather(from, few, MPI_INT, into, 2, MPI_INT, ring));
    MPI_Comm_split(WORLD, is_odd, 0, &half);
    MPI_Intercomm_create(half, 0, WORLD, !is_odd, 7, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    told(rank == 1, MPI_Bcast(from, rank == 0 ? 1 : 2, MPI_INT, root, both));
    told(!is_odd, MPI_Allgather(from, few, MPI_INT, into, 2, MPI_INT, both));
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
}

/* As many bytes of other datatypes, and nothing from nobody, are right. */
static void same(void) {
    int none[64] = {0};
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    int code = MPI_Gather(from, 2, MPI_INT, into, 1, two, 0, WORLD);
    CHECK(code == MPI_SUCCESS);
    CHECK(MPI_Bcast(from, rank == 0 ? 1 : 2, rank == 0 ? two : MPI_INT, 0, WORLD) == MPI_SUCCESS);
    code = MPI_Alltoallv(from, none, places, MPI_INT, into, none, places, two, WORLD);
    CHECK(code == MPI_SUCCESS);
    MPI_Type_free(&two);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int few = rank == 1 ? 1 : 2;
    for (int i = 0; i < 64; i++) counts[i] = 2, places[i] = 2 * i % 64;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    with_root(few);
    with_all(few);
    elsewhere(few);
    same();
    return end();
}

/* Rank 1 brings less to a collective than others expect of it, or the root less than rank 1 does:
   who receives it is told so, and nobody hangs. So it is with what is more than its place, and
   where one rank's call is refused that no other waits for. */
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
    told(rank == (size == 2), MPI_Allgatherv(from, few, MPI_INT, into, counts, places, MPI_INT,
                                             WORLD));
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

/* Whether it is an error here, and which; the next collective is right. */
static void told_as(int class, int is_here, int code) {
    int own = 1, all = 0;
    MPI_Request request;
    CHECK(code == (is_here ? class : MPI_SUCCESS));
    MPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_SUM, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(all == size);
}

/* What a rank itself has is more than its place: it takes its other steps all the same. */
static void longer(void) {
    enum { LENGTH = 4096 };
    static int own[2 * LENGTH], all[64 * LENGTH], lengths[64], begins[64];
    for (int length = LENGTH / 16; length <= LENGTH; length *= 4) {
        int much = rank == 1 ? 2 * length : length;
        for (int i = 0; i < size; i++) lengths[i] = length, begins[i] = i * length;
        for (int i = 0; i < much; i++) own[i] = rank;
        int by_zero = size > 2 && size * length < 1024;
        told_as(MPI_ERR_TRUNCATE, rank == (by_zero ? 0 : 1),
                MPI_Allgatherv(own, much, MPI_INT, all, lengths, begins, MPI_INT, WORLD));
        int other = size > 2 ? size - 1 : 0;
        CHECK(all[other * length] == other && all[(other + 1) * length - 1] == other);
    }
    told_as(MPI_ERR_TRUNCATE, rank == 0,
            MPI_Scatter(own, 2, MPI_INT, all, rank == 0 ? 1 : 2, MPI_INT, 0, WORLD));
}

/* One rank's call is refused, and the others do not wait for it. */
static void refused(void) {
    int wrong = rank == 1 ? -1 : 1, one = rank, sum = -1;
    void *into_one = rank == 0 ? (void *)&one : (void *)&sum;
    told_as(MPI_ERR_BUFFER, rank == 0, MPI_Reduce(&one, into_one, 1, MPI_INT, MPI_SUM, 0, WORLD));
    told_as(MPI_ERR_COUNT, rank == 0, MPI_Gather(from, 1, MPI_INT, into, rank == 0 ? -1 : 1,
                                                 MPI_INT, 0, WORLD));
    told_as(MPI_ERR_COUNT, rank == 1, MPI_Bcast(from, wrong, MPI_INT, 0, WORLD));
    told_as(MPI_ERR_COUNT, rank == 1, MPI_Scatter(from, 1, MPI_INT, into, wrong, MPI_INT, 0,
                                                  WORLD));
    MPI_Request kept = MPI_REQUEST_NULL;
    told_as(MPI_ERR_COUNT, rank == 1,
            MPI_Bcast_init(from, wrong, MPI_INT, 0, WORLD, MPI_INFO_NULL, &kept));
    if (kept != MPI_REQUEST_NULL) MPI_Request_free(&kept);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &kept);
    MPI_Start(&kept);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Request_free(&kept);
    /* On all ranks. */
    CHECK(MPI_Bcast(&sum, -1, MPI_INT, 0, WORLD) == MPI_ERR_COUNT);
    told_as(MPI_ERR_COUNT, 1, MPI_Reduce(&one, &sum, -1, MPI_INT, MPI_SUM, 0, WORLD));
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
    longer();
    refused();
    return end();
}

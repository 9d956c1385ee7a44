/* Calls with one argument that is wrong each. Without a number the program prints what there is to
   call, in the order of their numbers: the argument, and the call. With one it does that call. */
#include "check.h"

static int chosen = -1, at;
static int buf[8], other[8], counts[4] = {1}, wrong[4] = {-1}, far[4] = {7}, found;
static int zeros[4], ones[4] = {1, 1, 1, 1};
static MPI_Aint places[4];
static MPI_Datatype types[4], none[4], made, open;
static MPI_Request request, requests[2];
static MPI_Group group;
static MPI_Comm comm, grid;
static MPI_Info info;
static MPI_Win win;
static MPI_File file;

#define WRONG(argument, ...)                                   \
    do {                                                       \
        if (chosen < 0) printf("%s %s\n", argument, #__VA_ARGS__); \
        else if (at++ == chosen) __VA_ARGS__;                  \
    } while (0)

#define WORLD MPI_COMM_WORLD
#define NONE MPI_COMM_NULL
#define NOTHING MPI_DATATYPE_NULL
#define IGNORE MPI_STATUS_IGNORE

/* A receive whose message is too long. */
static MPI_Request *too_long(void) {
    MPI_Irecv(other, 1, MPI_INT, 0, 3, WORLD, requests);
    MPI_Send(buf, 2, MPI_INT, 0, 3, WORLD);
    return requests;
}

/* Of four partitions none of which is ready. */
static MPI_Request begun(void) {
    MPI_Psend_init(buf, 4, 1, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    return request;
}

static void messages(void) {
    WRONG("buf", MPI_Send(NULL, 1, MPI_INT, 0, 0, WORLD));
    WRONG("count", MPI_Send(buf, -1, MPI_INT, 0, 0, WORLD));
    WRONG("count", MPI_Ssend_c(buf, -1, MPI_INT, 0, 0, WORLD));
    WRONG("datatype", MPI_Send(buf, 1, NOTHING, 0, 0, WORLD));
    WRONG("datatype", MPI_Isend(buf, 1, open, 0, 0, WORLD, &request));
    WRONG("dest", MPI_Send(buf, 1, MPI_INT, 1, 0, WORLD));
    WRONG("tag", MPI_Send(buf, 1, MPI_INT, 0, -5, WORLD));
    WRONG("comm", MPI_Send(buf, 1, MPI_INT, 0, 0, NONE));
    WRONG("request", MPI_Isend(buf, 1, MPI_INT, 0, 0, WORLD, NULL));
    WRONG("source", MPI_Recv(buf, 1, MPI_INT, 9, 0, WORLD, IGNORE));
    WRONG("tag", MPI_Recv(buf, 1, MPI_INT, 0, -9, WORLD, IGNORE));
    WRONG("recvcount", MPI_Sendrecv(buf, 2, MPI_INT, 0, 0, other, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    WRONG("sendcount",
          MPI_Sendrecv(buf, -1, MPI_INT, 0, 0, other, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    WRONG("recvcount",
          MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, other, -1, MPI_INT, 0, 0, WORLD, IGNORE));
    WRONG("sendtype", MPI_Sendrecv(buf, 1, open, 0, 0, other, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    WRONG("recvtype", MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, other, 1, open, 0, 0, WORLD, IGNORE));
    WRONG("recvbuf", MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, NULL, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    WRONG("sendtag", MPI_Sendrecv(buf, 1, MPI_INT, 0, -4, other, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    WRONG("recvtag", MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, other, 1, MPI_INT, 0, -4, WORLD, IGNORE));
    WRONG("dest", MPI_Sendrecv(buf, 1, MPI_INT, 7, 0, other, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    WRONG("source", MPI_Sendrecv(buf, 1, MPI_INT, 0, 0, other, 1, MPI_INT, 7, 0, WORLD, IGNORE));
    WRONG("source", MPI_Probe(3, 0, WORLD, IGNORE));
    WRONG("flag", MPI_Iprobe(0, 0, WORLD, NULL, IGNORE));
    WRONG("buf", MPI_Bsend(buf, 1, MPI_INT, 0, 0, WORLD));
    WRONG("size", MPI_Buffer_attach(buf, -1));
    WRONG("partitions", MPI_Psend_init(buf, -2, 1, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &request));
    WRONG("count", MPI_Precv_init(buf, 2, -1, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &request));
    WRONG("partition", MPI_Pready(4, begun()));
    WRONG("partition_high", MPI_Pready_range(0, 10, begun()));
    WRONG("partition_low", MPI_Pready_range(-1, 3, begun()));
    WRONG("partition_low", MPI_Pready_range(4, 5, begun()));
    WRONG("array_of_partitions", MPI_Pready_list(1, far, begun()));
    WRONG("sendbuf or recvbuf",
          MPI_Sendrecv(NULL, 0, MPI_INT, 0, 0, NULL, 5, MPI_INT, 0, 0, WORLD, IGNORE));
}

static void requests_and_statuses(void) {
    MPI_Request freed = (MPI_Request)(size_t)12345;
    MPI_Status status;
    WRONG("request", MPI_Wait(&freed, IGNORE));
    WRONG("request", MPI_Wait(NULL, IGNORE));
    WRONG("flag", MPI_Test(&request, NULL, IGNORE));
    WRONG("count", MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE));
    WRONG("array_of_requests", MPI_Waitall(1, &freed, MPI_STATUSES_IGNORE));
    WRONG("array_of_requests", MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
    WRONG("request", MPI_Wait(too_long(), IGNORE));
    WRONG("array_of_requests", MPI_Waitany(1, too_long(), &found, IGNORE));
    WRONG("array_of_requests", MPI_Testany(1, too_long(), &found, &found, IGNORE));
    WRONG("request", MPI_Start(&freed));
    WRONG("request", MPI_Pready(0, freed));
    WRONG("incount", MPI_Waitsome(-1, requests, &found, buf, MPI_STATUSES_IGNORE));
    WRONG("datatype", MPI_Get_count(&status, NOTHING, &found));
    WRONG("status", MPI_Get_count(NULL, MPI_INT, &found));
}

static void collectives(void) {
    WRONG("comm", MPI_Barrier(NONE));
    WRONG("root", MPI_Bcast(buf, 1, MPI_INT, 4, WORLD));
    WRONG("count", MPI_Bcast(buf, -1, MPI_INT, 0, WORLD));
    WRONG("buffer", MPI_Bcast(NULL, 1, MPI_INT, 0, WORLD));
    WRONG("sendcount", MPI_Gather(buf, -1, MPI_INT, other, 1, MPI_INT, 0, WORLD));
    WRONG("recvtype", MPI_Gather(buf, 1, MPI_INT, other, 1, NOTHING, 0, WORLD));
    WRONG("recvcounts[0]", MPI_Gatherv(buf, 1, MPI_INT, other, wrong, zeros, MPI_INT, 0, WORLD));
    WRONG("displs", MPI_Gatherv(buf, 1, MPI_INT, other, counts, NULL, MPI_INT, 0, WORLD));
    WRONG("sendcounts[0]", MPI_Scatterv(buf, wrong, zeros, MPI_INT, other, 1, MPI_INT, 0, WORLD));
    WRONG("recvcount", MPI_Scatter(buf, 1, MPI_INT, other, -1, MPI_INT, 0, WORLD));
    WRONG("recvbuf", MPI_Allgather(buf, 1, MPI_INT, NULL, 1, MPI_INT, WORLD));
    WRONG("recvbuf", MPI_Allgather(buf, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, WORLD));
    WRONG("sendbuf", MPI_Allgather(buf, 1, MPI_INT, buf, 1, MPI_INT, WORLD));
    WRONG("recvtypes[0]",
          MPI_Alltoallw(buf, counts, zeros, types, other, counts, zeros, none, WORLD));
    WRONG("sendcounts[0]",
          MPI_Ialltoallv(buf, wrong, zeros, MPI_INT, other, ones, zeros, MPI_INT, WORLD, &request));
    WRONG("op", MPI_Reduce(buf, other, 1, MPI_INT, MPI_OP_NULL, 0, WORLD));
    WRONG("op", MPI_Allreduce(buf, other, 1, MPI_DOUBLE, MPI_BAND, WORLD));
    WRONG("datatype", MPI_Allreduce(buf, other, 1, NOTHING, MPI_SUM, WORLD));
    WRONG("recvcounts[0]", MPI_Reduce_scatter(buf, other, wrong, MPI_INT, MPI_SUM, WORLD));
    WRONG("recvcount", MPI_Reduce_scatter_block(buf, other, -1, MPI_INT, MPI_SUM, WORLD));
    WRONG("recvbuf", MPI_Allreduce(MPI_IN_PLACE, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, WORLD));
    WRONG("sendbuf or recvbuf",
          MPI_Allgather(MPI_IN_PLACE, 0, NOTHING, MPI_IN_PLACE, 1, MPI_INT, WORLD));
    WRONG("sendtype or recvtype",
          MPI_Alltoall(MPI_IN_PLACE, 0, NOTHING, other, 1, NOTHING, WORLD));
    WRONG("sendbuf", MPI_Scan(NULL, other, 1, MPI_INT, MPI_SUM, WORLD));
    WRONG("root", MPI_Reduce_init(buf, other, 1, MPI_INT, MPI_SUM, -1, WORLD, info, &request));
    WRONG("comm", MPI_Neighbor_allgather(buf, 1, MPI_INT, other, 1, MPI_INT, WORLD));
    WRONG("user_fn", MPI_Op_create(NULL, 1, (MPI_Op *)&found));
    WRONG("datatype", MPI_Reduce_local(buf, other, 1, NOTHING, MPI_SUM));
}

static void datatypes(void) {
    WRONG("count", MPI_Type_contiguous(-1, MPI_INT, &made));
    WRONG("oldtype", MPI_Type_contiguous(1, NOTHING, &made));
    WRONG("newtype", MPI_Type_contiguous(1, MPI_INT, NULL));
    WRONG("blocklength", MPI_Type_vector(2, -3, 1, MPI_INT, &made));
    WRONG("array_of_blocklengths", MPI_Type_indexed(1, wrong, zeros, MPI_INT, &made));
    WRONG("array_of_displacements", MPI_Type_indexed(1, ones, NULL, MPI_INT, &made));
    WRONG("array_of_types[0]", MPI_Type_create_struct(1, ones, places, none, &made));
    WRONG("ndims", MPI_Type_create_subarray(0, ones, ones, zeros, MPI_ORDER_C, MPI_INT, &made));
    WRONG("array_of_subsizes",
          MPI_Type_create_subarray(1, ones, far, zeros, MPI_ORDER_C, MPI_INT, &made));
    WRONG("array_of_starts",
          MPI_Type_create_subarray(1, ones, ones, far, MPI_ORDER_C, MPI_INT, &made));
    WRONG("order", MPI_Type_create_subarray(1, ones, ones, zeros, 99, MPI_INT, &made));
    WRONG("array_of_distribs", MPI_Type_create_darray(1, 0, 1, ones, far, ones, ones, MPI_ORDER_C,
                                                      MPI_INT, &made));
    WRONG("rank", MPI_Type_create_darray(1, 4, 1, ones, (int[]){MPI_DISTRIBUTE_BLOCK}, ones, ones,
                                         MPI_ORDER_C, MPI_INT, &made));
    WRONG("datatype", MPI_Type_commit(&none[0]));
    WRONG("datatype", MPI_Type_free(&types[0]));
    WRONG("datatype", MPI_Type_size(NOTHING, &found));
    WRONG("size", MPI_Type_size(MPI_INT, NULL));
    WRONG("max_integers", MPI_Type_get_contents(open, 0, 0, 1, NULL, NULL, &made));
    WRONG("r", MPI_Type_create_f90_integer(99, &made));
    WRONG("typeclass", MPI_Type_match_size(77, 4, &made));
    WRONG("size", MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &made));
    WRONG("outsize", MPI_Pack(buf, 4, MPI_INT, other, 4, &zeros[0], WORLD));
    WRONG("position", MPI_Pack(buf, 1, MPI_INT, other, 4, &wrong[0], WORLD));
    WRONG("insize", MPI_Unpack(buf, 4, &zeros[0], other, 4, MPI_INT, WORLD));
    WRONG("datarep", MPI_Pack_external("xdr", buf, 1, MPI_INT, other, 4, places));
}

static void groups_and_topologies(void) {
    MPI_Comm copy;
    WRONG("comm2", MPI_Comm_compare(WORLD, NONE, &found));
    WRONG("comm", MPI_Comm_rank(NONE, &found));
    WRONG("rank", MPI_Comm_rank(WORLD, NULL));
    WRONG("comm", MPI_Comm_dup(NONE, &copy));
    WRONG("comm", MPI_Comm_set_name(NONE, "name"));
    WRONG("comm_name", MPI_Comm_set_name(WORLD, NULL));
    WRONG("color", MPI_Comm_split(WORLD, -7, 0, &copy));
    WRONG("split_type", MPI_Comm_split_type(WORLD, 77, 0, MPI_INFO_NULL, &copy));
    WRONG("group", MPI_Comm_create(WORLD, MPI_GROUP_NULL, &copy));
    WRONG("local_leader", MPI_Intercomm_create(WORLD, 5, WORLD, 0, 1, &copy));
    WRONG("remote_leader", MPI_Intercomm_create(WORLD, 0, WORLD, 0, 1, &copy));
    WRONG("intercomm", MPI_Intercomm_merge(WORLD, 0, &copy));
    WRONG("comm", MPI_Comm_free(&copy));
    WRONG("ranks", MPI_Group_incl(group, 1, far, &group));
    WRONG("n", MPI_Group_incl(group, -1, far, &group));
    WRONG("ranges", MPI_Group_range_incl(group, 1, (int[][3]){{0, 0, 0}}, &group));
    WRONG("group2", MPI_Group_union(group, MPI_GROUP_NULL, &group));
    WRONG("ndims", MPI_Cart_create(WORLD, -1, ones, ones, 0, &copy));
    WRONG("dims", MPI_Cart_create(WORLD, 1, far, ones, 0, &copy));
    WRONG("coords", MPI_Cart_rank(grid, far, &found));
    WRONG("rank", MPI_Cart_coords(grid, 3, 1, buf));
    WRONG("direction", MPI_Cart_shift(grid, 1, 1, &found, &found));
    WRONG("comm", MPI_Cart_shift(WORLD, 0, 1, &found, &found));
    WRONG("nnodes", MPI_Dims_create(0, 1, buf));
    WRONG("dims", MPI_Dims_create(2, 1, wrong));
    WRONG("edges", MPI_Graph_create(WORLD, 1, ones, far, 0, &copy));
    WRONG("sources[0]", MPI_Dist_graph_create_adjacent(WORLD, 1, far, MPI_UNWEIGHTED, 0, buf,
                                                       MPI_UNWEIGHTED, info, 0, &copy));
    WRONG("sources or destinations",
          MPI_Dist_graph_create_adjacent(WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 3, NULL,
                                         MPI_UNWEIGHTED, info, 0, &copy));
    WRONG("destinations", MPI_Dist_graph_create(WORLD, 1, zeros, ones, far, MPI_UNWEIGHTED, info, 0,
                                                &copy));
    WRONG("comm_keyval", MPI_Comm_set_attr(WORLD, 12345, buf));
    WRONG("win_keyval", MPI_Win_free_keyval(&found));
    WRONG("errhandler", MPI_Comm_set_errhandler(WORLD, (MPI_Errhandler)(size_t)12345));
    WRONG("comm_errhandler_fn", MPI_Comm_create_errhandler(NULL, (MPI_Errhandler *)places));
}

static void others(void) {
    char text[MPI_MAX_INFO_VAL];
    WRONG("info", MPI_Info_set(MPI_INFO_NULL, "key", "value"));
    WRONG("key", MPI_Info_set(info, "", "value"));
    WRONG("value", MPI_Info_set(info, "key", NULL));
    WRONG("key", MPI_Info_delete(info, "key"));
    WRONG("n", MPI_Info_get_nthkey(info, 5, text));
    WRONG("info", MPI_Info_free(&info), MPI_Info_free(&info));
    WRONG("errorcode", MPI_Error_string(-5, text, &found));
    WRONG("size", MPI_Alloc_mem(-1, MPI_INFO_NULL, buf));
    WRONG("session", MPI_Session_finalize(&(MPI_Session){(MPI_Session)(size_t)12345}));
}

static void windows(void) {
    WRONG("size", MPI_Win_create(buf, -1, 1, MPI_INFO_NULL, WORLD, &win));
    WRONG("disp_unit", MPI_Win_create(buf, 4, 0, MPI_INFO_NULL, WORLD, &win));
    WRONG("base", MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, WORLD, &win));
    WRONG("comm", MPI_Win_create(buf, 4, 1, MPI_INFO_NULL, NONE, &win));
    WRONG("win", MPI_Win_fence(0, MPI_WIN_NULL));
    WRONG("assert", MPI_Win_fence(99, win));
    WRONG("lock_type", MPI_Win_lock(9, 0, 0, win));
    WRONG("rank", MPI_Win_lock(MPI_LOCK_SHARED, 4, 0, win));
    WRONG("win", MPI_Win_unlock(0, win));
    WRONG("win", MPI_Win_attach(win, buf, 4));
    WRONG("win", MPI_Put(buf, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    MPI_Win_fence(0, win);
    WRONG("target_rank", MPI_Put(buf, 1, MPI_INT, 6, 0, 1, MPI_INT, win));
    WRONG("origin_count", MPI_Put(buf, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
    WRONG("target_count", MPI_Put(buf, 1, MPI_INT, 0, 0, -1, MPI_INT, win));
    WRONG("target_datatype", MPI_Put(buf, 1, MPI_INT, 0, 0, 1, NOTHING, win));
    WRONG("origin_addr", MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    WRONG("target_disp", MPI_Put(buf, 1, MPI_INT, 0, 100, 1, MPI_INT, win));
    WRONG("target_disp", MPI_Put(buf, 1, MPI_INT, 0, -1, 1, MPI_INT, win));
    WRONG("target_count", MPI_Put(buf, 2, MPI_INT, 0, 0, 1, MPI_INT, win));
    WRONG("target_count", MPI_Get(buf, 1, MPI_INT, 0, 0, 2, MPI_INT, win));
    WRONG("op", MPI_Accumulate(buf, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
    WRONG("datatype", MPI_Compare_and_swap(buf, buf, other, MPI_FLOAT, 0, 0, win));
    WRONG("result_addr", MPI_Fetch_and_op(buf, NULL, MPI_INT, 0, 0, MPI_SUM, win));
    WRONG("group", MPI_Win_post(MPI_GROUP_NULL, 0, win));
}

static void files(const char *name) {
    MPI_File more;
    WRONG("filename", MPI_File_open(WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &more));
    WRONG("filename", MPI_File_open(WORLD, "/none/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &more));
    WRONG("amode", MPI_File_open(WORLD, name, 0, MPI_INFO_NULL, &more));
    WRONG("comm", MPI_File_open(NONE, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &more));
    WRONG("fh", MPI_File_close(&(MPI_File){MPI_FILE_NULL}));
    WRONG("fh", MPI_File_write(file, buf, 1, MPI_INT, IGNORE));
    WRONG("offset", MPI_File_read_at(file, -1, buf, 1, MPI_INT, IGNORE));
    WRONG("count", MPI_File_read(file, buf, -1, MPI_INT, IGNORE));
    WRONG("whence", MPI_File_seek(file, 0, 77));
    WRONG("disp", MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    WRONG("etype", MPI_File_set_view(file, 0, NOTHING, MPI_INT, "native", MPI_INFO_NULL));
    WRONG("filetype", MPI_File_set_view(file, 0, MPI_INT, MPI_CHAR, "native", MPI_INFO_NULL));
    WRONG("datarep", MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "odd", MPI_INFO_NULL));
}

int main(int argc, char **argv) {
    if (argc > 1) chosen = atoi(argv[1]);
    begin(&argc, &argv);
    request = MPI_REQUEST_NULL;
    for (int i = 0; i < 4; i++) types[i] = MPI_INT, none[i] = NOTHING;
    MPI_Type_contiguous(2, MPI_INT, &open);
    MPI_Comm_group(WORLD, &group);
    MPI_Comm_dup(WORLD, &comm);
    MPI_Cart_create(WORLD, 1, ones, zeros, 0, &grid);
    MPI_Info_create(&info);
    MPI_Win_create(buf, sizeof buf, sizeof *buf, MPI_INFO_NULL, WORLD, &win);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_SELF, argv[0], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    messages();
    requests_and_statuses();
    collectives();
    datatypes();
    groups_and_topologies();
    others();
    files(argv[0]);
    windows();
    return chosen < 0 ? end() : 200;
}

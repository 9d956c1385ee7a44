/* Accesses to files that are begun and waited for, by each kind of pointer, alone and by all;
 * hints; ordered reads in two calls. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <unistd.h>

enum { PART = 7, TURNS = 4 };
static char folder[64], name[128];
static MPI_File file;

static int value(int of, int at) { return of * 1000 + at; }

static void open_new(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
}

/* Makes what all ranks have written be seen by all. */
static void settle(void) {
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
}

static void ends(MPI_Request *request, int wanted) {
    MPI_Status status;
    int count;
    CHECK(MPI_Wait(request, &status) == MPI_SUCCESS && *request == MPI_REQUEST_NULL);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == wanted);
}

static void is_at(MPI_Offset wanted) {
    MPI_Offset at;
    MPI_File_get_position(file, &at);
    CHECK(at == wanted);
}

/* The file's numbers, read in another way. */
static void holds(MPI_Offset at, int of, int first, int count) {
    int in[TURNS * PART];
    MPI_Status status;
    MPI_File_read_at(file, at, in, count, MPI_INT, &status);
    for (int i = 0; i < count; i++) CHECK(in[i] == value(of, first + i));
}

/* Two requests at once by the rank's own pointer: each has the place of when it was begun. */
static void by_own_pointer(int is_for_all) {
    int out[TURNS * PART], in[TURNS * PART], next = (rank + 1) % size;
    MPI_Offset own = (MPI_Offset)rank * TURNS * PART, theirs = (MPI_Offset)next * TURNS * PART;
    MPI_Request requests[TURNS];
    int (*put)(MPI_File, const void *, int, MPI_Datatype, MPI_Request *) =
        is_for_all ? MPI_File_iwrite_all : MPI_File_iwrite;
    int (*take)(MPI_File, void *, int, MPI_Datatype, MPI_Request *) =
        is_for_all ? MPI_File_iread_all : MPI_File_iread;
    open_new();
    for (int at = 0; at < TURNS * PART; at++) out[at] = value(rank, at), in[at] = -1;
    MPI_File_seek(file, own, MPI_SEEK_SET);
    for (int turn = 0; turn < TURNS; turn++) {
        put(file, out + turn * PART, PART, MPI_INT, &requests[turn]);
        is_at(own + (turn + 1) * PART);
    }
    for (int turn = TURNS - 1; turn >= 0; turn--) ends(&requests[turn], PART);
    settle();
    for (int of = 0; of < size; of++) holds((MPI_Offset)of * TURNS * PART, of, 0, TURNS * PART);
    MPI_File_seek(file, theirs, MPI_SEEK_SET);
    for (int turn = 0; turn < TURNS; turn++) {
        take(file, in + turn * PART, PART, MPI_INT, &requests[turn]);
        is_at(theirs + (turn + 1) * PART);
    }
    for (int turn = 0; turn < TURNS; turn++) ends(&requests[turn], PART);
    for (int at = 0; at < TURNS * PART; at++) CHECK(in[at] == value(next, at));
    /* At the end of the file there is less. */
    MPI_File_seek(file, -2, MPI_SEEK_END);
    take(file, in, PART, MPI_INT, &requests[0]);
    ends(&requests[0], 2);
    CHECK(in[1] == value(size - 1, TURNS * PART - 1));
    MPI_File_close(&file);
}

/* At places that are told, all ranks together; the pointers stay. */
static void at_places(void) {
    int out[PART], in[PART], next = (rank + 1) % size;
    MPI_Request request;
    open_new();
    for (int at = 0; at < PART; at++) out[at] = value(rank, at), in[at] = -1;
    CHECK(MPI_File_iwrite_at_all(file, rank * PART, out, PART, MPI_INT, &request) == MPI_SUCCESS);
    ends(&request, PART);
    settle();
    is_at(0);
    for (int of = 0; of < size; of++) holds(of * PART, of, 0, PART);
    CHECK(MPI_File_iread_at_all(file, next * PART, in, PART, MPI_INT, &request) == MPI_SUCCESS);
    ends(&request, PART);
    for (int at = 0; at < PART; at++) CHECK(in[at] == value(next, at));
    is_at(0);
    /* Some have nothing to do, and take part. */
    int count = rank % 2 ? 0 : PART;
    MPI_File_iread_at_all(file, rank * PART, in, count, MPI_INT, &request);
    ends(&request, count);
    for (int at = 0; at < count; at++) CHECK(in[at] == value(rank, at));
    MPI_File_close(&file);
}

/* What ranks read by the shared pointer nobody else reads, and together they read all. */
static void by_the_shared_pointer(void) {
    int all = size * TURNS, number, *seen = calloc((size_t)all, sizeof(int));
    MPI_Request request;
    open_new();
    for (int turn = 0; turn < TURNS; turn++) {
        number = rank * TURNS + turn;
        MPI_File_write_at(file, number, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    settle();
    for (int turn = 0, last = -1; turn < TURNS; turn++) {
        number = -1;
        CHECK(MPI_File_iread_shared(file, &number, 1, MPI_INT, &request) == MPI_SUCCESS);
        ends(&request, 1);
        CHECK(number > last && number < all);
        seen[last = number] = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, seen, all, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int at = 0; at < all; at++) CHECK(seen[at] == 1);
    MPI_File_iread_shared(file, &number, 1, MPI_INT, &request);
    ends(&request, 0);
    free(seen);
    MPI_File_close(&file);
}

/* In the order of ranks, each its own length, in two calls. */
static void in_order(void) {
    int in[4] = {-1, -1, -1, -1}, number, count = rank % 3 + 1, before = 0, all = 0, got;
    MPI_Offset at;
    MPI_Status status;
    open_new();
    for (int other = 0; other < size; other++) {
        if (other < rank) before += other % 3 + 1;
        all += other % 3 + 1;
    }
    for (int i = 0; i < count; i++) {
        number = value(1, before + i);
        MPI_File_write_at(file, before + i, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    settle();
    CHECK(MPI_File_read_ordered_begin(file, in, count, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_read_ordered_end(file, in, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK(got == count && in[count] == -1);
    for (int i = 0; i < count; i++) CHECK(in[i] == value(1, before + i));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &at);
    CHECK(at == all);
    MPI_File_close(&file);
}

/* Hints may be given at any time, and what is not known is let be, and not told. */
static void hints(void) {
    MPI_Info info, told;
    open_new();
    MPI_Info_create(&info);
    MPI_Info_set(info, "nobody_knows_this", "true");
    MPI_Info_set(info, "collective_buffering", "true");
    MPI_Info_set(info, "filename", "another");
    CHECK(MPI_File_set_info(file, info) == MPI_SUCCESS);
    MPI_File_get_info(file, &told);
    CHECK(told != MPI_INFO_NULL);
    char value[MPI_MAX_INFO_VAL];
    int flag;
    MPI_Info_get(told, "nobody_knows_this", MPI_MAX_INFO_VAL - 1, value, &flag);
    CHECK(!flag);
    MPI_Info_get(told, "filename", MPI_MAX_INFO_VAL - 1, value, &flag);
    CHECK(flag && strcmp(value, name) == 0);
    MPI_Info_free(&told);
    MPI_Info_free(&info);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_folder(folder);
    snprintf(name, sizeof name, "%s/file", folder);
    by_own_pointer(0);
    by_own_pointer(1);
    at_places();
    by_the_shared_pointer();
    in_order();
    hints();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(unlink(name) == 0 && rmdir(folder) == 0);
    return end();
}

/* Buffers for buffered sends: of the process, of communicators and of sessions. */
#include "check.h"

enum { N = 1000, NEED = N * (int)sizeof(int) + MPI_BSEND_OVERHEAD };

/* Each sends to the next one so often, and then receives as much. Long messages wait for it. */
static void around(MPI_Comm comm, int count, int times) {
    int *out = malloc((size_t)count * sizeof(int)), *in = malloc((size_t)count * sizeof(int));
    int me, next, last;
    MPI_Comm_rank(comm, &me);
    next = (me + 1) % size, last = (me + size - 1) % size;
    for (int time = 0; time < times; time++) {
        for (int at = 0; at < count; at++) out[at] = me * 1000 + time + at;
        MPI_Bsend(out, count, MPI_INT, next, time, comm);
    }
    for (int time = 0; time < times; time++) {
        MPI_Recv(in, count, MPI_INT, last, time, comm, MPI_STATUS_IGNORE);
        for (int at = 0; at < count; at++) CHECK(in[at] == last * 1000 + time + at);
    }
    free(out);
    free(in);
}

/* What a communicator has goes before what the process has. */
static void of_communicators(void) {
    static char room[NEED], more[4 * NEED];
    int numbers[N] = {0}, bytes;
    void *where;
    MPI_Comm copy, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    CHECK(class_of(MPI_Bsend(numbers, N, MPI_INT, rank, 0, copy)) == MPI_ERR_BUFFER);
    /* Nobody needs no room, and who is wrong is told of that. */
    CHECK(MPI_Bsend(numbers, N, MPI_INT, MPI_PROC_NULL, 0, copy) == MPI_SUCCESS);
    CHECK(class_of(MPI_Bsend(numbers, N, MPI_INT, size, 0, copy)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Bsend(numbers, N, MPI_INT, rank, -5, copy)) == MPI_ERR_TAG);
    MPI_Buffer_attach(more, sizeof more);
    MPI_Comm_attach_buffer(copy, room, sizeof room);
    CHECK(class_of(MPI_Comm_attach_buffer(copy, room, sizeof room)) == MPI_ERR_BUFFER);
    /* There is room for one here, and for four in that of the process. */
    CHECK(class_of(MPI_Bsend(numbers, N + 1, MPI_INT, rank, 0, copy)) == MPI_ERR_BUFFER);
    around(copy, N, 1);
    around(other, N + 1, 2);
    MPI_Request request;
    MPI_Comm_iflush_buffer(copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_flush_buffer(copy);
    MPI_Comm_detach_buffer(copy, &where, &bytes);
    CHECK(where == room && bytes == (int)sizeof room);
    /* Now the process's. */
    around(copy, N + 1, 1);
    MPI_Buffer_detach(&where, &bytes);
    CHECK(where == more && bytes == (int)sizeof more);
    /* One that the library sees to. */
    MPI_Comm_attach_buffer(copy, MPI_BUFFER_AUTOMATIC, 0);
    around(copy, 100 * N, 20);
    MPI_Comm_detach_buffer(copy, &where, &bytes);
    CHECK(where == MPI_BUFFER_AUTOMATIC && bytes == 0);
    /* It goes with its communicator. */
    MPI_Comm_attach_buffer(copy, room, sizeof room);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&other);
}

/* A flush that is begun waits for what was sent before it, and for nothing else. */
static void flushes(void) {
    static int out[100 * N], in[100 * N];
    int next = (rank + 1) % size, last = (rank + size - 1) % size, flag;
    void *where;
    int bytes;
    MPI_Request request;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -1);
    MPI_Bsend(out, 100 * N, MPI_INT, next, 0, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100 * N, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bsend(out, 100 * N, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100 * N, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_flush();
    MPI_Buffer_detach(&where, &bytes);
    CHECK(where == MPI_BUFFER_AUTOMATIC);
    /* Nor for what is sent by way of a buffer that is attached later. */
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Bsend(out, 100 * N, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Buffer_iflush(&request);
    MPI_Recv(in, 100 * N, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&where, &bytes);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Bsend(out, 100 * N, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100 * N, MPI_INT, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&where, &bytes);
}

/* That of a session is for all of its communicators. */
static void of_sessions(void) {
    static char room[2 * NEED];
    int bytes;
    void *where;
    MPI_Session session;
    MPI_Group all, some;
    MPI_Comm comm, copy;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    int range[1][3] = {{0, size - 1, 1}};
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Comm_create_from_group(some, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Session_attach_buffer(session, room, sizeof room);
    MPI_Comm_dup(comm, &copy);
    around(comm, N, 1);
    around(copy, N, 1);
    int code = MPI_Bsend(room, 3 * N, MPI_INT, rank, 0, copy);
    CHECK(class_of(code) == MPI_ERR_BUFFER);
    /* So it is for those that are made of these: grids, and one group of two. */
    int closes = 1, range_of_own[1][3] = {{rank % 2, size - 1, 2}};
    MPI_Comm grid, half, between, merged;
    MPI_Group own;
    MPI_Session_flush_buffer(session);
    MPI_Cart_create(comm, 1, &size, &closes, 0, &grid);
    around(grid, N, 1);
    MPI_Session_flush_buffer(session);
    MPI_Comm_free(&grid);
    if (size > 1) {
        MPI_Group_range_incl(all, 1, range_of_own, &own);
        MPI_Comm_create_from_group(own, "half", MPI_INFO_NULL, MPI_ERRORS_RETURN, &half);
        MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 1, &between);
        for (int high = 0; high < 2; high++) {
            MPI_Intercomm_merge(between, high == rank % 2, &merged);
            around(merged, N, 1);
            MPI_Session_flush_buffer(session);
            MPI_Comm_free(&merged);
        }
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
        MPI_Group_free(&own);
    }
    MPI_Request request;
    MPI_Session_flush_buffer(session);
    MPI_Session_iflush_buffer(session, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(session, &where, &bytes);
    CHECK(where == room && bytes == (int)sizeof room);
    code = MPI_Bsend(room, 1, MPI_INT, rank, 0, copy);
    CHECK(class_of(code) == MPI_ERR_BUFFER);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    of_communicators();
    flushes();
    of_sessions();
    return end();
}

/* What is wrong with the use of a window is told, by the standard's classes, and nothing hangs. */
#include "check.h"

#include <limits.h>

static int tellings;

static void note(MPI_Win *win, int *code, ...) {
    (void)code;
    tellings += *win != MPI_WIN_NULL;
}

/* What one node does not have is told to all, also what is more than there are numbers for. */
static void too_much(void) {
    void *memory;
    MPI_Win win;
    MPI_Aint size = rank < 3 ? LONG_MAX : 8;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win), MPI_ERR_NO_MEM);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    int memory[4] = {0, 0, 0, 0}, out = 1, old = 0;
    MPI_Win win;
    MPI_Op own = MPI_OP_NULL;
    begin(&argc, &argv);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* Outside of an epoch. */
    FAILS(MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(7, 0, 0, win), MPI_ERR_LOCKTYPE);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    /* Wrong arguments. */
    FAILS(MPI_Put(&out, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    FAILS(MPI_Put(&out, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    FAILS(MPI_Put(&out, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    FAILS(MPI_Put(&out, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    FAILS(MPI_Put(&out, 1, MPI_INT, 0, 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    /* Where nothing is accessed it does not matter where. */
    CHECK(MPI_Put(NULL, 0, MPI_INT, 0, 1 << 20, 0, MPI_INT, win) == MPI_SUCCESS);
    FAILS(MPI_Get(memory, 4, MPI_INT, 0, 1, 4, MPI_INT, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Accumulate(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, own, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&out, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
    FAILS(MPI_Compare_and_swap(&out, &out, &old, MPI_FLOAT, 0, 0, win), MPI_ERR_TYPE);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int at = 0; at < 4; at++) CHECK(memory[at] == 0);
    FAILS(MPI_Win_attach(win, memory, sizeof memory), MPI_ERR_RMA_FLAVOR);
    FAILS(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    MPI_Win_free(&win);
    /* Memory that is not attached is noticed there, and told when the epoch ends. */
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK(MPI_Put(&out, 1, MPI_INT, 0, 64, 1, MPI_INT, win) == MPI_SUCCESS);
    FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_RANGE);
    FAILS(MPI_Win_detach(win, memory), MPI_ERR_BASE);
    FAILS(MPI_Win_attach(win, memory, LONG_MAX), MPI_ERR_SIZE);
    /* The window's own handler is asked to the last. */
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(note, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Errhandler_free(&handler);
    MPI_Win_fence(0, win);
    MPI_Put(&out, 1, MPI_INT, (rank + 1) % size, 64, 1, MPI_INT, win);
    FAILS(MPI_Win_free(&win), MPI_ERR_RMA_RANGE);
    CHECK(tellings == 1 && win == MPI_WIN_NULL);
    /* What cannot become a window. */
    FAILS(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    too_much();
    return end();
}

/* Ranks of a node that count under a lock of the first one's memory, which is in no call meanwhile:
 * it looks at its memory until they have done so. */
#include "check.h"

enum { TIMES = 500 };

/* Adds one to what is there, alone, or reads it twice with others, and sleeps in between at times:
 * then others wait for the lock for so long that they sleep, too. */
static void count(int turn, MPI_Win win) {
    int value, again, is_alone = (turn + rank) % 4 != 0;
    MPI_Win_lock(is_alone ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    if (turn % 25 == 0) rest(300);
    MPI_Get(&again, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    CHECK(value == again);
    value += is_alone;
    if (is_alone) MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
}

int main(int argc, char **argv) {
    int one = 1;
    volatile int *own;
    MPI_Win win;
    begin(&argc, &argv);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&own,
                     &win);
    own[0] = own[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (own[1] < size - 1) rest(100);
        CHECK(own[0] == (size - 1) * TIMES * 3 / 4);
    } else {
        for (int turn = 0; turn < TIMES; turn++) count(turn, win);
        MPI_Win_lock_all(0, win);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock_all(win);
    }
    MPI_Win_free(&win);
    return end();
}

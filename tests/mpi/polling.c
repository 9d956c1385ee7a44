/* Ranks that only ask, and never wait: each sends to the next and hears of the one before, or
 * writes to its memory. */
#include "check.h"

enum { LONG = 100000 };
static int out[LONG], in[LONG];

/* Sends so many integers around, and asks after both messages until both have ended. */
static void around(int count) {
    MPI_Request requests[2];
    MPI_Status status;
    int flag = 0;
    for (int at = 0; at < count; at++) out[at] = rank + at;
    MPI_Isend(out, count, MPI_INT, (rank + 1) % size, count, MPI_COMM_WORLD, &requests[0]);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, count, MPI_COMM_WORLD, &flag, &status);
    CHECK(status.MPI_SOURCE == (rank + size - 1) % size);
    MPI_Irecv(in, count, MPI_INT, status.MPI_SOURCE, count, MPI_COMM_WORLD, &requests[1]);
    for (int ended = 0; ended < 2; ended += flag) {
        int which;
        MPI_Testany(2, requests, &which, &flag, MPI_STATUS_IGNORE);
    }
    for (int at = 0; at < count; at++) CHECK(in[at] == status.MPI_SOURCE + at);
}

/* Writes to the next one's memory, and looks at its own until the one before has written there; the
 * calls in between have nothing to do. */
static void written(void) {
    MPI_Win win;
    volatile int *own;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&own,
                     &win);
    own[0] = own[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int at = 0; at < 2; at++) {
        int value = at + 7;
        MPI_Accumulate(&value, 1, MPI_INT, (rank + 1) % size, at, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush_local((rank + 1) % size, win);
        while (!own[at]) at == 0 ? MPI_Win_sync(win) : MPI_Win_flush(rank, win);
        CHECK(own[at] == value);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* The same where each locks what it looks at, and what it writes to: the first one's memory, where
 * a place is given from one rank to the next. */
static void locked(void) {
    MPI_Win win;
    int *own, value = -1;
    MPI_Win_allocate(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own,
                     &win);
    if (rank == 0) *own = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = rank; turn < 5 * size; turn += size) {
        do {
            MPI_Win_lock(turn % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
            MPI_Win_unlock(0, win);
        } while (value != turn);
        value = turn + 1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

/* Reads the next one's memory, which often lies here, until that has changed it by itself. */
static void read_until(void) {
    MPI_Win win;
    int *own, value = 0, one = 1, next = (rank + 1) % size;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    *own = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        rest(1000);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    } else {
        /* It comes around from the last. */
        do {
            MPI_Get(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win);
            rank % 2 ? MPI_Win_flush(next, win) : MPI_Win_flush_local_all(win);
        } while (!value);
        MPI_Put(&one, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
    }
    MPI_Win_flush(rank, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int lengths[] = {1, 5000, LONG};
    for (int round = 0; round < 30; round++) around(lengths[round % 3]);
    written();
    locked();
    read_until();
    return end();
}

/* Accesses that read and change: what each finds was there when no other changed it. */
#include "check.h"

enum { N = 40, TIMES = 25 };

/* All add at all ranks and fetch: what one finds at a place grows, and no two find the same. */
static void added(void) {
    int *memory, one[N], found[N], last[N];
    MPI_Win win;
    MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, N * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int at = 0; at < N; at++) one[at] = 1;
    long sum = 0;
    for (int to = 0; to < size; to++) {
        memset(last, 255, sizeof last);
        for (int time = 0; time < TIMES; time++) {
            MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
            CHECK(MPI_Get_accumulate(one, N, MPI_INT, found, N, MPI_INT, to, 0, N, MPI_INT,
                                     MPI_SUM, win) == MPI_SUCCESS);
            MPI_Win_unlock(to, win);
            for (int at = 0; at < N; at++) {
                CHECK(found[at] > last[at] && found[at] < TIMES * size);
                last[at] = found[at];
            }
            sum += found[0];
        }
    }
    /* What all have found at the first places is each number once, at each rank. */
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long most = (long)TIMES * size;
    CHECK(sum == size * (most * (most - 1) / 2));
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int at = 0; at < N; at++) CHECK(memory[at] == TIMES * size);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* Other datatypes at either end, other operations, and none at all: MPI_NO_OP only reads. */
static void reshaped(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int memory[2 * N], out[N], found[2 * N];
    MPI_Datatype every;
    MPI_Win win;
    MPI_Type_vector(N, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    for (int at = 0; at < 2 * N; at++) memory[at] = rank * 1000 + at, found[at] = -1;
    for (int at = 0; at < N; at++) out[at] = rank * 7 + at;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(out, N, MPI_INT, found, 1, every, next, 0, 1, every, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    for (int at = 0; at < 2 * N; at++) {
        CHECK(found[at] == (at % 2 ? -1 : next * 1000 + at));
        CHECK(memory[at] == (at % 2 ? rank * 1000 + at : last * 7 + at / 2));
    }
    memset(found, 255, sizeof found);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, found, N, MPI_INT, next, 1, 1, every, MPI_NO_OP,
                       win);
    MPI_Get_accumulate(out, 1, MPI_INT, found, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM,
                       win);
    MPI_Win_fence(0, win);
    for (int at = 0; at < N; at++) CHECK(found[at] == next * 1000 + 2 * at + 1);
    for (int at = 0; at < N; at++) CHECK(memory[2 * at] == last * 7 + at);
    MPI_Win_free(&win);
    MPI_Type_free(&every);
}

/* What was flushed here may be used again here at once, whatever the others do. */
static void flushed(void) {
    int *memory, out[N], found[N];
    MPI_Win win;
    MPI_Win_allocate(size * N * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    memset(memory, 0, (size_t)(size * N) * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int turn = 0; turn < N; turn++) {
        for (int to = 0; to < size; to++) {
            out[turn] = rank * 100 + turn + to;
            MPI_Put(&out[turn], 1, MPI_INT, to, rank * N + turn, 1, MPI_INT, win);
            CHECK(MPI_Win_flush_local_all(win) == MPI_SUCCESS);
            out[turn] = -1;
        }
    }
    MPI_Win_flush_all(win);
    for (int to = 0; to < size; to++) {
        MPI_Get(found, N, MPI_INT, to, rank * N, N, MPI_INT, win);
        MPI_Win_flush_local_all(win);
        for (int turn = 0; turn < N; turn++) CHECK(found[turn] == rank * 100 + turn + to);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int from = 0; from < size; from++)
        for (int turn = 0; turn < N; turn++)
            CHECK(memory[from * N + turn] == from * 100 + turn + rank);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    added();
    reshaped();
    flushed();
    return end();
}

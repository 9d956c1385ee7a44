/* Windows: all kinds of epochs, all accesses, derived datatypes, atomic counters, and errors. */
#include "check.h"

enum { N = 64 };

/* Each writes to the next and reads from the one before, between fences. */
static void between_fences(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int memory[2 * N], in[N];
    MPI_Win win;
    for (int at = 0; at < 2 * N; at++) memory[at] = at < N ? -1 : rank * 1000 + at;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    int out[N];
    for (int at = 0; at < N; at++) out[at] = rank * 100 + at;
    MPI_Put(out, N, MPI_INT, next, 0, N, MPI_INT, win);
    MPI_Get(in, N, MPI_INT, last, N, N, MPI_INT, win);
    MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int at = 0; at < N; at++) {
        CHECK(memory[at] == last * 100 + at);
        CHECK(in[at] == last * 1000 + N + at);
    }
    memory[0] = 0;
    MPI_Win_fence(0, win);
    for (int to = 0; to < size; to++) {
        int one = rank + 1;
        MPI_Accumulate(&one, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(memory[0] == size * (size + 1) / 2);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

/* What a window says of itself. */
static void attributes(void) {
    int *base, *unit, *flavor, *model, flag, compared;
    MPI_Aint *bytes;
    void *memory;
    MPI_Win win;
    MPI_Group group, world;
    MPI_Win_allocate(8 * (rank + 1), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && (void *)base == memory);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
    CHECK(flag && *bytes == 8 * (rank + 1));
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == 4);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_UNIFIED);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &compared);
    CHECK(compared == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

/* Everybody counts at rank 0, in three ways. */
static void counters(void) {
    enum { TIMES = 50 };
    long *memory, old, one = 1;
    MPI_Win win;
    MPI_Datatype selected;
    MPI_Type_create_f90_integer(18, &selected);
    MPI_Win_allocate(rank == 0 ? 3 * (int)sizeof(long) : 0, sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        memory[0] = memory[1] = memory[2] = 0;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long before = -1;
    for (int time = 0; time < TIMES; time++) {
        /* Read and write under a lock. */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        old++;
        MPI_Put(&old, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
        /* Fetch and add. */
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &old, selected, 0, 1, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        CHECK(old > before && old < (long)size * TIMES);
        before = old;
    }
    MPI_Win_lock_all(0, win);
    for (int time = 0; time < TIMES; time++) {
        /* Compare and swap, until nobody was faster. */
        long expected, new, found;
        MPI_Fetch_and_op(NULL, &found, MPI_LONG, 0, 2, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        do {
            expected = found;
            new = expected + 1;
            MPI_Compare_and_swap(&new, &expected, &found, selected, 0, 2, win);
            MPI_Win_flush_local(0, win);
        } while (found != expected);
    }
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        for (int at = 0; at < 3; at++) CHECK(memory[at] == (long)size * TIMES);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

/* Some lock all, and others one after the other: nobody who waits for one has another. */
static void all_and_one(void) {
    long *memory, before, value;
    MPI_Win win;
    unsigned dice = 7u * (unsigned)rank;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int time = 0; time < 100; time++) {
        dice = dice * 1103515245u + 12345u;
        int target = (int)(dice >> 16) % size;
        if (rank % 2) {
            MPI_Win_lock_all(0, win);
            MPI_Get(&before, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
            MPI_Win_flush_all(win);
            MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
            MPI_Win_unlock_all(win);
            CHECK(value == before);
        } else {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
            MPI_Win_flush(target, win);
            value++;
            MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
            MPI_Win_unlock(target, win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long sum = 0;
    MPI_Allreduce(memory, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 100l * ((size + 1) / 2));
    MPI_Win_free(&win);
}

/* Each lets its neighbours write, and writes to them. */
static void between_neighbours(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size, flag = 0;
    int memory[2] = {-1, -1};
    MPI_Group world, to, from;
    MPI_Win win;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &to);
    MPI_Group_incl(world, 1, &last, &from);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 0; round < 10; round++) {
        int out = rank * 10 + round;
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&out, 1, MPI_INT, next, round % 2, 1, MPI_INT, win);
        MPI_Win_complete(win);
        if (round % 3 == 0) {
            do MPI_Win_test(win, &flag);
            while (!flag);
        } else {
            MPI_Win_wait(win);
        }
        CHECK(memory[round % 2] == last * 10 + round);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

/* Columns become rows at the target, and diagonals come back; the pairs of a structure with gaps
   are accumulated. */
static void derived(void) {
    enum { K = 20 };
    struct pair { short value; int index; };
    static int memory[K * K], own[K * K], back[K];
    struct pair pairs[3], out[3];
    MPI_Datatype column, diagonal;
    MPI_Win win, second;
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Type_vector(K, 1, K, MPI_INT, &column);
    MPI_Type_vector(K, 1, K + 1, MPI_INT, &diagonal);
    MPI_Type_commit(&column);
    MPI_Type_commit(&diagonal);
    for (int at = 0; at < K * K; at++) {
        memory[at] = 0;
        own[at] = rank * 1000 + at;
    }
    for (int at = 0; at < 3; at++) {
        pairs[at] = (struct pair){(short)at, -1};
        out[at] = (struct pair){(short)(2 - at), rank};
    }
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create(pairs, sizeof pairs, sizeof pairs[0], MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    MPI_Win_fence(0, win);
    for (int row = 0; row < K; row++) {
        MPI_Put(&own[row], 1, column, next, (MPI_Aint)sizeof(int) * row * K, K, MPI_INT, win);
    }
    MPI_Win_fence(0, win);
    for (int at = 0; at < K * K; at++) {
        CHECK(memory[at] == last * 1000 + at % K * K + at / K);
    }
    MPI_Get(back, K, MPI_INT, next, 0, 1, diagonal, win);
    MPI_Win_fence(0, win);
    for (int at = 0; at < K; at++) CHECK(back[at] == rank * 1000 + at * K + at);
    MPI_Accumulate(own, K, MPI_INT, next, 0, 1, column, MPI_MAX, win);
    MPI_Accumulate(own, K, MPI_INT, next, sizeof(int), 1, column, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    for (int at = 0; at < K; at++) {
        int old = last * 1000 + at, new = last * 1000 + at;
        CHECK(memory[at * K] == (old > new ? old : new));
        CHECK(memory[at * K + 1] == last * 1000 + at);
    }
    MPI_Win_fence(0, second);
    MPI_Accumulate(out, 3, MPI_SHORT_INT, next, 0, 3, MPI_SHORT_INT, MPI_MAXLOC, second);
    MPI_Win_fence(0, second);
    CHECK(pairs[0].value == 2 && pairs[0].index == last);
    CHECK(pairs[2].value == 2 && pairs[2].index == -1);
    MPI_Win_free(&second);
    MPI_Win_free(&win);
    MPI_Type_free(&column);
    MPI_Type_free(&diagonal);
}

/* Megabytes, and requests. */
static void long_ones(void) {
    enum { M = 300000 };
    int next = (rank + 1) % size;
    int *memory, *out = malloc(M * sizeof(int)), *in = malloc(M * sizeof(int));
    MPI_Win win;
    MPI_Request requests[2];
    MPI_Win_allocate(M * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int at = 0; at < M; at++) {
        memory[at] = 1;
        out[at] = rank + at;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Raccumulate(out, M, MPI_INT, next, 0, M, MPI_INT, MPI_SUM, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    memset(out, 0, M * sizeof(int));
    MPI_Win_flush(next, win);
    MPI_Rget(in, M, MPI_INT, next, 0, M, MPI_INT, win, &requests[0]);
    MPI_Rput(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < M; at++) CHECK(in[at] == 1 + rank + at);
    MPI_Rget_accumulate(out, M, MPI_INT, in, M, MPI_INT, next, 0, M, MPI_INT, MPI_REPLACE, win,
                        &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int at = 0; at < M; at++) CHECK(in[at] == 1 + rank + at);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int at = 0; at < M; at++) CHECK(memory[at] == 0);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    free(out);
    free(in);
}

/* Memory that comes to the window and goes, in two parts that follow one another. */
/* One access to two memories that are apart. */
static void between_regions(MPI_Win win, MPI_Aint own) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int far[3] = {0, 0, 0}, out[2] = {rank + 7, rank + 9};
    MPI_Aint places[2], theirs[2];
    MPI_Datatype both;
    MPI_Win_attach(win, far + 1, sizeof(int));
    places[0] = own;
    MPI_Get_address(&far[1], &places[1]);
    MPI_Sendrecv(places, 2, MPI_AINT, last, 0, theirs, 2, MPI_AINT, next, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_create_hindexed_block(2, 1, theirs, MPI_INT, &both);
    MPI_Type_commit(&both);
    MPI_Win_fence(0, win);
    MPI_Put(out, 2, MPI_INT, next, 0, 1, both, win);
    MPI_Win_fence(0, win);
    CHECK(far[0] == 0 && far[1] == last + 9 && far[2] == 0);
    MPI_Type_free(&both);
    MPI_Win_detach(win, far + 1);
}

static void dynamic(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int memory[4] = {0, 0, 0, 0}, out[2] = {rank + 7, rank + 8};
    MPI_Aint own, theirs;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, 2 * sizeof(int));
    MPI_Win_attach(win, memory + 2, 2 * sizeof(int));
    MPI_Get_address(&memory[1], &own);
    MPI_Sendrecv(&own, 1, MPI_AINT, last, 0, &theirs, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(out, 2, MPI_INT, next, theirs, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == 0 && memory[1] == last + 7 && memory[2] == last + 8 && memory[3] == 0);
    between_regions(win, own);
    MPI_Win_detach(win, memory);
    MPI_Win_detach(win, memory + 2);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    between_fences();
    attributes();
    counters();
    all_and_one();
    between_neighbours();
    derived();
    long_ones();
    dynamic();
    return end();
}

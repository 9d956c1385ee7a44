/* Memory that the ranks of a node share: at addresses of each, and by messages as well. */
#include "check.h"

/* The ranks of this rank's node. */
static MPI_Comm node;
static int me, here;

/* All write to the next one's part, and read what was written to theirs. */
static void next_to_each_other(void) {
    int *own, *other, unit, flag, *flavor;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(4 * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, node, &own,
                            &win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_SHARED);
    for (int it = 0; it < here; it++) {
        MPI_Win_shared_query(win, it, &bytes, &unit, &other);
        CHECK(bytes == 16 && unit == 4 && other == own + 4 * (it - me));
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &other);
    CHECK(other == own - 4 * me);
    for (int at = 0; at < 4; at++) CHECK(own[at] == 0);
    MPI_Win_fence(0, win);
    int next = (me + 1) % here, last = (me + here - 1) % here;
    MPI_Win_shared_query(win, next, &bytes, &unit, &other);
    other[1] = 100 + me;
    MPI_Put(&me, 1, MPI_INT, next, 2, 1, MPI_INT, win);
    int one = 1;
    for (int to = 0; to < here; to++) {
        MPI_Accumulate(&one, 1, MPI_INT, to, 3, 1, MPI_INT, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    CHECK(own[0] == 0 && own[1] == 100 + last && own[2] == last && own[3] == here);
    MPI_Win_free(&win);
}

/* Parts of several sizes that begin on pages; those who have none see the others'. */
static void apart(void) {
    char *own, *first;
    int unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    int odd = here > 1 ? 1 : 0;
    MPI_Aint size = me % 2 == odd ? 10000 * (me + 1) : 0;
    MPI_Win_allocate_shared(size, 1, info, node, &own, &win);
    MPI_Info_free(&info);
    CHECK(size == 0 || ((MPI_Aint)own & 4095) == 0);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
    CHECK(bytes == 10000 * (odd + 1) && unit == 1);
    memset(own, 'a' + me % 26, (size_t)size);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    CHECK(first[0] == 'a' + odd && first[bytes - 1] == 'a' + odd);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* A flag in memory that another rank waits for, without any call in between. */
static void flags(void) {
    volatile int *own, *all;
    int unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &own, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    MPI_Barrier(node);
    for (int round = 1; round <= 20; round++) {
        int before = me == 0 ? round - 1 : round;
        int other = me == 0 ? here - 1 : me - 1;
        while (all[other] != before && here > 1) MPI_Win_sync(win);
        *own = round;
        MPI_Win_sync(win);
    }
    MPI_Win_free(&win);
}

/* MPI_Win_allocate shares what is on a node, and only that. */
static void allocated(void) {
    int *base, *other, unit, in = -1, next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Group all, mine;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(node, &mine);
    MPI_Win_allocate(4 * (rank + 1), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    CHECK(((MPI_Aint)base & 63) == 0);
    for (int it = 0; it < size; it++) {
        int there;
        MPI_Group_translate_ranks(all, 1, &it, mine, &there);
        MPI_Win_shared_query(win, it, &bytes, &unit, &other);
        CHECK(there == MPI_UNDEFINED ? bytes == 0 && other == NULL : bytes == 4 * (it + 1));
        CHECK(it != rank || (other == base && unit == 4));
    }
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, next, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(base[rank] == last);
    MPI_Get(&in, 1, MPI_INT, next, next, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(in == rank);
    /* What lies here is there at once, though its rank is busy elsewhere. */
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Put(&size, 1, MPI_INT, rank, rank, 1, MPI_INT, win);
    MPI_Win_flush(rank, win);
    CHECK(base[rank] == size);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
}

/* Parts that begin where the program asks for it, at more than a page: each of its own, and of
 * those that lie next to each other the first. */
static void aligned(void) {
    char *own, *first;
    int unit;
    MPI_Aint bytes, alignment = 1 << 20;
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "1048576");
    MPI_Win_allocate(1000, 1, info, MPI_COMM_WORLD, &own, &win);
    CHECK((MPI_Aint)own % alignment == 0);
    memset(own, me, 1000);
    MPI_Win_free(&win);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Win_allocate_shared(100, 1, info, node, &own, &win);
        MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
        CHECK((MPI_Aint)first % alignment == 0);
        CHECK(turn ? (MPI_Aint)own % alignment == 0 : own == first + 100 * me);
        memset(own, me, 100);
        MPI_Barrier(node);
        CHECK(first[0] == 0 && own[99] == me);
        MPI_Win_free(&win);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    MPI_Info_free(&info);
}

/* A rank writes to another of its node, which calls nothing until it sees that. */
static void without_the_other(void) {
    volatile int *base;
    int out[2] = {7, 8};
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Barrier(node);
    if (me == 0 && here > 1) {
        MPI_Put(out, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        MPI_Put(out + 1, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
    }
    if (me == 1) {
        while (base[1] != 8) continue;
        CHECK(base[0] == 7);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* What is not shared, and what goes wrong. */
static void others(void) {
    int own[2], *base, *other, unit, class;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_create(own, 8, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_shared_query(win, rank, &bytes, &unit, &other);
    CHECK(bytes == 8 && unit == 2 && other == own);
    if (size > 1) {
        MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &other);
        CHECK(bytes == 0 && other == NULL);
    }
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_shared_query(win, 0, &bytes, &unit, &other), &class);
    CHECK(class == MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Error_class(code, &class);
    CHECK(here == size ? class == MPI_SUCCESS : class == MPI_ERR_RMA_SHARED);
    if (code == MPI_SUCCESS) MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &here);
    for (int time = 0; time < 10; time++) {
        next_to_each_other();
        apart();
        flags();
    }
    allocated();
    aligned();
    without_the_other();
    others();
    MPI_Comm_free(&node);
    return end();
}

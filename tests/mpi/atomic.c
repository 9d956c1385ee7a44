/* Accumulating while others accumulate: each element is changed as one, and in the order of each
   rank, whichever node the ranks are on. Arguments: how often each does it; and if there is another
   one, nobody waits for a rank of the node that calls nothing. */
#include "check.h"
#include <stddef.h>

/* How often each does it, and the most numbers that a rank draws. */
static int times = 10;
enum { MOST = 30000 };

struct pair { double value; int index; };

/* Elements of all sizes, and such that no processor changes as one. */
struct memory {
    signed char bytes[16];
    short shorts[6];
    int ints[3];
    long drawn, swapped;
    float real;
    double reals[3], product[2];
    long double wide;
    struct pair best;
    /* A long that lies across others' places is at odd[1]. */
    char odd[16];
    long own[64];
};

static struct memory *memory;
static MPI_Win win;

#define AT(what) ((MPI_Aint)offsetof(struct memory, what))
#define ADD(from, count, type, owner, what, op) \
    MPI_Accumulate(from, count, type, owner, AT(what), count, type, op, win)

/* What all have drawn of a counter is each number once, and each rank's rise. */
static void is_each_once(const long *drawn, long count) {
    long all, *every = malloc((size_t)size * MOST * sizeof(long));
    MPI_Allreduce(&count, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    char *seen = calloc((size_t)all, 1);
    for (long at = 1; at < count; at++) CHECK(drawn[at] > drawn[at - 1]);
    MPI_Allgather(drawn, MOST, MPI_LONG, every, MOST, MPI_LONG, MPI_COMM_WORLD);
    for (long at = 0; at < (long)size * MOST; at++) {
        if (every[at] < 0) continue;
        CHECK(every[at] < all && !seen[every[at]]);
        seen[every[at]] = 1;
    }
    free(seen);
    free(every);
}

/* All draw numbers of one counter: who is near goes on until those have who are far, so that both
   do it at the same time. */
static void draws(int owner) {
    long one = 1, done = 0, count = 0, *drawn = malloc(MOST * sizeof(long));
    for (int at = 0; at < MOST; at++) drawn[at] = -1;
    MPI_Win_lock_all(0, win);
    while (count < times || (done < size && count < MOST)) {
        MPI_Fetch_and_op(&one, &drawn[count], MPI_LONG, owner, AT(drawn), MPI_SUM, win);
        MPI_Win_flush(owner, win);
        count++;
        if (count < times) continue;
        MPI_Fetch_and_op(&one, &done, MPI_LONG, owner, AT(own[60]),
                         count == times ? MPI_SUM : MPI_NO_OP, win);
        MPI_Win_flush(owner, win);
    }
    MPI_Win_unlock_all(win);
    is_each_once(drawn, count);
    free(drawn);
}

/* All move a number on from where they find it. */
static void swaps(int owner) {
    long found;
    MPI_Win_lock_all(0, win);
    for (int time = 0; time < times; time++) {
        long expected, next;
        MPI_Fetch_and_op(NULL, &found, MPI_LONG, owner, AT(swapped), MPI_NO_OP, win);
        MPI_Win_flush(owner, win);
        do {
            expected = found;
            next = expected + 1;
            MPI_Compare_and_swap(&next, &expected, &found, MPI_LONG, owner, AT(swapped), win);
            MPI_Win_flush(owner, win);
        } while (found != expected);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&found, 1, MPI_LONG, owner, AT(swapped), 1, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    CHECK(found == (long)size * times);
}

/* All add to elements of each kind; some ask for several at once, and others for one of them. */
static void sums(int owner) {
    signed char bytes[16];
    short shorts[6] = {1, 2, 3, 4, 5, 6};
    int ints[3] = {1, -1, 2};
    float real = 1;
    double reals[3] = {1, 2, 3}, two = 2, complex_one[2] = {1, -2};
    long double wide = 1;
    long odd = 1;
    memset(bytes, 1, sizeof bytes);
    MPI_Win_fence(0, win);
    for (int time = 0; time < times; time++) {
        struct pair best = {rank * times + time, rank};
        ADD(bytes, 15, MPI_SIGNED_CHAR, owner, bytes[1], MPI_SUM);
        ADD(bytes, 1, MPI_SIGNED_CHAR, owner, bytes[9], MPI_SUM);
        ADD(shorts, 6, MPI_SHORT, owner, shorts, MPI_SUM);
        ADD(shorts, 1, MPI_SHORT, owner, shorts[1], MPI_SUM);
        ADD(ints, 3, MPI_INT, owner, ints, MPI_SUM);
        ADD(ints, 1, MPI_INT, owner, ints[1], MPI_SUM);
        ADD(&real, 1, MPI_FLOAT, owner, real, MPI_SUM);
        ADD(reals, 3, MPI_DOUBLE, owner, reals, MPI_SUM);
        ADD(complex_one, 1, MPI_C_DOUBLE_COMPLEX, owner, product, MPI_SUM);
        ADD(&wide, 1, MPI_LONG_DOUBLE, owner, wide, MPI_SUM);
        ADD(&best, 1, MPI_DOUBLE_INT, owner, best, MPI_MAXLOC);
        ADD(&odd, 1, MPI_LONG, owner, odd[1], MPI_SUM);
        if (time == 0) ADD(&two, 1, MPI_DOUBLE, owner, reals[2], MPI_SUM);
    }
    MPI_Win_fence(0, win);
    if (rank != owner) return;
    long all = (long)size * times, found;
    for (int at = 0; at < 16; at++) {
        CHECK(memory->bytes[at] == (signed char)(at == 0 ? 0 : at == 9 ? 2 * all : all));
    }
    for (int at = 0; at < 6; at++) {
        CHECK(memory->shorts[at] == (short)(all * (at + 1) + (at == 1 ? all : 0)));
    }
    CHECK(memory->ints[0] == all && memory->ints[1] == 0 && memory->ints[2] == 2 * all);
    CHECK(memory->real == all && memory->wide == all);
    CHECK(memory->reals[1] == 2 * all && memory->reals[2] == 3 * all + 2 * size);
    CHECK(memory->product[0] == all && memory->product[1] == -2 * all);
    CHECK(memory->best.value == all - 1 && memory->best.index == size - 1);
    memcpy(&found, &memory->odd[1], sizeof found);
    CHECK(found == all);
}

/* What a rank does to its own place there is done in its order, whoever carries it out: behind
   elements that only their owner changes, and in places that are apart. */
static void in_order(int owner) {
    MPI_Aint at = AT(own) + 16 * (rank % 4);
    MPI_Datatype apart;
    MPI_Type_vector(2, 1, 8, MPI_LONG, &apart);
    MPI_Type_commit(&apart);
    MPI_Win_lock_all(0, win);
    if (rank >= 4) MPI_Win_flush(owner, win);
    for (int time = 0; rank < 4 && time < times; time++) {
        long new[2] = {time, -time}, more = 5, found[2] = {0, 0}, before[2] = {0, 0}, odd = 0;
        long double wide = 0;
        if (time % 3 == 1) ADD(&wide, 1, MPI_LONG_DOUBLE, owner, wide, MPI_SUM);
        if (time % 3 == 2) ADD(&odd, 1, MPI_LONG, owner, odd[1], MPI_BXOR);
        MPI_Accumulate(new, 2, MPI_LONG, owner, at, 1, apart, MPI_REPLACE, win);
        MPI_Accumulate(&more, 1, MPI_LONG, owner, at, 1, MPI_LONG, MPI_SUM, win);
        MPI_Get_accumulate(new, 2, MPI_LONG, before, 2, MPI_LONG, owner, at, 1, apart, MPI_SUM,
                           win);
        MPI_Get_accumulate(NULL, 0, MPI_LONG, found, 2, MPI_LONG, owner, at, 1, apart, MPI_NO_OP,
                           win);
        MPI_Win_flush_local(owner, win);
        CHECK(before[0] == time + 5 && before[1] == -time);
        CHECK(found[0] == 2 * time + 5 && found[1] == -2 * time);
    }
    MPI_Win_unlock_all(win);
    MPI_Type_free(&apart);
}

/* Who reads its own memory again and again finds what others have added, wherever they are. */
static void polled(int owner) {
    long one = 1, found = 0;
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    if (rank != owner) {
        MPI_Accumulate(&one, 1, MPI_LONG, owner, AT(own[62]), 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(owner, win);
        MPI_Accumulate(&one, 1, MPI_LONG, owner, AT(own[63]), 1, MPI_LONG, MPI_SUM, win);
    }
    while (rank == owner && found < size - 1) {
        MPI_Fetch_and_op(NULL, &found, MPI_LONG, owner, AT(own[62]), MPI_NO_OP, win);
        MPI_Win_flush(owner, win);
    }
    for (found = 0; rank == owner && found < size - 1;) {
        MPI_Rget_accumulate(NULL, 0, MPI_LONG, &found, 1, MPI_LONG, owner, AT(own[63]), 1,
                            MPI_LONG, MPI_NO_OP, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(win);
}

/* The last rank of the node calls nothing until all others have accumulated there, and found that
   they had. */
static void without_the_owner(void) {
    enum { SECONDS = 60 };
    int owner = size - 1;
    long one = 1, found = 0;
    double half = 0.5, was;
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == owner) {
        volatile long *counter = &memory->swapped;
        long left = SECONDS * 1000;
        while (*counter != size - 1 && left-- > 0) rest(1000);
        CHECK(*counter == size - 1);
        CHECK(memory->drawn == (long)times * (size - 1));
        CHECK(memory->reals[0] == 0.5 * times * (size - 1));
    } else {
        for (int time = 0; time < times; time++) {
            MPI_Fetch_and_op(&one, &found, MPI_LONG, owner, AT(drawn), MPI_SUM, win);
            MPI_Win_flush(owner, win);
            CHECK(found >= time && found < (long)times * size);
            MPI_Rget_accumulate(&half, 1, MPI_DOUBLE, &was, 1, MPI_DOUBLE, owner, AT(reals), 1,
                                MPI_DOUBLE, MPI_SUM, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(was >= 0.5 * time);
        }
        MPI_Raccumulate(&one, 1, MPI_LONG, owner, AT(swapped), 1, MPI_LONG, MPI_SUM, win,
                        &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush_all(win);
    }
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 1) times = atoi(argv[1]);
    /* Memory that ranks of a node share, and memory that its own process alone has. */
    for (int turn = 0; turn < 2; turn++) {
        for (int owner = 0; owner < size; owner += size > 1 ? size - 1 : 1) {
            if (turn == 0) {
                MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
            } else {
                memory = calloc(1, sizeof *memory);
                MPI_Win_create(memory, sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
            }
            if (argc > 2) {
                without_the_owner();
                MPI_Win_free(&win);
                return end();
            }
            draws(owner);
            swaps(owner);
            sums(owner);
            in_order(owner);
            polled(owner);
            MPI_Win_free(&win);
            if (turn == 1) free(memory);
        }
    }
    return end();
}

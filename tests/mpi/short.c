/* Short collectives of communicators that come and go, overlap, and are more than a node has
 * boards; ranks are now and then late, so that some are ahead of others. */
#include "check.h"
#include <stddef.h>

enum { ROUNDS = 40, MANY = 20, SIDE = 2 };

static unsigned dice = 1;

static unsigned roll(unsigned below) {
    dice = dice * 1103515245 + 12345;
    return (dice >> 16) % below;
}

/* Matrices of numbers modulo 2^64: whose product depends on the order. */
typedef struct {
    unsigned long long at[SIDE][SIDE];
} Matrix;

static Matrix product(Matrix one, Matrix other) {
    Matrix made = {{{0}}};
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            for (int at = 0; at < SIDE; at++)
                made.at[row][column] += one.at[row][at] * other.at[at][column];
    return made;
}

static void multiply(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int at = 0; at < *count; at++)
        ((Matrix *)inout)[at] = product(((Matrix *)in)[at], ((Matrix *)inout)[at]);
}

static Matrix matrix(int of) {
    Matrix made = {{{of + 1, 2}, {3, of * of + 5}}};
    return made;
}

/* The larger one of each three integers, which have gaps between them. */
static void larger(void *in, void *inout, int *count, MPI_Datatype *type) {
    const int *from = in;
    int *into = inout;
    (void)type;
    for (int at = 0; at < 5 * *count; at += 2)
        if (from[at] > into[at]) into[at] = from[at];
}

/* Operations and datatypes of the program's own. */
typedef struct {
    MPI_Op times, larger;
    MPI_Datatype whole, gaps;
} Kinds;

/* What all ranks of a communicator see after one of each. */
static void once(MPI_Comm comm, int round, const Kinds *kinds) {
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    if (roll(10) == 0) rest(roll(2000));
    MPI_Barrier(comm);
    long mine = rank * 1000 + round, least;
    MPI_Allreduce(&mine, &least, 1, MPI_LONG, MPI_MIN, comm);
    CHECK(least % 1000 == round && least <= mine);
    /* As many as are shown, and one more, which go in messages. */
    double much[32], sums[32];
    for (int at = 0; at < 32; at++) much[at] = me + at;
    for (int count = 30; count <= 32; count++) {
        MPI_Allreduce(much, sums, count, MPI_DOUBLE, MPI_SUM, comm);
        for (int at = 0; at < count; at++) CHECK(sums[at] == all * (all - 1) / 2 + at * all);
    }
    /* Of an order that is that of the ranks, in place, and strewn. */
    Matrix own = matrix(me), want = matrix(0);
    for (int other = 1; other < all; other++) want = product(want, matrix(other));
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, kinds->whole, kinds->times, comm);
    CHECK(memcmp(&own, &want, sizeof own) == 0);
    int strewn[5] = {me, -1, me + 1, -1, me + 2}, most[5] = {0};
    MPI_Allreduce(strewn, most, 1, kinds->gaps, kinds->larger, comm);
    CHECK(most[0] == all - 1 && most[2] == all && most[4] == all + 1 && !most[1] && !most[3]);
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm);
}

/* Its key alone is told of; what is copied is all of it. */
typedef struct {
    char before[72];
    int key;
    char host[200];
} Wide;

static void latest(void *in, void *out, int *count, MPI_Datatype *type) {
    Wide *from = in, *into = out;
    (void)type;
    for (int at = 0; at < *count; at++)
        if (from[at].key > into[at].key) into[at] = from[at];
}

/* An operation of the program may copy what lies around the data: that is nobody else's. */
static void copied_whole(void) {
    enum { WIDE = 40 };
    int one = 1;
    MPI_Aint at = offsetof(Wide, key);
    MPI_Datatype key = MPI_INT, inner, type;
    MPI_Op op;
    MPI_Type_create_struct(1, &one, &at, &key, &inner);
    MPI_Type_create_resized(inner, 0, sizeof(Wide), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(latest, 1, &op);
    for (int count = 1; count <= WIDE; count += 13) {
        Wide *mine = calloc(count, sizeof *mine), *most = calloc(count, sizeof *most);
        for (int each = 0; each < count; each++) mine[each].key = (rank + each) % size;
        MPI_Allreduce(mine, most, count, type, op, MPI_COMM_WORLD);
        for (int each = 0; each < count; each++) CHECK(most[each].key == size - 1);
        memset(most, 0, count * sizeof *most);
        MPI_Scan(mine, most, count, type, op, MPI_COMM_WORLD);
        for (int each = 0; rank == size - 1 && each < count; each++)
            CHECK(most[each].key == rank);
        free(mine);
        free(most);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&inner);
    MPI_Type_free(&type);
}

/* Communicators of one collective each, of all and then of some, who go on while the others may
 * still look at what they were shown. */
static void in_turn(void) {
    MPI_Comm some, all, comm;
    int mine[2] = {rank, 0}, most[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &some);
    for (int round = 0; round < 10 * ROUNDS; round++) {
        mine[1] = round;
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        if (roll(20) == 0) rest(roll(500));
        MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MAX, all);
        CHECK(most[0] == size - 1 && most[1] == round);
        MPI_Comm_free(&all);
        MPI_Comm_dup(some, &comm);
        for (int turn = 0; turn < round % 4; turn++) {
            MPI_Allreduce(mine, most, 2, MPI_INT, MPI_MIN, comm);
            CHECK(most[0] == rank % 2 && most[1] == round);
        }
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&some);
}

/* Who comes last each time waits for nothing, and still sends what others wait for. */
static void last(void) {
    enum { LONG = 1 << 18 };
    int *values = calloc(LONG, sizeof *values), has_ended = 0, all = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0 && size > 1) MPI_Isend(values, LONG, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Irecv(values, LONG, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    while (!all) {
        has_ended = 1;
        if (rank == 1) MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE);
        if (rank == 0) rest(1000);
        MPI_Allreduce(&has_ended, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(values);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm kept[MANY], comm;
    Kinds kinds;
    dice += rank;
    MPI_Op_create(multiply, 0, &kinds.times);
    MPI_Op_create(larger, 1, &kinds.larger);
    MPI_Type_contiguous(SIDE * SIDE, MPI_UNSIGNED_LONG_LONG, &kinds.whole);
    MPI_Type_vector(3, 1, 2, MPI_INT, &kinds.gaps);
    MPI_Type_commit(&kinds.whole);
    MPI_Type_commit(&kinds.gaps);
    for (int round = 0; round < ROUNDS; round++) {
        /* All, two parts, and pairs that overlap the parts. */
        once(MPI_COMM_WORLD, round, &kinds);
        for (int parts = 2; parts <= 3; parts++) {
            MPI_Comm_split(MPI_COMM_WORLD, rank % parts, -rank, &comm);
            for (int turn = 0; turn < 3; turn++) once(comm, round, &kinds);
            MPI_Comm_free(&comm);
        }
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &comm);
        once(comm, round, &kinds);
        MPI_Comm_free(&comm);
    }
    for (int at = 0; at < MANY; at++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &kept[at]);
        once(kept[at], at, &kinds);
    }
    for (int at = 0; at < MANY; at++) {
        once(kept[at], at, &kinds);
        MPI_Comm_free(&kept[at]);
    }
    in_turn();
    last();
    copied_whole();
    MPI_Op_free(&kinds.times);
    MPI_Op_free(&kinds.larger);
    MPI_Type_free(&kinds.whole);
    MPI_Type_free(&kinds.gaps);
    return end();
}

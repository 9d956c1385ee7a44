/* Collectives, blocking and not, on all ranks and on parts of them. */
#include "check.h"

/* On one communicator, with so many elements a rank. */
static void on(MPI_Comm comm, int count) {
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    int *own = malloc(sizeof(int) * (size_t)(count + 1));
    int *every = malloc(sizeof(int) * (size_t)(count * all + 1));
    int *into = malloc(sizeof(int) * (size_t)(count * all + 1));
    for (int at = 0; at < count; at++) own[at] = me * 1000 + at;

    for (int root = 0; root < all; root++) {
        for (int at = 0; at < count; at++) into[at] = me == root ? root * 7 + at : -1;
        MPI_Bcast(into, count, MPI_INT, root, comm);
        for (int at = 0; at < count; at++) CHECK(into[at] == root * 7 + at);
        MPI_Gather(own, count, MPI_INT, every, count, MPI_INT, root, comm);
        if (me == root)
            for (int at = 0; at < count * all; at++)
                CHECK(every[at] == at / count * 1000 + at % count);
        MPI_Scatter(every, count, MPI_INT, into, count, MPI_INT, root, comm);
        for (int at = 0; at < count; at++) CHECK(into[at] == own[at]);
        MPI_Reduce(own, into, count, MPI_INT, MPI_SUM, root, comm);
        if (me == root)
            for (int at = 0; at < count; at++)
                CHECK(into[at] == all * (all - 1) / 2 * 1000 + at * all);
    }
    MPI_Allgather(own, count, MPI_INT, every, count, MPI_INT, comm);
    for (int at = 0; at < count * all; at++) CHECK(every[at] == at / count * 1000 + at % count);
    for (int at = 0; at < count * all; at++) every[at] = me * 1000 + at;
    MPI_Alltoall(every, count, MPI_INT, into, count, MPI_INT, comm);
    for (int at = 0; at < count * all; at++)
        CHECK(into[at] == at / count * 1000 + me * count + at % count);
    MPI_Allreduce(own, into, count, MPI_INT, MPI_MAX, comm);
    for (int at = 0; at < count; at++) CHECK(into[at] == (all - 1) * 1000 + at);
    for (int at = 0; at < count; at++) into[at] = own[at];
    MPI_Allreduce(MPI_IN_PLACE, into, count, MPI_INT, MPI_SUM, comm);
    for (int at = 0; at < count; at++) CHECK(into[at] == all * (all - 1) / 2 * 1000 + at * all);
    MPI_Scan(own, into, count, MPI_INT, MPI_SUM, comm);
    for (int at = 0; at < count; at++)
        CHECK(into[at] == me * (me + 1) / 2 * 1000 + at * (me + 1));
    /* The first rank gets nothing, so it need not have a buffer for it. */
    MPI_Exscan(own, me > 0 ? into : NULL, count, MPI_INT, MPI_SUM, comm);
    if (me > 0)
        for (int at = 0; at < count; at++) CHECK(into[at] == me * (me - 1) / 2 * 1000 + at * me);
    for (int at = 0; at < count * all; at++) every[at] = at + me;
    MPI_Reduce_scatter_block(every, into, count, MPI_INT, MPI_SUM, comm);
    for (int at = 0; at < count; at++)
        CHECK(into[at] == (me * count + at) * all + all * (all - 1) / 2);
    MPI_Barrier(comm);
    free(own);
    free(every);
    free(into);
}

/* Parts of different lengths, with gaps. */
static void of_different_lengths(MPI_Comm comm) {
    int me, all, total = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    int *counts = malloc(sizeof(int) * (size_t)all), *places = malloc(sizeof(int) * (size_t)all);
    for (int other = 0; other < all; other++) {
        counts[other] = other + 1;
        places[other] = total;
        total += other + 2;
    }
    int *own = malloc(sizeof(int) * (size_t)(all + 1)), *every = calloc((size_t)total, sizeof(int));
    for (int at = 0; at <= me; at++) own[at] = me * 100 + at;
    MPI_Allgatherv(own, me + 1, MPI_INT, every, counts, places, MPI_INT, comm);
    for (int other = 0; other < all; other++)
        for (int at = 0; at <= other; at++) CHECK(every[places[other] + at] == other * 100 + at);
    memset(own, 0, sizeof(int) * (size_t)(all + 1));
    MPI_Scatterv(every, counts, places, MPI_INT, own, me + 1, MPI_INT, all - 1, comm);
    for (int at = 0; at <= me; at++) CHECK(own[at] == me * 100 + at);
    free(counts);
    free(places);
    free(own);
    free(every);
}

/* Several under way at once, ended in another order. */
static void not_blocking(MPI_Comm comm) {
    enum { COUNT = 1000 };
    static int sums[3][COUNT], own[COUNT], root[COUNT];
    MPI_Request requests[5];
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    for (int at = 0; at < COUNT; at++) own[at] = me + at, root[at] = me == 0 ? at : -1;
    MPI_Iallreduce(own, sums[0], COUNT, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibcast(root, COUNT, MPI_INT, 0, comm, &requests[1]);
    MPI_Iallreduce(own, sums[1], COUNT, MPI_INT, MPI_MAX, comm, &requests[2]);
    MPI_Ibarrier(comm, &requests[3]);
    MPI_Iscan(own, sums[2], COUNT, MPI_INT, MPI_SUM, comm, &requests[4]);
    MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
    for (int at = 0; at < COUNT; at++)
        CHECK(sums[2][at] == me * (me + 1) / 2 + at * (me + 1));
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < COUNT; at++) {
        CHECK(sums[0][at] == all * (all - 1) / 2 + at * all);
        CHECK(sums[1][at] == all - 1 + at && root[at] == at);
    }
}

/* The composition of functions x -> a x + b: the order of operands shows. */
static void compose(void *first, void *second, int *count, MPI_Datatype *type) {
    unsigned *left = first, *right = second;
    (void)type;
    for (int at = 0; at < *count; at++, left += 2, right += 2) {
        unsigned a = left[0] * right[0], b = left[1] * right[0] + right[1];
        right[0] = a, right[1] = b;
    }
}

static void in_the_order_of_ranks(MPI_Comm comm) {
    MPI_Op op;
    MPI_Datatype function;
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &function);
    MPI_Type_commit(&function);
    MPI_Op_create(compose, 0, &op);
    unsigned own[2] = {(unsigned)me + 2, (unsigned)me * 3 + 1}, into[2], wanted[2] = {1, 0};
    for (unsigned other = 0; other < (unsigned)all; other++)
        wanted[0] *= other + 2, wanted[1] = wanted[1] * (other + 2) + other * 3 + 1;
    for (int root = 0; root < all; root++) {
        MPI_Reduce(own, into, 1, function, op, root, comm);
        CHECK(me != root || (into[0] == wanted[0] && into[1] == wanted[1]));
    }
    MPI_Allreduce(own, into, 1, function, op, comm);
    CHECK(into[0] == wanted[0] && into[1] == wanted[1]);
    struct { double value; int where; } lowest, mine = {(double)((me + 1) % all), me};
    MPI_Allreduce(&mine, &lowest, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    CHECK(lowest.value == 0 && lowest.where == all - 1);
    MPI_Op_free(&op);
    MPI_Type_free(&function);
}

/* Who expects less than the others get is told so, and so is who is passed on less by him; nobody
 * is hindered. */
static void of_wrong_length(MPI_Comm comm) {
    static const int lengths[2] = {100, 40000};
    MPI_Comm copy;
    int me, all;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Comm_rank(copy, &me);
    MPI_Comm_size(copy, &all);
    for (int which = 0; which < 2; which++) {
        for (int wrong = 1; wrong < all; wrong++) {
            int length = lengths[which];
            int *values = calloc((size_t)length, sizeof(int));
            if (me == 0)
                for (int at = 0; at < length; at++) values[at] = at + 1;
            int code = MPI_Bcast(values, me == wrong ? length - 1 : length, MPI_INT, 0, copy);
            int class = MPI_SUCCESS;
            MPI_Error_class(code, &class);
            int lacks = values[length - 1] != length;
            CHECK(me == wrong ? class == MPI_ERR_TRUNCATE
                              : class == MPI_SUCCESS || (lacks && class == MPI_ERR_OTHER));
            CHECK(me == wrong || values[length - 2] == length - 1);
            free(values);
            MPI_Barrier(copy);
        }
    }
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    of_wrong_length(MPI_COMM_WORLD);
    MPI_Comm half, copy, reversed;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_dup(half, &copy);
    MPI_Comm all[5] = {MPI_COMM_WORLD, MPI_COMM_SELF, half, copy, reversed};
    for (int which = 0; which < 5; which++) {
        on(all[which], 1);
        on(all[which], 3);
        on(all[which], 20000);
        of_different_lengths(all[which]);
        not_blocking(all[which]);
        in_the_order_of_ranks(all[which]);
    }
    int same;
    MPI_Comm_compare(half, copy, &same);
    CHECK(same == MPI_CONGRUENT);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&reversed);
    CHECK(half == MPI_COMM_NULL);
    return end();
}

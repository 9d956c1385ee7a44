/* Collectives between the two groups of an intercommunicator: what one has, the other gets. */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

static int me, mine, theirs, is_even;

/* What rank `from` of a group has for rank `to`, element `at`. */
static int value(int even, int from, int to, int at) {
    return even * 100000 + from * 1000 + to * 100 + at;
}

/* The sum over a group's ranks. */
static int sum(int even, int ranks, int to, int at) {
    int all = 0;
    for (int from = 0; from < ranks; from++) all += value(even, from, to, at);
    return all;
}

/* How a rank names the root, which is `root` of the even or of the odd ones. */
static int named(int even, int root) {
    if (is_even != even) return root;
    return me == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(MPI_Comm comm, int even, int root, int count) {
    int is_root = is_even == even && me == root, is_opposite = is_even != even;
    int there = is_even == even ? theirs : mine, name = named(even, root);
    int *own = malloc(sizeof(int) * (size_t)(count * there + 1));
    int *into = malloc(sizeof(int) * (size_t)(count * there + 1));
    int *counts = malloc(sizeof(int) * (size_t)there), *places = malloc(sizeof(int) *
        (size_t)there);
    for (int at = 0; at < count; at++) into[at] = is_root ? at * 3 : -1;
    MPI_Bcast(into, count, MPI_INT, name, comm);
    for (int at = 0; at < count; at++) CHECK(into[at] == (is_root || is_opposite ? at * 3 : -1));

    for (int at = 0; at < count * there; at++) own[at] = value(is_even, me, 0, at), into[at] = -1;
    MPI_Gather(own, count, MPI_INT, into, count, MPI_INT, name, comm);
    for (int at = 0; is_root && at < count * there; at++)
        CHECK(into[at] == value(!is_even, at / count, 0, at % count));
    for (int other = 0; other < there; other++)
        counts[other] = other % 2, places[other] = there - 1 - other;
    for (int at = 0; at < there; at++) into[at] = -1;
    MPI_Gatherv(own, me % 2, MPI_INT, into, counts, places, MPI_INT, name, comm);
    for (int other = 0; is_root && other < there; other++)
        CHECK(into[places[other]] == (other % 2 ? value(!is_even, other, 0, 0) : -1));

    for (int at = 0; at < count * there; at++)
        own[at] = value(is_even, me, at / count, at % count), into[at] = -1;
    MPI_Scatter(own, count, MPI_INT, into, count, MPI_INT, name, comm);
    for (int at = 0; is_opposite && at < count; at++)
        CHECK(into[at] == value(!is_even, root, me, at));
    MPI_Reduce(own, into, count, MPI_INT, MPI_SUM, name, comm);
    for (int at = 0; is_root && at < count; at++) CHECK(into[at] == sum(!is_even, theirs, 0, at));
    free(own);
    free(into);
    free(counts);
    free(places);
}

static void unrooted(MPI_Comm comm, int count) {
    MPI_Request requests[2];
    /* In a reduction shared out both groups have as many elements. */
    int shared = mine * theirs * count, largest = shared + (mine + theirs) * count;
    int *own = malloc(sizeof(int) * (size_t)largest), *into = malloc(sizeof(int) * (size_t)largest);
    int *counts = malloc(sizeof(int) * (size_t)mine);
    for (int at = 0; at < largest; at++) own[at] = value(is_even, me, 0, at);
    MPI_Iallgather(own, count, MPI_INT, into, count, MPI_INT, comm, &requests[0]);
    MPI_Ibarrier(comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < count * theirs; at++)
        CHECK(into[at] == value(!is_even, at / count, 0, at % count));
    MPI_Allreduce(own, into, count, MPI_INT, MPI_SUM, comm);
    for (int at = 0; at < count; at++) CHECK(into[at] == sum(!is_even, theirs, 0, at));
    MPI_Reduce_scatter_block(own, into, theirs * count, MPI_INT, MPI_SUM, comm);
    for (int at = 0; at < theirs * count; at++)
        CHECK(into[at] == sum(!is_even, theirs, 0, me * theirs * count + at));
    for (int other = 0; other < mine; other++) counts[other] = theirs * count;
    MPI_Ireduce_scatter(own, into, counts, MPI_INT, MPI_MIN, comm, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    for (int at = 0; at < theirs * count; at++)
        CHECK(into[at] == value(!is_even, 0, 0, me * theirs * count + at));
    for (int at = 0; at < count * theirs; at++) own[at] = value(is_even, me, at / count, at %
        count);
    MPI_Alltoall(own, count, MPI_INT, into, count, MPI_INT, comm);
    for (int at = 0; at < count * theirs; at++)
        CHECK(into[at] == value(!is_even, at / count, me, at % count));
    MPI_Barrier(comm);
    free(own);
    free(into);
    free(counts);
}

/* Nobody of either group leaves before all of both have come, the last one too. */
static void met(MPI_Comm comm, int late) {
    char name[256];
    const char *folder = getenv("TMPDIR");
    if (rank == 0)
        snprintf(name, sizeof name, "%s/muster-between-%d-%d", folder ? folder : "/tmp", getpid(),
            late);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) {
        struct timespec moment = {0, 20000000};
        nanosleep(&moment, NULL);
        CHECK(!close(open(name, O_CREAT | O_WRONLY, 0600)));
    }
    MPI_Barrier(comm);
    CHECK(access(name, F_OK) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) unlink(name);
}

#if MPI_VERSION >= 4
/* Each node gets its part of both groups, unless it has ranks of one group only, or all ranks. */
static void by_nodes(MPI_Comm comm) {
    MPI_Comm node, part;
    int all, evens, own, other;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &all);
    MPI_Allreduce(&is_even, &evens, 1, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part);
    CHECK((part != MPI_COMM_NULL) == (all < size && evens > 0 && evens < all));
    if (part == MPI_COMM_NULL) return;
    MPI_Comm_size(part, &own);
    MPI_Comm_remote_size(part, &other);
    CHECK(own == (is_even ? evens : all - evens) && own + other == all);
    MPI_Comm_free(&part);
}
#endif

int main(int argc, char **argv) {
    MPI_Comm half, between;
    begin(&argc, &argv);
    if (size > 1) {
        is_even = rank % 2 == 0;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_even, 7, &between);
        MPI_Comm_rank(between, &me);
        MPI_Comm_size(between, &mine);
        MPI_Comm_remote_size(between, &theirs);
        for (int count = 1; count < 30000; count *= 29) {
            for (int even = 0; even < 2; even++)
                for (int root = 0; root < (even == is_even ? mine : theirs); root++)
                    rooted(between, even, root, count);
            unrooted(between, count < 1000 ? count : 1000);
        }
        for (int late = 0; late < size; late++) met(between, late);
#if MPI_VERSION >= 4
        by_nodes(between);
#endif
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
    }
    return end();
}

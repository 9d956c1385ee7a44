/* A tree of work that goes from rank to rank: who finds that nothing is left has all of it. */
#include "check.h"
#include <muster.h>

enum { DEPTH = 9, TAG = 7, MOST = 4096 };

static int done_here;
static unsigned state;

static int drawn(int below) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 16) % (unsigned)below);
}

static void told(int answer) {
    if (answer < 0) {
        fprintf(stderr, "rank %d: %s\n", rank, muster_why);
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

/* What was sent and that nobody has taken so far. */
static MPI_Request under_way[MOST];
static int depths[MOST], count;

static void work(int depth) {
    int child;
    done_here++;
    for (child = 0; depth > 0 && child < 2; child++) {
        depths[count] = depth - 1;
        MPI_Issend(&depths[count], 1, MPI_INT, drawn(size), TAG, MPI_COMM_WORLD, &under_way[count]);
        count++;
    }
}

/* A round: rank 0 has all of it at first. */
static void round_of(int seed) {
    int done = 0, all = 0, here, flag, depth;
    state = (unsigned)(seed * 97 + rank);
    done_here = count = 0;
    told(muster_busy());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        work(DEPTH);
    while (!done) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
        if (here) {
            told(muster_busy());
            MPI_Recv(&depth, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(depth);
            continue;
        }
        MPI_Testall(count, under_way, &flag, MPI_STATUSES_IGNORE);
        if (flag) {
            count = 0;
            told(muster_quiet());
            told(muster_quiescent(&done));
        }
    }
    MPI_Reduce(&done_here, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(all == (1 << (DEPTH + 1)) - 1);
}

/* Each rank gives up its epochs one after another; nobody is past one that another holds. */
static void epochs(void) {
    int epoch, flag, least;
    for (epoch = 1; epoch <= 20; epoch++) {
        told(muster_reached((uint64_t)epoch * size + rank + 1, &flag));
        told(muster_live((uint64_t)epoch));
        do
            told(muster_reached((uint64_t)epoch, &flag));
        while (!flag);
        MPI_Allreduce(&epoch, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        CHECK(least == epoch);
        told(muster_reached((uint64_t)epoch + 1, &flag));
        CHECK(!flag);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(muster_live(3) < 0 && strstr(muster_why, "only grows"));
}

int main(int argc, char **argv) {
    int seed;
    begin(&argc, &argv);
    for (seed = 1; seed <= 3; seed++)
        round_of(seed);
    epochs();
    return end();
}

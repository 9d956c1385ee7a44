/* More ranks than processors, all on nodes of their own: each sleeps when it waits, and says what
 * it has taken when it has something to say, or a while later. Rank 0 sends to all more short
 * messages than it can have under way at once, each fewer than are told of at once. */
#include "check.h"

enum { ROUNDS = 6, EACH = 12, LONG = 300000 };

static void short_ones(int round) {
    int i, to, got;
    if (rank != 0) {
        for (i = 0; i < EACH; i++) {
            MPI_Recv(&got, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(got == round * 100 + i);
        }
        return;
    }
    for (i = 0; i < EACH; i++)
        for (to = 1; to < size; to++) {
            got = round * 100 + i;
            MPI_Send(&got, 1, MPI_INT, to, i, MPI_COMM_WORLD);
        }
}

/* In turns with what follows at once, so that nobody sleeps long. */
static void all(int round) {
    static char bytes[LONG];
    int i, sum = 0, root = round % size;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    memset(bytes, rank == root ? round + 1 : 0, LONG);
    MPI_Bcast(bytes, LONG, MPI_BYTE, root, MPI_COMM_WORLD);
    for (i = 0; i < LONG; i++)
        CHECK(bytes[i] == round + 1);
}

int main(int argc, char **argv) {
    int round;
    begin(&argc, &argv);
    for (round = 0; round < ROUNDS; round++) {
        short_ones(round);
        if (round % 3 == 0)
            rest(5000);
        all(round);
    }
    return end();
}

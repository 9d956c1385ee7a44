/* What the library keeps in the heap of a rank that has exchanged messages with its neighbours in a
 * grid, and with all in collectives: the mean of all ranks, and the most. */
#include "check.h"
#include <malloc.h>

static long held(void) {
    struct mallinfo2 heap = mallinfo2();
    return (long)(heap.uordblks + heap.hblkhd);
}

int main(int argc, char **argv) {
    /* What the program and its C library need is there before. */
    printf("%s", "");
    long before = held();
    begin(&argc, &argv);
    int dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, values[64], more[64];
    for (int at = 0; at < 64; at++) values[at] = rank + at;
    MPI_Comm grid;
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
    for (int round = 0; round < 3; round++) {
        for (int step = 0; step < 6; step++) {
            int from, to;
            MPI_Cart_shift(grid, step / 2, step % 2 ? 1 : -1, &from, &to);
            MPI_Sendrecv(values, 64, MPI_INT, to, step, more, 64, MPI_INT, from, step, grid,
                         MPI_STATUS_IGNORE);
            CHECK(more[1] == from + 1);
        }
        MPI_Bcast(more, 64, MPI_INT, round % size, MPI_COMM_WORLD);
        MPI_Allreduce(values, more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(more[0] == size - 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    long own = held() - before, sum, most;
    MPI_Reduce(&own, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&own, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("held %ld %ld\n", sum / size, most);
    return end();
}

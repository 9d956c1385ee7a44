/* Who has received a synchronous message says so before the call returns: the sender goes on while
 * the receiver calls nothing. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Aint bytes;
    MPI_Win win;
    volatile int *own, *flag;
    int unit, value = 0;
    begin(&argc, &argv);
    MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&own, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, (void *)&flag);
    *own = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= 20; round++) {
        if (rank == 0) {
            MPI_Ssend(&round, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
            *flag = round;
        } else {
            /* It is there, or comes while it is waited for. */
            if (round % 2) rest(2000);
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            while (*flag != round) continue;
            CHECK(value == round);
        }
    }
    MPI_Win_free(&win);
    return end();
}

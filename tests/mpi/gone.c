/* Ranks of which the second goes, and who go on without it: no lock stays with one whose call has
 * failed for that. */
#include "check.h"

static MPI_Comm others;
static MPI_Win window;

int main(int argc, char **argv) {
    static int memory[4];
    begin(&argc, &argv);
    const int goes = 1;
    if (size < 3) return end();
    MPI_Comm_split(MPI_COMM_WORLD, rank == goes, 0, &others);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == goes) exit(0);

    if (rank == 0) {
        while (MPI_Win_lock(MPI_LOCK_SHARED, goes, 0, window) == MPI_SUCCESS) {
            MPI_Win_unlock(goes, window);
            rest(1000);
        }
    }
    /* The first asks all at once for their locks, and has none of them in the end. */
    if (rank == 0) CHECK(MPI_Win_lock_all(0, window) == MPI_ERR_PROC_ABORTED);
    MPI_Barrier(others);
    for (int target = 0; rank == 2 && target < size; target++) {
        if (target == goes) continue;
        CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window) == MPI_SUCCESS);
        CHECK(MPI_Win_unlock(target, window) == MPI_SUCCESS);
    }
    MPI_Barrier(others);
    if (rank == 0) printf("ok %d\n", size);
    fflush(stdout);
    exit(0);
}

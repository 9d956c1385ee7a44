/* What was put has left its buffer when that is flushed locally, whatever the target does; what is
 * got is there. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <fcntl.h>

enum { COUNT = 1000 };

static char folder[64], sign[128];
static MPI_Win window;

/* Puts, while the other one is not in MPI before all of that is done. */
static void put(void) {
    int value, sum, got = -1;
    for (int i = 0; i < COUNT; i++) {
        value = i;
        MPI_Put(&value, 1, MPI_INT, 1, i, 1, MPI_INT, window);
        i % 2 ? MPI_Win_flush_local(1, window) : MPI_Win_flush_local_all(window);
        value = -1;
        sum = 1;
        MPI_Accumulate(&sum, 1, MPI_INT, 1, COUNT, 1, MPI_INT, MPI_SUM, window);
        MPI_Win_flush_local(1, window);
        sum = -1;
    }
    close(open(sign, O_CREAT | O_WRONLY, 0600));
    MPI_Get(&got, 1, MPI_INT, 1, COUNT, 1, MPI_INT, window);
    MPI_Win_flush_local(1, window);
    CHECK(got == COUNT);
    MPI_Win_flush(1, window);
}

int main(int argc, char **argv) {
    int *memory;
    begin(&argc, &argv);
    CHECK(size == 2);
    make_folder(folder);
    snprintf(sign, sizeof sign, "%s/sign", folder);
    memory = calloc(COUNT + 1, sizeof *memory);
    MPI_Win_create(memory, (COUNT + 1) * sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) put();
    await_file(sign);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (int i = 0; rank == 1 && i < COUNT; i++) CHECK(memory[i] == i);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(memory);
    if (rank == 0) CHECK(unlink(sign) == 0 && rmdir(folder) == 0);
    return end();
}

/* A rank that has put much into a window and then calls nothing holds up no other rank there. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <fcntl.h>

enum { LONG = 4 << 20 };

static char folder[64], sign[128];
static MPI_Win window;

/* Puts, and waits for what rank 2 does after: not in MPI. */
static void put_and_wait(void) {
    char *much = calloc(LONG, 1);
    MPI_Put(much, LONG, MPI_CHAR, 0, 0, LONG, MPI_CHAR, window);
    MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
    await_file(sign);
    MPI_Win_flush(0, window);
    free(much);
}

/* Counts at rank 0, behind what was put. */
static void count(void) {
    long one = 1, before = -1;
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, LONG, MPI_SUM, window);
    MPI_Win_flush(0, window);
    CHECK(before == 7);
    close(open(sign, O_CREAT | O_WRONLY, 0600));
}

int main(int argc, char **argv) {
    char *memory;
    begin(&argc, &argv);
    CHECK(size == 3);
    make_folder(folder);
    snprintf(sign, sizeof sign, "%s/sign", folder);
    memory = calloc(LONG + sizeof(long), 1);
    *(long *)(memory + LONG) = 7;
    MPI_Win_create(memory, LONG + sizeof(long), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    if (rank == 1) put_and_wait();
    if (rank == 2) count();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(memory);
    if (rank == 0) CHECK(unlink(sign) == 0 && rmdir(folder) == 0);
    return end();
}

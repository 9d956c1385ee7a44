/* Many ranks in a container: collectives and messages, short and long, with nothing in /dev/shm and
 * no more room there than containers have. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <dirent.h>
#include <sys/statvfs.h>

enum { LONG = 200000, SHORT = 8 };

/* That nothing is in /dev/shm, and how large that is. */
static void is_small_and_empty(void) {
    struct statvfs room;
    DIR *folder = opendir("/dev/shm");
    CHECK(folder && statvfs("/dev/shm", &room) == 0);
    CHECK((long long)room.f_blocks * (long long)room.f_frsize == 64LL << 20);
    for (struct dirent *entry; (entry = readdir(folder));) CHECK(entry->d_name[0] == '.');
    closedir(folder);
}

/* Around a ring, two ways at once. */
static void messages(int length, int *out, int *in) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request requests[4];
    for (int at = 0; at < length; at++) out[at] = rank * 1000 + at % 997;
    MPI_Irecv(in, length, MPI_INT, last, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + length, length, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, length, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, length, MPI_INT, last, 1, MPI_COMM_WORLD, &requests[3]);
    is_small_and_empty();
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < length; at++) {
        CHECK(in[at] == last * 1000 + at % 997);
        CHECK(in[length + at] == next * 1000 + at % 997);
    }
}

static void collectives(int length, int *out, int *in) {
    for (int at = 0; at < length; at++) out[at] = rank + at % 997;
    MPI_Allreduce(out, in, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int at = 0; at < length; at++)
        CHECK(in[at] == size * (size - 1) / 2 + size * (at % 997));
    for (int at = 0; at < length; at++) out[at] = rank == size - 1 ? at : -1;
    MPI_Bcast(out, length, MPI_INT, size - 1, MPI_COMM_WORLD);
    for (int at = 0; at < length; at++) CHECK(out[at] == at);
    int part = length / size;
    for (int at = 0; at < part * size; at++) out[at] = rank * 1000 + at / (part ? part : 1);
    MPI_Alltoall(out, part, MPI_INT, in, part, MPI_INT, MPI_COMM_WORLD);
    for (int at = 0; at < part * size; at++) CHECK(in[at] == at / part * 1000 + rank);
    is_small_and_empty();
}

/* Memory that all ranks use, and what they share on a node. */
static void windows(int length) {
    int *memory, out = rank;
    MPI_Win win;
    MPI_Win_allocate(length * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    MPI_Win_fence(0, win);
    for (int to = 0; to < size; to++) MPI_Put(&out, 1, MPI_INT, to, rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int from = 0; from < size; from++) CHECK(memory[from] == from);
    MPI_Win_free(&win);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(length * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory,
                            &win);
    is_small_and_empty();
    MPI_Win_fence(0, win);
    memory[length - 1] = rank;
    MPI_Win_fence(0, win);
    CHECK(memory[length - 1] == rank);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int *out = malloc(LONG * sizeof(int)), *in = malloc(2 * LONG * sizeof(int));
    is_small_and_empty();
    messages(SHORT, out, in);
    messages(LONG, out, in);
    collectives(SHORT, out, in);
    collectives(LONG, out, in);
    windows(LONG);
    free(out);
    free(in);
    MPI_Barrier(MPI_COMM_WORLD);
    is_small_and_empty();
    return end();
}

/* The peers of `bench primitives`: what MPI has for a global query (MPI_Allreduce of one int) and
 * for putting data everywhere and knowing that it is there (MPI_Bcast and MPI_Barrier).
 *
 * collectives MILLISECONDS: for each of the operations about so long. Rank 0 prints a line with
 * the name and the microseconds of each single operation. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* As many warm-ups as ours has. */
enum { WARM = 10, BATCH = 2, MOST = 400 };

static void query(void *data, int size) {
    int mine = 1, least = 0;
    (void)data, (void)size;
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
}

static void put(void *data, int size) {
    MPI_Bcast(data, size, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void measure(const char *name, double seconds, void (*operation)(void *, int), int size) {
    int rank, more = 1, done = 0;
    double times[MOST], start;
    void *data = calloc(1, size > 0 ? size : 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WARM; i++)
        operation(data, size);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    while (more) {
        for (int i = 0; i < BATCH; i++) {
            double before = MPI_Wtime();
            operation(data, size);
            times[done++] = MPI_Wtime() - before;
        }
        more = done + BATCH <= MOST && MPI_Wtime() - start < seconds;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; rank == 0 && i < done; i++)
        printf("%s %.3f\n", name, times[i] * 1e6);
    /* What there is so far counts, should the rest not end in time. */
    fflush(stdout);
    free(data);
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) / 1e3 : 0.2;
    MPI_Init(&argc, &argv);
    measure("query", seconds, query, 0);
    measure("0B", seconds, put, 0);
    measure("4KB", seconds, put, 4096);
    measure("1MB", seconds, put, 1 << 20);
    MPI_Finalize();
    return 0;
}

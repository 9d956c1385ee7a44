/* What the programs here use to say what went wrong: the place, and the rank. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

#define CHECK(what)                                                                    \
    do {                                                                               \
        if (!(what)) {                                                                 \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #what);  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                              \
        }                                                                              \
    } while (0)

/* Begins: every program knows its rank and how many there are. */
static inline void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Ends: when all ranks are here all is well. */
static int end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}

#endif

/* What the programs here use to say what went wrong: the place, and the rank. */
#ifndef CHECK_H
#define CHECK_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

#define CHECK(what)                                                                    \
    do {                                                                               \
        if (!(what)) {                                                                 \
            fprintf(stderr, "rank %d: %s:%d: %s\n", rank, __FILE__, __LINE__, #what);  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                              \
        }                                                                              \
    } while (0)

/* The class of what a call returned. */
static inline int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* What a call returns is of a class. */
#define FAILS(call, class) CHECK(class_of(call) == (class))

/* Begins: every program knows its rank and how many there are. */
static inline void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Calls nothing for so many microseconds. */
static inline void rest(long time) {
    struct timespec left = {time / 1000000, time % 1000000 * 1000};
    nanosleep(&left, NULL);
}

/* Waits for a file, and calls nothing of MPI meanwhile. */
static inline void await_file(const char *name) {
    for (int looks = 0; looks < 60000 && access(name, F_OK) != 0; looks++) rest(1000);
    CHECK(access(name, F_OK) == 0);
}

/* A new folder that all ranks know. Whoever is done with it removes it. */
static inline void make_folder(char folder[64]) {
    strcpy(folder, "/tmp/muster-mpi.XXXXXX");
    if (rank == 0) CHECK(mkdtemp(folder) != NULL);
    MPI_Bcast(folder, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Ends: when all ranks are here all is well. */
static int end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}

#endif

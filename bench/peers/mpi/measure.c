/* What `bench mpi` runs on every MPI: `measure WHAT [MILLISECONDS]`. Rank 0 prints a line with a
 * name and a figure for each sample. A sample is the mean of a batch that is long enough for the
 * clock, and all batches of a measure take about that many milliseconds together.
 *
 *   pair    two ranks: latency, bandwidth, message rate, barrier and all-reduce
 *   far     the same between nodes, fewer sizes
 *   all     any number of ranks: barrier and all-reduce
 *   many    the same, and broadcasts until all have them
 *   blocked two ranks: what a receive that waits long uses, and how soon it returns then
 *   nothing MPI_Init and MPI_Finalize
 *   memory  what MPI_Init and a barrier add to a rank's memory
 *
 * Before a size is measured, messages and collectives of that size are checked: who loses bytes, or
 * takes one message for another, has no figure. What is measured is then not looked at, and all of
 * a window is received into one place, as in other measures of this kind. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 64, BATCHES = 15, LARGEST = 4 << 20, TURNS = 12, CHECKED = LARGEST };

static int rank, size;
static char *data;

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void pause_for(double time) {
    struct timespec left = {(time_t)time, (long)((time - (time_t)time) * 1e9)};
    while (nanosleep(&left, &left)) {
    }
}

static void ping(int bytes) {
    if (rank == 0) {
        MPI_Send(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

/* A window of messages one way, and a word that all have come. */
static void window(int bytes) {
    MPI_Request requests[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        if (rank == 0)
            MPI_Isend(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        MPI_Recv(data, 4, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(data, 4, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
}

/* What a byte is of a message that is checked: in no other message, and at no other place nearby,
 * are they the same. */
static char byte(int from, int slot, int round, int at) {
    return (char)(at * 7 + (at >> 8) * 13 + from * 101 + slot * 29 + round * 53);
}

static void fill(char *to, int bytes, int slot, int round) {
    for (int at = 0; at < bytes; at++)
        to[at] = byte(rank, slot, round, at);
}

static void compare(const char *got, int bytes, int from, int slot, int round) {
    for (int at = 0; at < bytes; at++)
        if (got[at] != byte(from, slot, round, at)) {
            fprintf(stderr, "measure: byte %d of %d from rank %d is wrong at rank %d\n", at, bytes,
                    from, rank);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
}

/* Windows both ways, each message with a place of its own. */
static void check_messages(int bytes) {
    MPI_Request requests[WINDOW];
    int slots = CHECKED / bytes < WINDOW ? CHECKED / bytes : WINDOW;
    char *places = malloc((size_t)slots * bytes);
    for (int round = 0; round < 2; round++) {
        int from = round;
        for (int slot = 0; slot < slots; slot++) {
            char *place = places + (size_t)slot * bytes;
            if (rank == from) {
                fill(place, bytes, slot, round);
                MPI_Isend(place, bytes, MPI_BYTE, 1 - from, 3, MPI_COMM_WORLD, &requests[slot]);
            } else {
                memset(place, 0, bytes);
                MPI_Irecv(place, bytes, MPI_BYTE, from, 3, MPI_COMM_WORLD, &requests[slot]);
            }
        }
        MPI_Waitall(slots, requests, MPI_STATUSES_IGNORE);
        for (int slot = 0; rank != from && slot < slots; slot++)
            compare(places + (size_t)slot * bytes, bytes, from, slot, round);
    }
    free(places);
}

/* A broadcast from each rank. */
static void check_broadcast(int bytes) {
    for (int from = 0; from < size; from++) {
        if (rank == from)
            fill(data, bytes, 0, from);
        else
            memset(data, 0, bytes);
        MPI_Bcast(data, bytes, MPI_BYTE, from, MPI_COMM_WORLD);
        compare(data, bytes, from, 0, from);
    }
}

static void check_allreduce(void) {
    for (int round = 0; round < 4; round++) {
        double mine = rank + round, sum = 0, want = size * (size - 1) / 2.0 + size * round;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (sum != want) {
            fprintf(stderr, "measure: rank %d is told %g, and all have %g\n", rank, sum, want);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
}

static void barrier(int bytes) {
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int bytes) {
    double mine = rank, sum;
    (void)bytes;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void broadcast(int bytes) {
    MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    barrier(0);
}

/* Batches of an operation. `figure` makes what is printed of the seconds of one. */
static void measure(const char *name, void (*operation)(int), int bytes, double time,
                    double (*figure)(double, int)) {
    int count = 2;
    double start, took = 0;
    for (int i = 0; i < 3; i++)
        operation(bytes);
    /* How many there are in a batch rank 0 says, for the clocks of two differ. */
    for (; count < 1 << 20; count *= 2) {
        start = seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < count; i++)
            operation(bytes);
        took = seconds(CLOCK_MONOTONIC) - start;
        MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (took > time / BATCHES / 2)
            break;
    }
    for (int batch = 0; batch < BATCHES; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        start = seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < count; i++)
            operation(bytes);
        took = (seconds(CLOCK_MONOTONIC) - start) / count;
        if (rank == 0)
            printf("%s %.9g\n", name, figure(took, bytes));
    }
    fflush(stdout);
}

static double whole(double took, int bytes) {
    return (void)bytes, took * 1e6;
}

static double half(double took, int bytes) {
    return (void)bytes, took * 1e6 / 2;
}

static double rate(double took, int bytes) {
    return (void)bytes, WINDOW / took / 1e6;
}

static double bandwidth(double took, int bytes) {
    return WINDOW / took * bytes / 1e9;
}

/* Rank 1 waits for rank 0, which does nothing meanwhile. */
static void blocked(double time) {
    for (int turn = 0; turn < TURNS; turn++) {
        double sent = 0, said[2];
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            pause_for(time / TURNS);
            sent = seconds(CLOCK_MONOTONIC);
            MPI_Send(&sent, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(said, 2, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("wake %.9g\ncpu %.9g\n", said[0] * 1e6, said[1] * 100);
        } else {
            double used = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
            MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            said[0] = seconds(CLOCK_MONOTONIC) - sent;
            used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used - 1e-3;
            said[1] = (used > 0 ? used : 0) / (sent - start - 1e-3);
            MPI_Send(said, 2, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        }
    }
}

/* This process's share of the memory that is there, in bytes. */
static double share(void) {
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Pss:", 4) == 0)
            kib = atof(line + 4);
    if (file)
        fclose(file);
    return kib * 1024;
}

static void memory(double before) {
    double own = 0, sum = 0;
    allreduce(8);
    barrier(0);
    own = share() - before;
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("memory %.9g\n", sum / size / 1e6);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void between(double time, const int *latencies, const int *bandwidths) {
    char name[32];
    for (; *latencies; latencies++) {
        snprintf(name, sizeof name, "latency-%d", *latencies);
        check_messages(*latencies);
        measure(name, ping, *latencies, time, half);
    }
    for (; *bandwidths; bandwidths++) {
        snprintf(name, sizeof name, "bandwidth-%d", *bandwidths);
        check_messages(*bandwidths);
        measure(name, window, *bandwidths, time, bandwidth);
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "pair";
    double time = (argc > 2 ? atof(argv[2]) : 100) / 1e3, before = share();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        /* Whose it is, which the loader has found. */
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(library, &length);
        printf("library %.*s\n", (int)strcspn(library, "\n"), library);
    }
    if (strcmp(what, "pair") == 0 || strcmp(what, "far") == 0) {
        const int near[] = {8, 1024, 4096, 16384, 0}, far[] = {8, 4096, 16384, 0};
        const int much[] = {65536, 262144, 1 << 20, LARGEST, 0};
        data = malloc(LARGEST);
        memset(data, 1, LARGEST);
        between(time, what[0] == 'p' ? near : far, much);
        if (what[0] == 'p')
            measure("rate-8", window, 8, time, rate);
    }
    if (strcmp(what, "pair") == 0 || strcmp(what, "all") == 0 || strcmp(what, "many") == 0) {
        measure("barrier", barrier, 0, time, whole);
        check_allreduce();
        measure("allreduce-8", allreduce, 8, time, whole);
    }
    if (strcmp(what, "many") == 0) {
        data = malloc(1 << 20);
        memset(data, 1, 1 << 20);
        check_broadcast(4096);
        measure("broadcast-4096", broadcast, 4096, time, whole);
        check_broadcast(1 << 20);
        measure("broadcast-1048576", broadcast, 1 << 20, time, whole);
    }
    if (strcmp(what, "blocked") == 0)
        blocked(time);
    if (strcmp(what, "memory") == 0)
        memory(before);
    MPI_Finalize();
    return 0;
}

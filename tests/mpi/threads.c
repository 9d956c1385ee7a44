/* Threads of one rank that call at once. Each has a communicator and waits in its own way, while
 * others of its rank wait for what only another thread's message brings about. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 5, ROUNDS = 200, LONG = 20000 };
static MPI_Comm comms[THREADS];

/* Hears of the rank before, then tells the one behind; rank 0 begins. */
static void ring(MPI_Comm comm, int round, int *values, int count) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    if (size == 1) return;
    if (rank == 0) MPI_Send(values, count, MPI_INT, next, round, comm);
    MPI_Recv(values, count, MPI_INT, before, round, comm, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(values, count, MPI_INT, next, round, comm);
}

static void *thread(void *number) {
    int me = (int)(size_t)number, *values = calloc(LONG, sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        int value = round, sum, flag = 0;
        switch (me) {
        case 0:
            ring(comms[0], round, values, 10);
            value += 1000;
            MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[0]);
            CHECK(sum == value * size);
            break;
        case 1: ring(comms[1], round, values, round % 20 ? 1 : LONG); break;
        case 2:
            MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[2]);
            CHECK(sum == round * size);
            break;
        case 3:
            /* Thread 4 of the same rank sends it. */
            MPI_Irecv(&value, 1, MPI_INT, rank, round, comms[3], &request);
            if (round % 2) while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            else MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(value == round + 1);
            MPI_Send(&value, 1, MPI_INT, rank, ROUNDS, comms[3]);
            break;
        default:
            value = round + 1;
            MPI_Ssend(&value, 1, MPI_INT, rank, round, comms[3]);
            MPI_Recv(&value, 1, MPI_INT, rank, ROUNDS, comms[3], MPI_STATUS_IGNORE);
            break;
        }
    }
    free(values);
    return NULL;
}

/* What a thread has asked for has come when its flush returns, though that of another thread is on
 * its way. */
static MPI_Win window;

static void *counting(void *at) {
    int counter = (int)(size_t)at, next = (rank + 1) % size;
    for (long round = 0, one = 1, before; round < 2 * ROUNDS; round++) {
        before = -1;
        MPI_Fetch_and_op(&one, &before, MPI_LONG, next, counter, MPI_SUM, window);
        if (round % 2) MPI_Win_flush(next, window);
        else MPI_Win_flush_all(window);
        CHECK(before == round);
    }
    return NULL;
}

static void count(void) {
    long counters[THREADS] = {0};
    pthread_t threads[THREADS];
    MPI_Win_create(counters, sizeof counters, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    MPI_Win_lock_all(0, window);
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_create(&threads[at], NULL, counting, (void *)(size_t)at) == 0);
    }
    for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* One thread of rank 0 waits for what rank 1 sends when it has heard of the other thread, which
 * waits for all. */
static void *first(void *nothing) {
    (void)nothing;
    MPI_Recv(NULL, 0, MPI_INT, 1, 1, comms[1], MPI_STATUS_IGNORE);
    return NULL;
}

static void stand_by(void) {
    pthread_t other;
    if (rank == 0) CHECK(pthread_create(&other, NULL, first, NULL) == 0);
    rest(rank == 0 ? 2000 : 10000);
    MPI_Barrier(comms[0]);
    if (rank == 0) {
        MPI_Send(NULL, 0, MPI_INT, 1, 2, comms[1]);
        pthread_join(other, NULL);
    }
    if (rank == 1) {
        int flag = 0;
        while (!flag) MPI_Iprobe(0, 2, comms[1], &flag, MPI_STATUS_IGNORE);
        MPI_Recv(NULL, 0, MPI_INT, 0, 2, comms[1], MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, 0, 1, comms[1]);
    }
}

int main(int argc, char **argv) {
    int level;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* Where the order of messages is to be the same in every run there are no threads. */
    if (level != MPI_THREAD_MULTIPLE) return end();
    for (int at = 0; at < THREADS; at++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]);
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_create(&threads[at], NULL, thread, (void *)(size_t)at) == 0);
    }
    for (int at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
    for (int round = 0; round < 10 && size > 1; round++) stand_by();
    count();
    for (int at = 0; at < THREADS; at++) MPI_Comm_free(&comms[at]);
    return end();
}

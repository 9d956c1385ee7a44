/* What a program is told that depends on who is fast: receives from any source, tests, probes,
 * waits for any, what is taken back, whose access to a window is the last. Prints all that rank 0
 * was told; in the coscheduled mode it is the same in every run. */
#include "check.h"

enum { TASKS = 40, WORK = 1, STOP = 2, RESULT = 3, LONG = 4, BACK = 5 };

static unsigned dice;

/* Takes long, or does not. */
static void dawdle(void) {
    dice = dice * 1103515245u + 12345u;
    if (dice >> 16 & 1) {
        double end = MPI_Wtime() + (dice >> 17 & 127) * 1e-6;
        while (MPI_Wtime() < end) continue;
    }
}

/* Hands out tasks to whoever has answered. */
static void master(void) {
    int given = 0, back = 0, to, i;
    for (to = 1; to < size && given < TASKS; to++, given++)
        MPI_Send(&given, 1, MPI_INT, to, WORK, MPI_COMM_WORLD);
    while (back < given) {
        int result[2];
        MPI_Status status;
        MPI_Recv(result, 2, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        CHECK(result[1] == result[0] * result[0]);
        printf(" %d:%d", status.MPI_SOURCE, result[0]);
        back++;
        if (given < TASKS) {
            MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
            given++;
        }
    }
    for (i = 1; i < size; i++)
        MPI_Send(&given, 1, MPI_INT, i, STOP, MPI_COMM_WORLD);
    printf("\n");
}

static void worker(void) {
    for (;;) {
        int result[2];
        MPI_Status status;
        MPI_Recv(result, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            return;
        dawdle();
        result[1] = result[0] * result[0];
        MPI_Send(result, 2, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

/* Long messages and short ones from all, and what is told of them meanwhile. */
static void listen(void) {
    static char into[64][100000];
    MPI_Request requests[64];
    int left = size - 1, flag = 0, polls = 0, i;
    for (i = 0; i < left; i++)
        MPI_Irecv(into[i], sizeof into[i], MPI_CHAR, MPI_ANY_SOURCE, LONG, MPI_COMM_WORLD,
                  &requests[i]);
    MPI_Testall(left, requests, &flag, MPI_STATUSES_IGNORE);
    printf("tested %d:", flag);
    while (!flag) {
        MPI_Status status;
        int index;
        MPI_Testany(left, requests, &index, &flag, &status);
        polls++;
        if (flag && index != MPI_UNDEFINED) {
            int length;
            MPI_Get_count(&status, MPI_CHAR, &length);
            CHECK(into[index][length - 1] == (char)status.MPI_SOURCE);
            printf(" %d=%d(%d)", index, status.MPI_SOURCE, length);
            flag = 0;
        } else if (!flag) {
            MPI_Iprobe(MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &flag, &status);
            printf(flag ? " probed %d" : " none", status.MPI_SOURCE);
            flag = 0;
        }
    }
    printf(" after %d\n", polls);
}

static void speak(void) {
    static char from[100000];
    int length = rank % 2 ? 100 * rank : 70000 + rank;
    memset(from, rank, sizeof from);
    dawdle();
    MPI_Send(from, length, MPI_CHAR, 0, LONG, MPI_COMM_WORLD);
    dawdle();
}

/* Takes a receive back, whose message may be there. */
static void take_back(void) {
    int value = 0, is_back;
    MPI_Request request;
    MPI_Status status;
    if (rank == 1) {
        dawdle();
        value = 17;
        MPI_Send(&value, 1, MPI_INT, 0, BACK, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, BACK, MPI_COMM_WORLD, &request);
        dawdle();
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &is_back);
        if (is_back)
            MPI_Recv(&value, 1, MPI_INT, 1, BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 17);
        printf("taken back %d\n", is_back);
    }
}

/* All write to the same place; the window's memory is shared by those of a node. */
static void write_last(void) {
    int *memory, i;
    MPI_Win window;
    MPI_Win_allocate(2 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    for (i = 0; i < 10; i++) {
        dawdle();
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Accumulate(&rank, 1, MPI_INT, 0, i % 2, 1, MPI_INT, MPI_REPLACE, window);
        MPI_Win_unlock(0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) printf("%d ", memory[i % 2]);
        MPI_Win_fence(0, window);
        MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 1 - i % 2, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
    }
    if (rank == 0) printf("were last\n");
    MPI_Win_free(&window);
}

/* Two exchange what is neither short nor long, and each asks after its own before it receives:
   what has left by then must not depend on whether they share a node. */
static void exchange(void) {
    static char out[100 * 1000], in[sizeof out];
    int other = size - 1 - rank, has_left;
    MPI_Request request;
    if (other == rank) return;
    MPI_Isend(out, sizeof out, MPI_CHAR, other, 77, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &has_left, MPI_STATUS_IGNORE);
    MPI_Recv(in, sizeof in, MPI_CHAR, other, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int i;
    double sum = 0, all;
    begin(&argc, &argv);
    /* Another number in each run; in a simulation the same for each seed, as its time is. */
    dice = (unsigned)(long long)(MPI_Wtime() * 1e6) * 7919u + (unsigned)rank * 31u;
    if (rank == 0) {
        master();
        listen();
    } else {
        worker();
        speak();
    }
    take_back();
    write_last();
    exchange();
    /* As sums of floating-point numbers depend on their order. */
    for (i = 0; i < 10; i++) {
        double part = 1.0 / (rank + i + 1);
        MPI_Request request;
        MPI_Iallreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        dawdle();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum += all;
    }
    if (rank == 0) printf("sum %.17g\n", sum);
    return end();
}

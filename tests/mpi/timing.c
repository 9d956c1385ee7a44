/* What could depend on which rank is late, beside receives, tests and probes: what is left in an
 * attached buffer, whether there is room in it, what is read of another rank's memory, a message
 * that nobody waits for. The argument is the rank that is late; with another one nothing is read.
 * Prints what ranks were told. */
#include "check.h"

enum { LONG = 1 << 20, A_LONG_ONE = 1, A_SHORT_ONE, AN_ANSWER, A_SIGN, FREED };

static char out[LONG], in[LONG];
static char *room;
static int size_of_room = LONG + MPI_BSEND_OVERHEAD, who_is_late = -1;

static void be_late(void) {
    if (rank == who_is_late) rest(30000);
}

/* Whether a flush has ended when a short message has. */
static void flushed(void) {
    MPI_Request requests[2];
    int index, sign = 0;
    be_late();
    if (rank == 1) MPI_Recv(in, LONG, MPI_CHAR, 0, A_LONG_ONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) {
        MPI_Send(&sign, 1, MPI_INT, 0, A_SIGN, MPI_COMM_WORLD);
        MPI_Recv(&sign, 1, MPI_INT, 0, A_SHORT_ONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank > 0) return;
    MPI_Bsend(out, LONG, MPI_CHAR, 1, A_LONG_ONE, MPI_COMM_WORLD);
    MPI_Recv(&sign, 1, MPI_INT, 2, A_SIGN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_iflush(&requests[0]);
    MPI_Isend(&sign, 1, MPI_INT, 2, A_SHORT_ONE, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    printf("%d had ended", index);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Whether a second long message finds room: it does if the first one is received by then, and rank
 * 1 does that, or waits for what rank 0 sends behind it. */
static void buffered(int is_received) {
    int sign = 0, full;
    be_late();
    if (rank == 2) MPI_Send(&sign, 1, MPI_INT, 0, A_SIGN, MPI_COMM_WORLD);
    if (rank == 1) {
        if (!is_received)
            MPI_Recv(&sign, 1, MPI_INT, 0, A_SHORT_ONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, LONG, MPI_CHAR, 0, A_LONG_ONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (is_received)
            MPI_Recv(&sign, 1, MPI_INT, 0, A_SHORT_ONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!sign) MPI_Recv(in, LONG, MPI_CHAR, 0, A_LONG_ONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank > 0) return;
    MPI_Bsend(out, LONG, MPI_CHAR, 1, A_LONG_ONE, MPI_COMM_WORLD);
    MPI_Recv(&sign, 1, MPI_INT, 2, A_SIGN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    full = MPI_Bsend(out, LONG, MPI_CHAR, 1, A_LONG_ONE, MPI_COMM_WORLD) != MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Send(&full, 1, MPI_INT, 1, A_SHORT_ONE, MPI_COMM_WORLD);
    printf(full ? ", there was no room" : ", there was room");
    MPI_Buffer_flush();
}

/* How often a rank reads another one's memory until that has written there. */
static void read_again(void) {
    int *own, value = 1, seen = 0, times = 0;
    MPI_Win win;
    MPI_Win_allocate(sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    *own = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    be_late();
    if (rank == 1) {
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
    }
    while (rank == 0 && !seen) {
        MPI_Get(&seen, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        times++;
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (rank == 0) printf(", read %d times", times);
}

int main(int argc, char **argv) {
    static int unseen;
    MPI_Request request;
    begin(&argc, &argv);
    if (argc > 1) who_is_late = atoi(argv[1]);
    room = malloc(size_of_room);
    MPI_Buffer_attach(room, size_of_room);
    flushed();
    buffered(1);
    buffered(0);
    if (argc < 3) read_again();
    if (rank == 0) printf("\n");
    if (rank == 2) {
        MPI_Irecv(&unseen, 1, MPI_INT, 1, FREED, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    be_late();
    if (rank == 1) MPI_Send(&rank, 1, MPI_INT, 2, FREED, MPI_COMM_WORLD);
    return end();
}

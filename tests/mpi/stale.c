/* What statuses say of messages that were too long, and handles that were freed, or have ended,
   while others took their places. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int next, before;

/* Fails with an error class, which the program gets. */
#define GIVES(class, call) CHECK((call) == (class))

/* What was received is told, also of a message that was longer. */
static void is_of(const MPI_Status *status, int source, int tag, int number) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && count == number);
}

static void truncated(void) {
    static int data[100000];
    int into[2], flag = 0, index = -1, count;
    MPI_Request requests[3];
    MPI_Status status, statuses[3];
    for (int length = 4; length <= 40000; length += 39996) {
        for (int tag = 1; tag <= 6; tag++) {
            MPI_Isend(data, tag == 5 ? 1 : length, MPI_INT, next, tag, MPI_COMM_WORLD, requests);
            status.MPI_ERROR = 77;
            if (tag == 1) {
                GIVES(MPI_ERR_TRUNCATE, MPI_Recv(into, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                                 MPI_COMM_WORLD, &status));
            } else if (tag == 2) {
                MPI_Irecv(into, 2, MPI_INT, before, tag, MPI_COMM_WORLD, &requests[1]);
                GIVES(MPI_ERR_TRUNCATE, MPI_Wait(&requests[1], &status));
            } else if (tag == 3) {
                MPI_Irecv(into, 2, MPI_INT, before, tag, MPI_COMM_WORLD, &requests[1]);
                int error = MPI_SUCCESS;
                while (error == MPI_SUCCESS) {
                    flag = 0;
                    error = MPI_Test(&requests[1], &flag, &status);
                    CHECK(flag == (error != MPI_SUCCESS));
                }
                CHECK(error == MPI_ERR_TRUNCATE);
            } else if (tag == 4) {
                requests[1] = MPI_REQUEST_NULL;
                MPI_Irecv(into, 2, MPI_INT, before, tag, MPI_COMM_WORLD, &requests[2]);
                GIVES(MPI_ERR_TRUNCATE, MPI_Waitany(2, requests + 1, &index, &status));
                CHECK(index == 1 && requests[2] == MPI_REQUEST_NULL);
            } else if (tag == 5) {
                /* One of two is too long: each status says its own, and its error. */
                MPI_Isend(data, length, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[1]);
                MPI_Request both[2];
                MPI_Irecv(into, 2, MPI_INT, before, 9, MPI_COMM_WORLD, &both[0]);
                MPI_Irecv(into + 1, 1, MPI_INT, before, tag, MPI_COMM_WORLD, &both[1]);
                GIVES(MPI_ERR_IN_STATUS, MPI_Waitall(2, both, statuses));
                CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE);
                CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS);
                is_of(&statuses[0], before, 9, 2);
                is_of(&statuses[1], before, tag, 1);
                MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
                status = statuses[0];
                status.MPI_TAG = tag;
                status.MPI_ERROR = 77;
            } else {
                int indices[2];
                MPI_Irecv(into, 2, MPI_INT, before, tag, MPI_COMM_WORLD, &requests[1]);
                GIVES(MPI_ERR_IN_STATUS, MPI_Waitsome(1, requests + 1, &count, indices, statuses));
                CHECK(count == 1 && indices[0] == 0);
                CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE);
                status = statuses[0];
                status.MPI_ERROR = 77;
            }
            is_of(&status, before, tag, 2);
            CHECK(status.MPI_ERROR == 77);
            MPI_Wait(requests, MPI_STATUS_IGNORE);
        }
    }
    /* Where none has failed nothing is said of errors. */
    statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = 55;
    MPI_Isend(data, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(into, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[1]);
    CHECK(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS);
    CHECK(statuses[0].MPI_ERROR == 55 && statuses[1].MPI_ERROR == 55);
}

static void requests_that_have_ended(void) {
    int into[2], flag;
    MPI_Request request, stale, other;
    MPI_Irecv(&into[0], 1, MPI_INT, before, 1, MPI_COMM_WORLD, &request);
    stale = request;
    MPI_Send(&rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&into[1], 1, MPI_INT, before, 2, MPI_COMM_WORLD, &other);
    CHECK(stale != other);
    MPI_Request copy = stale;
    GIVES(MPI_ERR_REQUEST, MPI_Test(&copy, &flag, MPI_STATUS_IGNORE));
    GIVES(MPI_ERR_REQUEST, MPI_Wait(&copy, MPI_STATUS_IGNORE));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&copy));
    GIVES(MPI_ERR_REQUEST, MPI_Request_free(&copy));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&copy));
    MPI_Send(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    CHECK(into[1] == before);
}

static void messages_that_were_received(void) {
    int into = -1;
    MPI_Message message, stale, other;
    MPI_Request sends[2];
    for (int tag = 1; tag <= 2; tag++) {
        MPI_Isend(&rank, 1, MPI_INT, next, tag, MPI_COMM_WORLD, &sends[tag - 1]);
    }
    MPI_Mprobe(before, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    stale = message;
    MPI_Mrecv(&into, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Mprobe(before, 2, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
    GIVES(MPI_ERR_REQUEST, MPI_Mrecv(&into, 1, MPI_INT, &stale, MPI_STATUS_IGNORE));
    GIVES(MPI_ERR_REQUEST, MPI_Mrecv(&into, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(MPI_Mrecv(&into, 1, MPI_INT, &other, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(into == before);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

/* Adds pairs of integers, whose datatype it asks after. */
static void add(void *in, void *inout, int *count, MPI_Datatype *datatype) {
    int bytes;
    CHECK(MPI_Type_size(*datatype, &bytes) == MPI_SUCCESS && bytes == 8);
    for (int i = 0; i < 2 * *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* The datatype of a reduction that is under way was freed, and others took its place. */
static void datatypes_of_operations(void) {
    int from[2] = {1, rank}, into[2] = {0, 0};
    MPI_Datatype pair, others[20];
    MPI_Op sum;
    MPI_Request request;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &sum);
    MPI_Iallreduce(from, into, 1, pair, sum, MPI_COMM_WORLD, &request);
    MPI_Type_free(&pair);
    MPI_Op_free(&sum);
    for (int i = 0; i < 20; i++) {
        MPI_Type_contiguous(3, MPI_INT, &others[i]);
        if (i < 16) MPI_Type_free(&others[i]);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(into[0] == size && into[1] == size * (size - 1) / 2);
    for (int i = 16; i < 20; i++) MPI_Type_free(&others[i]);
}

/* A child that a rank has forked is no rank: it is told so, and ends as any other process. */
static void children(void) {
    int status, flag;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int error = MPI_Send(&rank, 1, MPI_INT, next, 8, MPI_COMM_WORLD);
        MPI_Finalized(&flag);
        exit(error == MPI_ERR_OTHER && flag && MPI_Finalize() == MPI_SUCCESS ? 7 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    truncated();
    requests_that_have_ended();
    messages_that_were_received();
    datatypes_of_operations();
    children();
    return end();
}

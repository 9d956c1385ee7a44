/* Point-to-point: every mode, every size class, wildcards, order, probes, all kinds of waiting. */
#include "check.h"

enum { SIZES = 9 };
static const int sizes[SIZES] = {0, 1, 8, 40, 1000, 8192, 16384, 100000, 1 << 20};

/* The byte at a place of message `number` from `from`. */
static unsigned char byte(int from, int number, int at) {
    return (unsigned char)(from * 31 + number * 7 + at + at / 251);
}

static void fill(unsigned char *bytes, int count, int from, int number) {
    for (int at = 0; at < count; at++) bytes[at] = byte(from, number, at);
}

static void compare(const unsigned char *bytes, int count, int from, int number) {
    for (int at = 0; at < count; at++) CHECK(bytes[at] == byte(from, number, at));
}

/* Each rank sends all sizes to the next, which receives them in their order. */
static void in_order(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    unsigned char *out[SIZES], *in = malloc(1 << 20);
    MPI_Request requests[SIZES];
    for (int number = 0; number < SIZES; number++) {
        out[number] = malloc((size_t)sizes[number] + 1);
        fill(out[number], sizes[number], rank, number);
        MPI_Isend(out[number], sizes[number], MPI_BYTE, next, 5, MPI_COMM_WORLD, &requests[number]);
    }
    for (int number = 0; number < SIZES; number++) {
        MPI_Status status;
        int count;
        MPI_Recv(in, 1 << 20, MPI_BYTE, last, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == sizes[number] && status.MPI_SOURCE == last && status.MPI_TAG == 5);
        compare(in, count, last, number);
    }
    MPI_Waitall(SIZES, requests, MPI_STATUSES_IGNORE);
    for (int number = 0; number < SIZES; number++) free(out[number]);
    free(in);
}

/* Receives are posted before anything is sent, in the reverse order of tags. */
static void posted_first(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    unsigned char *in[SIZES], *out = malloc(1 << 20);
    MPI_Request requests[SIZES];
    for (int number = SIZES - 1; number >= 0; number--) {
        in[number] = malloc((size_t)sizes[number] + 1);
        MPI_Irecv(in[number], sizes[number], MPI_BYTE, last, number, MPI_COMM_WORLD,
                  &requests[number]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int number = 0; number < SIZES; number++) {
        fill(out, sizes[number], rank, number);
        if (number % 2 == 0) MPI_Send(out, sizes[number], MPI_BYTE, next, number, MPI_COMM_WORLD);
        else MPI_Ssend(out, sizes[number], MPI_BYTE, next, number, MPI_COMM_WORLD);
    }
    for (int left = SIZES; left > 0; left--) {
        int index;
        MPI_Status status;
        MPI_Waitany(SIZES, requests, &index, &status);
        CHECK(status.MPI_TAG == index && requests[index] == MPI_REQUEST_NULL);
        compare(in[index], sizes[index], last, index);
        free(in[index]);
    }
    free(out);
}

/* Rank 0 receives from anybody, twice from each, and asks before. */
static void from_anybody(void) {
    if (rank != 0) {
        int numbers[2] = {rank, -rank};
        MPI_Send(&numbers[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Send(&numbers[1], 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        return;
    }
    int *seen = calloc((size_t)size, sizeof(int));
    for (int left = 2 * (size - 1); left > 0; left--) {
        int number, count;
        MPI_Status probed, status;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &probed);
        MPI_Get_count(&probed, MPI_INT, &count);
        CHECK(count == 1);
        MPI_Recv(&number, 1, MPI_INT, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, &status);
        int from = status.MPI_SOURCE;
        CHECK(seen[from] == status.MPI_TAG - 1);
        CHECK(number == (status.MPI_TAG == 1 ? from : -from));
        seen[from]++;
    }
    free(seen);
}

/* To oneself, to nobody, and with what is not there. */
static void to_oneself(void) {
    int out = 42, in = 0, flag = 1;
    MPI_Request request;
    MPI_Status status;
    MPI_Iprobe(rank, 9, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag);
    MPI_Irecv(&in, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK(in == 42 && status.MPI_SOURCE == rank);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &in, 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, &status);
    CHECK(in == (rank + size - 1) % size);
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Irecv(&in, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
}

/* Persistent requests, tests, and a buffer that was attached. */
static void again_and_again(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int out = 0, in = -1, flag;
    MPI_Request requests[2];
    MPI_Send_init(&out, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, last, 8, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 100; round++) {
        out = rank * 1000 + round;
        MPI_Startall(2, requests);
        do MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        while (!flag);
        CHECK(in == last * 1000 + round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    int bytes = 4 * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
    void *attached = malloc((size_t)bytes), *detached;
    MPI_Buffer_attach(attached, bytes);
    out = rank;
    MPI_Bsend(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
    out = -1;
    MPI_Recv(&in, 1, MPI_INT, last, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == last);
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(detached == attached);
    free(attached);
}

/* What is copied is copied as a message, however far apart its parts are. */
static void far_apart(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int near = rank, *far = malloc(sizeof(int)), lengths[2] = {1, 1}, in[2];
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT}, both;
    MPI_Aint places[2];
    MPI_Get_address(&near, &places[0]);
    MPI_Get_address(far, &places[1]);
    MPI_Type_create_struct(2, lengths, places, ints, &both);
    MPI_Type_commit(&both);
    *far = rank + 100;
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, both, next, 6, last, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(near == last && *far == last + 100);
    int bytes = 2 * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
    void *attached = malloc((size_t)bytes);
    MPI_Buffer_attach(attached, bytes);
    MPI_Bsend(MPI_BOTTOM, 1, both, next, 7, MPI_COMM_WORLD);
    MPI_Recv(in, 2, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int before = (last + size - 1) % size;
    CHECK(in[0] == before && in[1] == before + 100);
    MPI_Buffer_detach(&attached, &bytes);
    MPI_Type_free(&both);
    free(attached);
    free(far);
}

/* A message is taken out by a probe, and received by nobody else. */
static void matched(void) {
    if (size == 1) return; /* A blocking send to oneself may wait for ever. */
    int next = (rank + 1) % size, last = (rank + size - 1) % size, in[2];
    MPI_Request request;
    for (int number = 0; number < 2; number++) {
        int out = rank * 10 + number;
        MPI_Send(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
    }
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(last, 6, MPI_COMM_WORLD, &message, &status);
    MPI_Recv(&in[1], 1, MPI_INT, last, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Imrecv(&in[0], 1, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == last * 10 && in[1] == last * 10 + 1 && message == MPI_MESSAGE_NULL);
    /* What is wrong with it the handler of its communicator hears. */
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int number = 0; number < 2; number++) MPI_Send(&size, 1, MPI_INT, next, 6, comm);
    MPI_Mprobe(last, 6, comm, &message, MPI_STATUS_IGNORE);
    CHECK(MPI_Mrecv(in, 1, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    MPI_Mprobe(last, 6, comm, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, 1, MPI_BYTE, &message, &request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    MPI_Comm_free(&comm);
}

/* Columns of a matrix become rows. */
static void strewn(void) {
    enum { N = 60 };
    static int matrix[N][N], rows[N][N];
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Datatype column, columns;
    for (int at = 0; at < N * N; at++) matrix[at / N][at % N] = rank * 10000 + at;
    MPI_Type_vector(N, 1, N, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    MPI_Sendrecv(matrix, N, columns, next, 2, rows, N * N, MPI_INT, last, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int at = 0; at < N * N; at++) CHECK(rows[at % N][at / N] == last * 10000 + at);
    MPI_Sendrecv(rows, N * N, MPI_INT, last, 2, matrix, N, columns, next, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int at = 0; at < N * N; at++) CHECK(matrix[at / N][at % N] == rank * 10000 + at);
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
    CHECK(columns == MPI_DATATYPE_NULL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    in_order();
    posted_first();
    from_anybody();
    MPI_Barrier(MPI_COMM_WORLD);
    to_oneself();
    again_and_again();
    matched();
    strewn();
    far_apart();
    return end();
}

/* Ranks of which rank 1 fails, as the argument says, while all others wait for it. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *how = argv[1];
    int values[4] = {1, 2, 3, 4};
    if (rank == 1) {
        if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
        if (strcmp(how, "exit") == 0) exit(3);
        if (strcmp(how, "signal") == 0) abort();
        if (strcmp(how, "rank") == 0) MPI_Send(values, 1, MPI_INT, 9, 0, MPI_COMM_WORLD);
        /* The number is right for the one leader, and not for the other. */
        if (strcmp(how, "leader") == 0) {
            MPI_Comm both;
            MPI_Intercomm_create(MPI_COMM_WORLD, 1, MPI_COMM_SELF, 1, 0, &both);
        }
        if (strcmp(how, "own") == 0) {
            int code;
            MPI_Add_error_code(MPI_ERR_OTHER, &code);
            MPI_Add_error_string(code, "the stars are in no order");
            MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
        }
        if (strcmp(how, "standard") == 0) {
            MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TRUNCATE);
        }
        if (strcmp(how, "truncate") == 0) MPI_Send(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (strncmp(how, "leave", 5) == 0 && strncmp(how, "leave-locked", 12) != 0) exit(0);
    }
    if (strcmp(how, "leave-send") == 0) MPI_Ssend(values, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (strcmp(how, "leave-probe") == 0) MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "leave-barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strncmp(how, "leave-locked", 12) == 0) {
        MPI_Win window;
        void *memory;
        if (strcmp(how, "leave-locked-near") == 0) {
            MPI_Win_allocate(sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        } else {
            MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        }
        if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) exit(0);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    }
    if (strcmp(how, "leave-order") == 0) {
        int from = MPI_ANY_SOURCE;
        if (rank == 2) MPI_Send(values, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(values, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        /* Only rank 0 tells, and the others are there until it has. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_ERR_PROC_ABORTED);
        for (;;) pause();
    }
    if (strcmp(how, "count") == 0) {
        MPI_Bcast(values, rank == 1 ? 1 : 4, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (strcmp(how, "fewer") == 0) {
        MPI_Bcast(values, rank == 1 ? 4 : 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    /* Ranks of one node that have shown each other something before, and now differ. */
    if (strncmp(how, "short", 5) == 0) {
        int many[100] = {0}, sums[100], count = 1;
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(how, "short-size") == 0 && rank == 1) count = 2;
        if (strcmp(how, "short-long") == 0 && rank == 1) count = 100;
        /* All find it out at once, and only rank 0 tells. */
        if (rank != 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int code = MPI_SUCCESS;
        if (strcmp(how, "short-other") == 0 && rank == 1) code = MPI_Barrier(MPI_COMM_WORLD);
        if (code == MPI_SUCCESS) {
            code = MPI_Allreduce(many, sums, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        CHECK(code != MPI_SUCCESS);
        for (;;) pause();
    }
    if (strcmp(how, "again") == 0) {
        MPI_Finalize();
        /* Where all failed, the first to say so could be any. */
        if (rank != 1) return 0;
        MPI_Finalize();
    }
    if (strcmp(how, "returned") == 0) {
        /* Only the communicator's own handler is asked, also by what waits for a request. */
        MPI_Request request;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (rank == 1) MPI_Send(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            int flag;
            MPI_Irecv(values, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
            while (MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
                CHECK(!flag);
            }
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_TRUNCATE);
        }
        return end();
    }
    MPI_Recv(values, 1, MPI_INT, rank == 1 ? 0 : 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return end();
}

/* Ranks that wait for one another for ever, in the way that the argument says; or only for long. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static int value, values[2];

static void receive(int from, int tag, MPI_Comm comm) {
    MPI_Recv(&value, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

static void *sleeps(void *nothing) {
    pause();
    return nothing;
}

/* Waits for a message from rank 2, and then sends one to rank 1. */
static void *passes_on(void *nothing) {
    int own;
    MPI_Probe(2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&own, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&own, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    return nothing;
}

/* Begins, with a thread besides that might call MPI, for all that anybody knows. */
static void begin_with_thread(int *argc, char ***argv) {
    pthread_t thread;
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(pthread_create(&thread, NULL, sleeps, NULL) == 0);
}

/* Each rank has the lock of its own memory and wants the next one's; or rank 2's memory is locked
   by rank 0, rank 1 waits for that, and rank 2 for a message from there. Rank 0 gives the lock back
   late, or never: it waits for rank 1, too. Near locks lie where ranks of a node reach them, and
   rank 2 waits for its own. */
static void locks(const char *how, MPI_Comm comm) {
    MPI_Win window;
    int is_late = strncmp(how, "slow", 4) == 0;
    if (strstr(how, "near")) {
        void *memory;
        MPI_Win_allocate(sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    } else {
        MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    MPI_Win_set_name(window, "table");
    if (strncmp(how, "locks", 5) == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
        MPI_Barrier(comm);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, window);
    } else {
        if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Barrier(comm);
        if (rank == 0 && is_late) sleep(3);
        if (rank == 0 && !is_late) receive(1, 5, comm);
        if (rank == 0) MPI_Win_unlock(2, window);
        if (rank == 1) MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, window);
        if (rank == 1) MPI_Win_unlock(2, window);
        if (rank == 1) MPI_Send(&value, 1, MPI_INT, 2, 6, comm);
        if (rank == 2 && strstr(how, "near")) {
            MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, window);
            MPI_Win_unlock(2, window);
        }
        if (rank == 2) receive(1, 6, comm);
    }
    MPI_Win_free(&window);
}

/* Rank 0 waits for partitions of rank 1, which waits for its own; or for one that it has never said
   to be ready, or for a request that nobody ends; or that something comes beside a read that has
   ended. */
static void of_its_own(const char *how, MPI_Comm comm) {
    MPI_Request requests[2];
    MPI_Win window;
    int parts[4] = {0}, is_cycle = strcmp(how, "partitions") == 0;
    MPI_Win_create(parts, sizeof parts, sizeof *parts, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (strcmp(how, "own") == 0 && rank == 0) {
        MPI_Grequest_start(NULL, NULL, NULL, NULL, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (strcmp(how, "beside") == 0 && rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        MPI_Rget(values, 1, MPI_INT, 1, 0, 1, MPI_INT, window, &requests[0]);
        MPI_Irecv(&value, 1, MPI_INT, 1, 9, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank < 2 && (is_cycle || strcmp(how, "unready") == 0)) {
        int other = 1 - rank;
        MPI_Psend_init(parts, 2, 1, MPI_INT, other, 4, comm, MPI_INFO_NULL, &requests[0]);
        MPI_Precv_init(parts + 2, 2, 1, MPI_INT, other, 4, comm, MPI_INFO_NULL, &requests[1]);
        MPI_Startall(2, requests);
        if (!is_cycle) MPI_Pready(0, requests[0]);
        MPI_Wait(&requests[is_cycle || rank == 1], MPI_STATUS_IGNORE);
    }
    MPI_Win_free(&window);
}

/* Ends a request of the program's own, late. */
static void *ends_late(void *request) {
    sleep(3);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

/* What a rank waits for that one of its threads does which is in no call meanwhile. */
static void ended_by_thread(void) {
    pthread_t thread;
    MPI_Request request, copy;
    if (rank == 0) {
        MPI_Grequest_start(NULL, NULL, NULL, NULL, &request);
        copy = request;
        CHECK(pthread_create(&thread, NULL, ends_late, &copy) == 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Comm halo;
    const char *how = argv[1];
    if (strcmp(how, "thread-slow-probe") == 0 || strcmp(how, "slow-own") == 0) {
        /* All threads of the process are in calls. */
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &value);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    } else if (strncmp(how, "thread", 6) == 0) begin_with_thread(&argc, &argv);
    else begin(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    if (strcmp(how, "cycle") == 0) {
        if (rank < 2) receive(1 - rank, 7, halo);
    } else if (strcmp(how, "ring") == 0) {
        MPI_Ssend(&value, 1, MPI_INT, next, 3, halo);
        receive(before, 3, halo);
    } else if (strcmp(how, "barrier") == 0) {
        if (rank == 0) receive(1, 5, MPI_COMM_WORLD);
    } else if (strcmp(how, "different") == 0) {
        if (rank == 0) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (strcmp(how, "any") == 0) {
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG, halo);
    } else if (strcmp(how, "waitall") == 0) {
        MPI_Request requests[2];
        MPI_Irecv(&values[0], 1, MPI_INT, next, 1, halo, &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, before, 2, halo, &requests[1]);
        MPI_Send(&value, 1, MPI_INT, next, 2, halo);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(how, "probe") == 0) {
        MPI_Probe(next, 4, halo, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "finalize") == 0) {
        if (rank == 0) receive(1, 5, MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    } else if (strcmp(how, "thread-end") == 0) {
        /* Others wait for one that has come to its end. */
        int all[64];
        if (rank == 1) exit(MPI_Finalize());
        MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    } else if (strcmp(how, "thread-waitall") == 0) {
        MPI_Request requests[2];
        if (rank == 1) exit(MPI_Finalize());
        MPI_Irecv(&values[0], 1, MPI_INT, (rank + 2) % size, 1, halo, &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, 1, 2, halo, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(how, "pairs") == 0) {
        /* Several deadlocks at once. */
        int other = rank ^ 1;
        if (other < size) receive(other, 6, halo);
    } else if (strcmp(how, "window") == 0) {
        MPI_Win window;
        MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        if (rank == 0) receive(1, 5, MPI_COMM_WORLD);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    } else if (strcmp(how, "posts") == 0 || strcmp(how, "completes") == 0) {
        /* Each uses the memory of the next one; rank 3 has not posted, or rank 2 not completed. */
        MPI_Win window;
        MPI_Group all, of_next, of_before;
        int is_posts = strcmp(how, "posts") == 0;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_incl(all, 1, &next, &of_next);
        MPI_Group_incl(all, 1, &before, &of_before);
        MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        if (rank != 3 || !is_posts) MPI_Win_post(of_before, 0, window);
        MPI_Win_start(of_next, 0, window);
        if (rank != 2) MPI_Win_complete(window);
        if (rank == 2 && !is_posts) MPI_Barrier(MPI_COMM_WORLD);
        if (rank != 3 || !is_posts) MPI_Win_wait(window);
    } else if (strstr(how, "lock") != NULL) {
        locks(how, halo);
    } else if (strcmp(how, "slow-own") == 0) {
        ended_by_thread();
    } else if (strstr("partitions unready own beside", how) != NULL) {
        of_its_own(how, halo);
    } else if (strcmp(how, "split") == 0) {
        MPI_Comm part;
        if (rank == 1) exit(MPI_Finalize());
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &part);
    } else if (strcmp(how, "any-end") == 0) {
        MPI_Request requests[2];
        int index;
        if (rank == 1) exit(MPI_Finalize());
        for (int i = 0; i < 2; i++) {
            MPI_Irecv(&values[i], 1, MPI_INT, 1, i + 1, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "roots") == 0) {
        MPI_Reduce(values, values + 1, 1, MPI_INT, MPI_SUM, rank == 1, MPI_COMM_WORLD);
    } else if (strcmp(how, "file") == 0) {
        /* Rank 0 could be asked for the shared pointer, by ranks that wait for something else. */
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        receive(next, 8, halo);
    } else if (strcmp(how, "uneven") == 0) {
        /* Nobody waits for the others' part in it. */
        if (rank == 0) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Finalize();
        if (rank == 0) printf("ok %d\n", size);
        return 0;
    } else if (strcmp(how, "gone") == 0) {
        if (rank == 0) receive(MPI_ANY_SOURCE, 5, halo);
        exit(0);
    } else if (strcmp(how, "gone-probe") == 0) {
        if (rank == 0) MPI_Probe(MPI_ANY_SOURCE, 5, halo, MPI_STATUS_IGNORE);
        exit(0);
    } else if (strcmp(how, "thread-slow-probe") == 0) {
        /* Another thread will send what is waited for, and waits for a message itself before. */
        pthread_t thread;
        if (rank == 0) CHECK(pthread_create(&thread, NULL, passes_on, NULL) == 0);
        if (rank == 0) receive(1, 1, MPI_COMM_WORLD);
        if (rank == 0) CHECK(pthread_join(thread, NULL) == 0);
        if (rank == 1) receive(0, 2, MPI_COMM_WORLD);
        if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        if (rank == 2) sleep(5);
        if (rank == 2) MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else if (strcmp(how, "slow-post") == 0) {
        /* Who waits for others to post takes part in a barrier meanwhile, for which they wait. */
        MPI_Win window;
        MPI_Group group;
        MPI_Request barrier;
        int peer = rank == 0 ? 2 : 0;
        MPI_Win_create(values, sizeof values, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        MPI_Group_incl(group, 1, &peer, &group);
        if (rank == 1) sleep(5);
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        if (rank == 0) MPI_Win_start(group, 0, window);
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        if (rank == 0) MPI_Win_complete(window);
        if (rank == 2) MPI_Win_post(group, 0, window);
        if (rank == 2) MPI_Win_wait(window);
        MPI_Group_free(&group);
        MPI_Win_free(&window);
    } else if (strcmp(how, "slow-board") == 0) {
        /* One rank takes long to come to a barrier of two, and who waits there for it has posted a
           receive from a third one before, who waits for it. */
        MPI_Comm two;
        MPI_Request receives;
        MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &two);
        MPI_Barrier(two);
        if (rank == 0) {
            MPI_Irecv(&value, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &receives);
            struct timespec half = {0, 500000000};
            nanosleep(&half, NULL);
        }
        if (rank == 1) sleep(5);
        if (rank < 2) MPI_Barrier(two);
        if (rank == 0) MPI_Send(&values[0], 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
        if (rank == 0) MPI_Wait(&receives, MPI_STATUS_IGNORE);
        if (rank == 2) receive(0, 1, MPI_COMM_WORLD);
        if (rank == 2) MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Comm_free(&two);
    } else if (strncmp(how, "thread-slow", 11) == 0) {
        /* One rank comes late to its end, others wait there for it. */
        if (rank == 1) sleep(5);
        MPI_Finalize();
        if (rank == 0) printf("ok %d\n", size);
        return 0;
    } else if (strcmp(how, "slow") == 0) {
        /* One rank does something else while all others wait for it, and for each other. */
        if (rank == size - 1) sleep(5);
        if (rank > 0) receive(before, 1, halo);
        if (rank < size - 1 && rank > 0) MPI_Ssend(&value, 1, MPI_INT, next, 1, halo);
        if (rank == 0) MPI_Ssend(&value, 1, MPI_INT, next, 1, halo);
        if (rank == size - 1) MPI_Send(&value, 1, MPI_INT, 0, 2, halo);
        if (rank == 0) receive(MPI_ANY_SOURCE, 2, halo);
        MPI_Barrier(halo);
    }
    MPI_Comm_free(&halo);
    return end();
}

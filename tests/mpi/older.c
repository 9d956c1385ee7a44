/* What older programs rely on: names that the standard has removed since, handles as Fortran's
   integers, the world's error handler for calls about nothing, keys that are freed while in use. */
#include "check.h"

static int calls;

static void forgive(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    calls++;
    *code = MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag) {
    (void)comm, (void)key, (void)extra, (void)from, (void)to;
    *flag = 1;
    return MPI_ERR_OTHER;
}

static int count_down(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    --*(int *)value;
    return MPI_SUCCESS;
}

/* What a structure that was made by the removed names receives is what was sent. */
static void removed_names(void) {
    struct { char letter; double number[2]; } from = {'x', {1.5, 2.5}}, to = {0, {0, 0}};
    MPI_Aint places[2], base, extent, lower, upper;
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE}, made;
    int lengths[] = {1, 2};
    MPI_Address(&from, &base);
    MPI_Address(&from.letter, &places[0]);
    MPI_Address(from.number, &places[1]);
    places[0] -= base;
    places[1] -= base;
    MPI_Type_struct(2, lengths, places, types, &made);
    MPI_Type_commit(&made);
    MPI_Type_extent(made, &extent);
    MPI_Type_lb(made, &lower);
    MPI_Type_ub(made, &upper);
    CHECK(extent == (MPI_Aint)sizeof from && lower == 0 && upper == extent);
    MPI_Sendrecv(&from, 1, made, rank, 0, &to, 1, made, rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(to.letter == 'x' && to.number[1] == 2.5);
    MPI_Type_free(&made);
}

/* Fortran's integer of a handle leads back to it, and a status keeps what it says. */
static void fortrans_integers(void) {
    MPI_Fint status[MPI_F_STATUS_SIZE];
    MPI_Status before, after;
    MPI_Comm made;
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(made)) == made);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    MPI_Comm_free(&made);
    MPI_Sendrecv(&rank, 1, MPI_INT, rank, 7, &calls, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &before);
    MPI_Status_c2f(&before, status);
    MPI_Status_f2c(status, &after);
    CHECK(calls == rank && after.MPI_SOURCE == rank && after.MPI_TAG == 7);
    calls = 0;
}

/* The world's handler is asked about calls about no object, and what it makes of the code holds. */
static void the_worlds_handler(void) {
    MPI_Errhandler handler;
    MPI_Datatype made;
    MPI_Errhandler_create(forgive, &handler);
    MPI_Errhandler_set(MPI_COMM_WORLD, handler);
    CHECK(MPI_Type_contiguous(-1, MPI_INT, &made) == MPI_SUCCESS && calls == 1);
    CHECK(MPI_Send(&rank, -1, MPI_INT, rank, 0, MPI_COMM_WORLD) == MPI_SUCCESS && calls == 2);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

/* A key that is freed serves the values that there are, and a copy that fails leaves no handle. */
static void keys(void) {
    int value = 1, key, kept, found;
    MPI_Comm made, copy = MPI_COMM_WORLD;
    void *place;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_create_keyval(refuse_copy, count_down, &key, NULL);
    kept = key;
    MPI_Comm_set_attr(made, key, &value);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(made, kept, &place, &found);
    CHECK(found && place == &value);
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_dup(made, &copy) != MPI_SUCCESS && copy == MPI_COMM_NULL);
    MPI_Comm_delete_attr(made, kept);
    CHECK(value == 0);
    MPI_Comm_free(&made);
}

/* Letters are summed as numbers, and nothing is summed as anything. */
static void sums(void) {
    char one = 1, sum = 0;
    MPI_Datatype nothing;
    MPI_Win win;
    MPI_Allreduce(&one, &sum, 1, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Win_create(&sum, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(NULL, 1, nothing, 0, 0, 1, nothing, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(MPI_Win_free(&win) == MPI_ERR_RMA_SYNC);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Type_free(&nothing);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    removed_names();
    fortrans_integers();
    the_worlds_handler();
    keys();
    sums();
    return end();
}

/* The half in C of mixed.f90: what it finds of attributes that Fortran has set is their place. */
#include "check.h"

static int own;
static MPI_Aint gone, made;

void look_wide(MPI_Fint comm, MPI_Fint key, MPI_Aint value) {
    MPI_Aint *found;
    int flag;
    MPI_Comm_get_attr(MPI_Comm_f2c(comm), key, &found, &flag);
    CHECK(flag && *found == value);
}

void look_narrow(MPI_Fint comm, MPI_Fint key, MPI_Fint value) {
    MPI_Fint *found;
    int flag;
    MPI_Comm_get_attr(MPI_Comm_f2c(comm), key, &found, &flag);
    CHECK(flag && *found == value);
}

void look_type(MPI_Fint type, MPI_Fint key, MPI_Aint value) {
    MPI_Aint *found;
    int flag;
    MPI_Type_get_attr(MPI_Type_f2c(type), key, &found, &flag);
    CHECK(flag && *found == value);
}

void look_win(MPI_Fint win, MPI_Fint key, MPI_Aint value) {
    MPI_Aint *found;
    int flag;
    MPI_Win_get_attr(MPI_Win_f2c(win), key, &found, &flag);
    CHECK(flag && *found == value);
}

static int copy(MPI_Comm comm, int key, void *state, void *value, void *place, int *flag) {
    (void)comm, (void)key, (void)state;
    made = *(MPI_Aint *)value + 1;
    *(void **)place = &made;
    *flag = 1;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *state) {
    (void)comm, (void)key, (void)state;
    gone = *(MPI_Aint *)value;
    return MPI_SUCCESS;
}

MPI_Fint key_of_c(void) {
    int key;
    MPI_Comm_create_keyval(copy, deleted, &key, NULL);
    return key;
}

MPI_Aint last_gone(void) {
    return gone;
}

/* Sets an address, and tells it. */
MPI_Aint hang(MPI_Fint comm, MPI_Fint key) {
    MPI_Aint place;
    MPI_Comm_set_attr(MPI_Comm_f2c(comm), key, &own);
    MPI_Get_address(&own, &place);
    return place;
}

void find(MPI_Fint comm, MPI_Fint key) {
    int *found, flag;
    (void)begin, (void)end, (void)rest;
    MPI_Comm_get_attr(MPI_Comm_f2c(comm), key, &found, &flag);
    CHECK(flag && found == &own);
}

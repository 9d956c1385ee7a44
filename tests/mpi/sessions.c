/* Sessions: a program that never calls MPI_Init makes its communicators of sets of processes. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <unistd.h>

static MPI_Session told;
static int tellings;

static void note(MPI_Session *session, int *code, ...) {
    (void)code;
    told = *session;
    tellings++;
}

/* Errors of what has to do with groups go to the handler of the session that they are of, those of
   what makes an object to the handler that it is to have. */
static void errors(void) {
    MPI_Session session, other;
    MPI_Group group, some, none;
    MPI_Comm comm;
    MPI_Errhandler handler;
    int far = 1 << 20;
    CHECK(MPI_Session_init((MPI_Info)12345, MPI_ERRORS_RETURN, &session) == MPI_ERR_INFO);
    MPI_Session_create_errhandler(note, &handler);
    CHECK(MPI_Session_init((MPI_Info)12345, handler, &session) == MPI_ERR_INFO);
    CHECK(tellings == 1 && told == MPI_SESSION_NULL);
    MPI_Session_init(MPI_INFO_NULL, handler, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    CHECK(MPI_Group_incl(group, 1, &far, &some) == MPI_ERR_RANK);
    CHECK(tellings == 2 && told == session);
    MPI_Group_union(MPI_GROUP_EMPTY, group, &some);
    MPI_Group_difference(some, MPI_GROUP_EMPTY, &none);
    CHECK(MPI_Group_excl(none, 1, &far, &none) == MPI_ERR_RANK && tellings == 3);
    CHECK(MPI_Group_translate_ranks(MPI_GROUP_EMPTY, 1, &far, group, &far) == MPI_ERR_RANK);
    CHECK(tellings == 4 && told == session);
    CHECK(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
          MPI_ERR_ARG);
    CHECK(MPI_Intercomm_create_from_groups(group, -1, group, 0, "self", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &comm) == MPI_ERR_RANK);
    /* A handler of other objects is none for these, so the world's is asked. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_create_from_group(group, "self", MPI_INFO_NULL, handler, &comm) ==
          MPI_ERR_ERRHANDLER);
    CHECK(MPI_Intercomm_create_from_groups(group, 0, MPI_GROUP_EMPTY, 0, "self", MPI_INFO_NULL,
                                           handler, &comm) == MPI_ERR_ERRHANDLER);
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &other) == MPI_ERR_ERRHANDLER);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(tellings == 4);
    MPI_Group_free(&none);
    MPI_Group_free(&some);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    MPI_Errhandler_free(&handler);
    CHECK(tellings == 4);
}

/* What the library says of itself, whatever it was asked for. */
static void says(MPI_Info info, const char *key, const char *value) {
    char text[MPI_MAX_INFO_VAL] = "";
    int flag, room = sizeof text;
    MPI_Info_get_string(info, key, &room, text, &flag);
    CHECK(flag && strstr(value, text) && text[0]);
    MPI_Info_free(&info);
}

static void hints(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Win win;
    MPI_Info asked, told;
    int *memory;
    MPI_Info_create(&asked);
    MPI_Info_set(asked, "thread_level", "MPI_THREAD_SINGLE");
    MPI_Info_set(asked, "mpi_memory_alloc_kinds", "cuda:device,system");
    MPI_Session_init(asked, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_info(session, &told);
    says(told, "thread_level", "MPI_THREAD_MULTIPLE MPI_THREAD_SERIALIZED");
    MPI_Session_get_info(session, &told);
    says(told, "mpi_memory_alloc_kinds", "mpi,system");
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "hints", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_set_info(comm, asked);
    MPI_Comm_get_info(comm, &told);
    says(told, "mpi_memory_alloc_kinds", "mpi,system");
    MPI_Win_allocate(4, 4, asked, comm, &memory, &win);
    MPI_Win_get_info(win, &told);
    says(told, "mpi_memory_alloc_kinds", "mpi,system");
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Info_free(&asked);
    MPI_Session_finalize(&session);
}

int main(void) {
    (void)begin, (void)end;
    errors();
    hints();
    MPI_Session session, other;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm comm;
    char name[64], value[16];
    int number, length = sizeof name, flag, sum, one = 1;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    CHECK(number == 2 && length == 12 && strcmp(name, "mpi://WORLD") == 0);
    CHECK(MPI_Group_from_session_pset(other, "mpi://NONE", &group) == MPI_ERR_ARG);
    CHECK(group == MPI_GROUP_NULL);
    CHECK(MPI_Session_get_pset_info(other, "mpi://NONE", &info) == MPI_ERR_ARG);
    MPI_Session_finalize(&other);
    CHECK(other == MPI_SESSION_NULL);
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_rank(group, &rank);
    MPI_Group_size(group, &size);
    MPI_Session_get_pset_info(session, name, &info);
    length = sizeof value;
    MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
    CHECK(flag && atoi(value) == size);
    MPI_Info_free(&info);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size);
    MPI_Barrier(comm);
    if (rank == 0) printf("ok %d\n", size);
    /* Sends whose requests were freed, and what is in a buffer, be it the process's, come to their
       end before the last session does. */
    static char much[1 << 20];
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int to = 1; rank == 0 && to < size; to++) {
        MPI_Request request;
        MPI_Isend(much, sizeof much, MPI_CHAR, to, 1, comm, &request);
        MPI_Request_free(&request);
        MPI_Bsend(much, sizeof much, MPI_CHAR, to, 2, comm);
    }
    if (rank > 0) {
        sleep(1);
        MPI_Recv(much, sizeof much, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
        sleep(1);
        MPI_Recv(much, sizeof much, MPI_CHAR, 0, 2, comm, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}

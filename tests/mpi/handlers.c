/* Error handlers of each kind of object: what is set is found again, and is called by what fails
 * and by the program. Handles of each kind as integers. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <unistd.h>

static int tellings, code_told;
static MPI_Comm comm_told;
static MPI_File file_told;
static MPI_Win win_told;
static MPI_Session session_told;

static void of_comm(MPI_Comm *comm, int *code, ...) {
    comm_told = *comm;
    code_told = *code, tellings++;
}

static void of_file(MPI_File *file, int *code, ...) {
    file_told = *file;
    code_told = *code, tellings++;
}

static void of_win(MPI_Win *win, int *code, ...) {
    win_told = *win;
    code_told = *code, tellings++;
}

static void of_session(MPI_Session *session, int *code, ...) {
    session_told = *session;
    code_told = *code, tellings++;
}

/* That a handler was called once since the last time, with a code. */
static int was_told(int code) {
    int was = tellings == 1 && code_told == code;
    tellings = code_told = 0;
    return was;
}

/* A handler lives as long as an object has it, and who asks for it gets a handle to free. */
#define HANDLER(object, function, first, create, set, get, call)                              \
    do {                                                                                      \
        MPI_Errhandler made, found;                                                           \
        get(object, &found);                                                                  \
        CHECK(found == (first));                                                              \
        MPI_Errhandler_free(&found);                                                          \
        create(function, &made);                                                              \
        CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(made)) == made);                    \
        CHECK(set(object, made) == MPI_SUCCESS);                                              \
        MPI_Errhandler_free(&made);                                                           \
        CHECK(made == MPI_ERRHANDLER_NULL);                                                   \
        CHECK(call(object, MPI_ERR_DIMS) == MPI_SUCCESS && was_told(MPI_ERR_DIMS));           \
        get(object, &found);                                                                  \
        CHECK(found != MPI_ERRHANDLER_NULL && found != (first));                              \
        CHECK(set(object, MPI_ERRORS_RETURN) == MPI_SUCCESS);                                 \
        CHECK(call(object, MPI_ERR_DIMS) == MPI_SUCCESS && tellings == 0);                    \
        CHECK(set(object, found) == MPI_SUCCESS);                                             \
        MPI_Errhandler_free(&found);                                                          \
    } while (0)

static void handlers_of_communicators(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    HANDLER(comm, of_comm, MPI_ERRORS_ARE_FATAL, MPI_Comm_create_errhandler,
            MPI_Comm_set_errhandler, MPI_Comm_get_errhandler, MPI_Comm_call_errhandler);
    CHECK(MPI_Send(&rank, 1, MPI_INT, size, 0, comm) == MPI_ERR_RANK);
    CHECK(comm_told == comm && was_told(MPI_ERR_RANK));
    CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
}

static void handlers_of_windows(void) {
    MPI_Win win;
    int *memory;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    HANDLER(win, of_win, MPI_ERRORS_ARE_FATAL, MPI_Win_create_errhandler,
            MPI_Win_set_errhandler, MPI_Win_get_errhandler, MPI_Win_call_errhandler);
    CHECK(MPI_Put(&rank, -1, MPI_INT, 0, 0, 1, MPI_INT, win) == MPI_ERR_COUNT);
    CHECK(win_told == win && was_told(MPI_ERR_COUNT));
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
    MPI_Win_free(&win);
}

static void handlers_of_files(void) {
    char name[64] = "/tmp/mpihandlers.XXXXXX";
    MPI_File file;
    if (rank == 0) close(mkstemp(name));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    HANDLER(file, of_file, MPI_ERRORS_RETURN, MPI_File_create_errhandler,
            MPI_File_set_errhandler, MPI_File_get_errhandler, MPI_File_call_errhandler);
    CHECK(MPI_File_write_at(file, 0, &rank, -1, MPI_INT, MPI_STATUS_IGNORE) == MPI_ERR_COUNT);
    CHECK(file_told == file && was_told(MPI_ERR_COUNT));
    CHECK(MPI_File_fromint(MPI_File_toint(file)) == file);
    MPI_File_close(&file);
    /* What is set for no file is that of the files that come. */
    HANDLER(MPI_FILE_NULL, of_file, MPI_ERRORS_RETURN, MPI_File_create_errhandler,
            MPI_File_set_errhandler, MPI_File_get_errhandler, MPI_File_call_errhandler);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_call_errhandler(file, MPI_ERR_IO);
    CHECK(file_told == file && was_told(MPI_ERR_IO));
    MPI_File_close(&file);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
}

static void handlers_of_sessions(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    HANDLER(session, of_session, MPI_ERRORS_ARE_FATAL, MPI_Session_create_errhandler,
            MPI_Session_set_errhandler, MPI_Session_get_errhandler, MPI_Session_call_errhandler);
    CHECK(MPI_Group_from_session_pset(session, "mpi://NONE", &group) == MPI_ERR_ARG);
    CHECK(session_told == session && was_told(MPI_ERR_ARG));
    CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
    MPI_Session_finalize(&session);
}

/* The integer of a handle leads back to it, also of those that have values of the standard. */
#define RETURNS(from, to, handle) CHECK(from(to(handle)) == (handle))

static void add(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    for (int at = 0; at < *count; at++) ((int *)to)[at] += ((int *)from)[at];
}

static void integers(void) {
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;
    MPI_Datatype type;
    MPI_Message message;
    MPI_Request request;
    int told = -1, number = rank;
    RETURNS(MPI_Comm_fromint, MPI_Comm_toint, MPI_COMM_WORLD);
    RETURNS(MPI_Comm_fromint, MPI_Comm_toint, MPI_COMM_NULL);
    RETURNS(MPI_Group_fromint, MPI_Group_toint, MPI_GROUP_EMPTY);
    RETURNS(MPI_Info_fromint, MPI_Info_toint, MPI_INFO_ENV);
    RETURNS(MPI_Op_fromint, MPI_Op_toint, MPI_SUM);
    RETURNS(MPI_Type_fromint, MPI_Type_toint, MPI_DOUBLE);
    RETURNS(MPI_Request_fromint, MPI_Request_toint, MPI_REQUEST_NULL);
    RETURNS(MPI_Message_fromint, MPI_Message_toint, MPI_MESSAGE_NO_PROC);
    RETURNS(MPI_Win_fromint, MPI_Win_toint, MPI_WIN_NULL);
    RETURNS(MPI_File_fromint, MPI_File_toint, MPI_FILE_NULL);
    RETURNS(MPI_Session_fromint, MPI_Session_toint, MPI_SESSION_NULL);
    RETURNS(MPI_Errhandler_fromint, MPI_Errhandler_toint, MPI_ERRORS_RETURN);
    /* The values of the standard's own handles are as their integers. */
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == (int)(intptr_t)MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Op_create(add, 1, &op);
    MPI_Type_contiguous(2, MPI_INT, &type);
    RETURNS(MPI_Comm_fromint, MPI_Comm_toint, comm);
    RETURNS(MPI_Group_fromint, MPI_Group_toint, group);
    RETURNS(MPI_Info_fromint, MPI_Info_toint, info);
    RETURNS(MPI_Op_fromint, MPI_Op_toint, op);
    RETURNS(MPI_Type_fromint, MPI_Type_toint, type);
    MPI_Isend(&number, 1, MPI_INT, rank, 0, comm, &request);
    MPI_Mprobe(rank, 0, comm, &message, MPI_STATUS_IGNORE);
    RETURNS(MPI_Request_fromint, MPI_Request_toint, request);
    RETURNS(MPI_Message_fromint, MPI_Message_toint, message);
    message = MPI_Message_fromint(MPI_Message_toint(message));
    MPI_Mrecv(&told, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(told == rank);
    request = MPI_Request_fromint(MPI_Request_toint(request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&number, &told, 1, MPI_INT, MPI_Op_fromint(MPI_Op_toint(op)), comm);
    CHECK(told == size * (size - 1) / 2);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    handlers_of_communicators();
    handlers_of_windows();
    handlers_of_files();
    handlers_of_sessions();
    integers();
    return end();
}

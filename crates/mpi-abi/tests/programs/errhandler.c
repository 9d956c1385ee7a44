/* Error handlers of the program, and how long they live. */
#include "check.h"

#include <mpi.h>
#include <string.h>

static MPI_Comm seen = MPI_COMM_NULL;
static int code;

static void handler(MPI_Comm *comm, int *error, ...)
{
    seen = *comm;
    code = *error;
}

int main(void)
{
    MPI_Errhandler mine, again, freed;
    char text[MPI_MAX_ERROR_STRING];
    int class, number, length;

    CHECK(MPI_Comm_create_errhandler(handler, &mine) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &again) == MPI_SUCCESS && again == mine);
    freed = mine;
    CHECK(MPI_Errhandler_free(&mine) == MPI_SUCCESS && mine == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Errhandler_free(&again) == MPI_SUCCESS);

    /* The communicator still has it. */
    CHECK(MPI_Comm_set_name(MPI_COMM_WORLD, NULL) == MPI_ERR_ARG);
    CHECK(seen == MPI_COMM_WORLD && code == MPI_ERR_ARG);
    CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG) == MPI_SUCCESS);
    CHECK(code == MPI_ERR_TAG);

    /* Errors about nothing that is valid go to MPI_COMM_SELF's. */
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_name(MPI_COMM_NULL, "none") == MPI_ERR_COMM && code == MPI_ERR_TAG);

    /* Without a holder it is gone. */
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, freed) == MPI_ERR_ERRHANDLER);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_errhandler(handler, &mine) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, mine) == MPI_ERR_ERRHANDLER);

    /* Error classes and codes of the program. */
    CHECK(MPI_Add_error_class(&class) == MPI_SUCCESS && class > MPI_ERR_LASTCODE);
    CHECK(MPI_Add_error_code(class, &number) == MPI_SUCCESS);
    CHECK(MPI_Add_error_string(number, "too late") == MPI_SUCCESS);
    CHECK(MPI_Error_string(number, text, &length) == MPI_SUCCESS);
    CHECK(!strcmp(text, "too late") && length == 8);
    CHECK(MPI_Error_class(number, &length) == MPI_SUCCESS && length == class);
    CHECK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length) == MPI_SUCCESS);
    CHECK(strstr(text, "MPI_ERR_TRUNCATE") == text);
    puts("all good");
    return 0;
}

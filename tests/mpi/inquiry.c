/* What the library says of itself: to tools, and of the languages that it is called from. */
#include "check.h"

/* There are no variables, categories and events, and whoever asks for one is told. */
static void tools(void) {
    int provided, number = -1, length = 0, verbosity, bind, scope;
    char name[4];
    MPI_Datatype datatype;
    MPI_T_enum values;
    MPI_T_pvar_session session, none = MPI_T_PVAR_SESSION_NULL;
    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_T_pvar_get_num(&number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_T_cvar_get_info(0, name, &length, &verbosity, &datatype, &values, name, &length,
                              &bind, &scope) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &number) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &number) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, handle, &number) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(none, handle, &number) == MPI_T_ERR_INVALID_SESSION);
    MPI_T_pvar_session freed = session;
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == none);
    CHECK(MPI_T_pvar_session_free(&freed) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
}

/* The sizes of integers, and what Fortran has. */
static void languages(void) {
    char value[16];
    int length = sizeof value, flag, is_set, yes = 0, no = 7;
    MPI_Info info;
    MPI_Abi_get_info(&info);
    MPI_Info_get_string(info, "mpi_aint_size", &length, value, &flag);
    CHECK(flag && atoi(value) == (int)sizeof(MPI_Aint));
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_info(&info);
    length = sizeof value;
    MPI_Info_get_string(info, "mpi_double_precision_size", &length, value, &flag);
    CHECK(flag && atoi(value) == (int)sizeof(double));
    length = sizeof value;
    MPI_Info_get_string(info, "mpi_integer4_supported", &length, value, &flag);
    CHECK(flag && strcmp(value, "true") == 0);
    CHECK(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
    MPI_Info_set(info, "mpi_integer_size", "8");
    CHECK(class_of(MPI_Abi_set_fortran_info(info)) == MPI_ERR_ABI);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_booleans(sizeof yes, &yes, &no, &is_set);
    CHECK(is_set && yes == 1 && no == 0);
    CHECK(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no) == MPI_SUCCESS);
    CHECK(class_of(MPI_Abi_set_fortran_booleans(sizeof yes, &no, &yes)) == MPI_ERR_ABI);
    CHECK(class_of(MPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set)) == MPI_ERR_ARG);
}

static int extent(MPI_Datatype datatype, MPI_Aint *bytes, void *extra) {
    (void)extra;
    MPI_Aint low;
    return MPI_Type_get_extent(datatype, &low, bytes);
}

static int converts(void *memory, MPI_Datatype datatype, int count, void *bytes, MPI_Offset at,
                    void *extra) {
    (void)memory, (void)datatype, (void)count, (void)bytes, (void)at, (void)extra;
    return MPI_ERR_OTHER;
}

/* Representations of data have names of their own; files are not converted by them, but may be so
   called where nothing is converted. */
static void representations(void) {
    MPI_File file;
    CHECK(MPI_Register_datarep("own", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent,
                               NULL) == MPI_SUCCESS);
    int code = MPI_Register_datarep_c("own", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C,
                                      extent, NULL);
    CHECK(class_of(code) == MPI_ERR_DUP_DATAREP);
    code = MPI_Register_datarep("native", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent,
                                NULL);
    CHECK(class_of(code) == MPI_ERR_DUP_DATAREP);
    int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
    char name[64];
    snprintf(name, sizeof name, "/tmp/muster-inquiry-%d", (int)(MPI_Wtime() * 1e6));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    CHECK(MPI_Register_datarep("odd", converts, MPI_CONVERSION_FN_NULL, extent, NULL) ==
          MPI_SUCCESS);
    code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "odd", MPI_INFO_NULL);
    CHECK(class_of(code) == MPI_ERR_UNSUPPORTED_DATAREP);
    const char *given[] = {"own", "NATIVE", "Internal", "EXTERNAL32"};
    const char *known[] = {"own", "native", "internal", "external32"};
    for (int i = 0; i < 4; i++) {
        char form[MPI_MAX_DATAREP_STRING];
        MPI_Datatype etype, filetype;
        MPI_Offset at;
        int number = 0x01020304, back = 0;
        unsigned char bytes[4];
        CHECK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, given[i], MPI_INFO_NULL) ==
              MPI_SUCCESS);
        MPI_File_get_view(file, &at, &etype, &filetype, form);
        CHECK(strcmp(form, known[i]) == 0);
        MPI_File_write_at_all(file, rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_read_at_all(file, rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
        CHECK(back == number);
        MPI_File_set_view(file, 4, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        MPI_File_read_at(file, 4 * rank, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE);
        if (i == 3) {
            CHECK(bytes[0] == 1);
        } else {
            CHECK(memcmp(bytes, &number, 4) == 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    /* Errors of files that there are not go to MPI_FILE_NULL's handler, which returns. */
    representations();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    tools();
    languages();
    MPI_Request none = MPI_REQUEST_NULL;
    CHECK(class_of(MPI_Cancel(&none)) == MPI_ERR_REQUEST);
    return end();
}

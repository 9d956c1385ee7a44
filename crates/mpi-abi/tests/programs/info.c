/* Info objects: keys, values, copies, and what is wrong with some. */
#include "check.h"

#include <mpi.h>
#include <string.h>

int main(void)
{
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL], long_key[MPI_MAX_INFO_KEY + 1];
    int number, flag, length;

    CHECK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Info_create(&info) == MPI_SUCCESS && info != MPI_INFO_NULL);
    CHECK(MPI_Info_set(info, "one", "1") == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "two", "two words") == MPI_SUCCESS);
    CHECK(MPI_Info_set(info, "one", "changed") == MPI_SUCCESS);
    CHECK(MPI_Info_get_nkeys(info, &number) == MPI_SUCCESS && number == 2);
    CHECK(MPI_Info_get_nthkey(info, 1, key) == MPI_SUCCESS && !strcmp(key, "two"));
    CHECK(MPI_Info_get_nthkey(info, 2, key) == MPI_ERR_ARG);

    /* How much room a value needs, then the value. */
    length = 0;
    CHECK(MPI_Info_get_string(info, "one", &length, value, &flag) == MPI_SUCCESS);
    CHECK(flag && length == 8);
    CHECK(MPI_Info_get_string(info, "one", &length, value, &flag) == MPI_SUCCESS);
    CHECK(flag && !strcmp(value, "changed"));
    CHECK(MPI_Info_get(info, "two", 3, value, &flag) == MPI_SUCCESS && !strcmp(value, "two"));
    CHECK(MPI_Info_get_valuelen(info, "two", &length, &flag) == MPI_SUCCESS && length == 9);
    CHECK(MPI_Info_get(info, "three", 3, value, &flag) == MPI_SUCCESS && !flag);

    CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
    CHECK(MPI_Info_delete(info, "one") == MPI_SUCCESS);
    CHECK(MPI_Info_delete(info, "one") == MPI_ERR_INFO_NOKEY);
    CHECK(MPI_Info_get_nkeys(copy, &number) == MPI_SUCCESS && number == 2);

    memset(long_key, 'k', sizeof long_key - 1);
    long_key[sizeof long_key - 1] = 0;
    CHECK(MPI_Info_set(info, long_key, "v") == MPI_ERR_INFO_KEY);
    CHECK(MPI_Info_set(info, "", "v") == MPI_ERR_INFO_KEY);

    /* Texts are bytes, in whatever encoding. */
    CHECK(MPI_Info_set(info, "\xe9t\xe9", "\xff\x80 \xe9") == MPI_SUCCESS);
    CHECK(MPI_Info_get(info, "\xe9t\xe9", 10, value, &flag) == MPI_SUCCESS && flag);
    CHECK(!strcmp(value, "\xff\x80 \xe9"));
    CHECK(MPI_Info_get_valuelen(info, "\xe9t\xe9", &length, &flag) == MPI_SUCCESS && length == 4);
    CHECK(MPI_Info_get_nthkey(info, 1, key) == MPI_SUCCESS && !strcmp(key, "\xe9t\xe9"));
    CHECK(MPI_Info_delete(info, "\xe8t\xe8") == MPI_ERR_INFO_NOKEY);
    CHECK(MPI_Info_delete(info, "\xe9t\xe9") == MPI_SUCCESS);

    CHECK(MPI_Info_fromint(MPI_Info_toint(copy)) == copy);
    MPI_Info freed = copy;
    CHECK(MPI_Info_free(&copy) == MPI_SUCCESS && copy == MPI_INFO_NULL);
    CHECK(MPI_Info_free(&freed) == MPI_ERR_INFO && MPI_Info_free(&copy) == MPI_ERR_INFO);
    CHECK(MPI_Info_set(MPI_INFO_ENV, "one", "1") == MPI_ERR_INFO);
    CHECK(MPI_Info_get_valuelen(MPI_INFO_ENV, "command", &length, &flag) == MPI_SUCCESS);
    CHECK(flag && length > 0);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    puts("all good");
    return 0;
}

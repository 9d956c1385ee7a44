/* Attributes, names and hints: what is copied with an object, and what is told when it goes. */
#include "check.h"

#include <mpi.h>
#include <string.h>

static char log_of[100];
static int numbers[3] = {1, 2, 3};

static int copy(MPI_Comm comm, int key, void *state, void *value, void *made, int *flag)
{
    (void)comm, (void)key;
    strcat(log_of, "c");
    *(void **)made = (int *)value + 1;
    *flag = state == &numbers;
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int key, void *value, void *state)
{
    char text[20];

    (void)comm, (void)key, (void)state;
    snprintf(text, sizeof text, "d%d", *(int *)value);
    strcat(log_of, text);
    return MPI_SUCCESS;
}

static int refused(MPI_Comm comm, int key, void *state, void *value, void *made, int *flag)
{
    (void)comm, (void)key, (void)state, (void)value, (void)made, (void)flag;
    return MPI_ERR_OTHER;
}

int main(void)
{
    MPI_Comm comm, other;
    MPI_Info hints, told;
    int key, second, third, freed, flag, length, *value;
    char name[MPI_MAX_OBJECT_NAME];

    CHECK(MPI_Init(NULL, NULL) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);

    /* One key with callbacks, one whose value is copied, one whose is not. */
    CHECK(MPI_Comm_create_keyval(copy, deleted, &key, &numbers) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, deleted, &second, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &third, NULL)
          == MPI_SUCCESS);
    CHECK(MPI_Comm_get_attr(comm, key, &value, &flag) == MPI_SUCCESS && !flag);
    CHECK(MPI_Comm_set_attr(comm, key, &numbers[0]) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, second, &numbers[2]) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, third, &numbers[2]) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(comm, &other) == MPI_SUCCESS && !strcmp(log_of, "c"));
    CHECK(MPI_Comm_get_attr(other, key, &value, &flag) == MPI_SUCCESS);
    CHECK(flag && value == &numbers[1]);
    CHECK(MPI_Comm_get_attr(other, second, &value, &flag) == MPI_SUCCESS);
    CHECK(flag && value == &numbers[2]);
    CHECK(MPI_Comm_get_attr(other, third, &value, &flag) == MPI_SUCCESS && !flag);

    /* Values go from the youngest to the oldest, and with their old value when they are set. */
    CHECK(MPI_Comm_free(&other) == MPI_SUCCESS && !strcmp(log_of, "cd3d2"));
    CHECK(other == MPI_COMM_NULL);
    CHECK(MPI_Comm_set_attr(comm, key, &numbers[2]) == MPI_SUCCESS && !strcmp(log_of, "cd3d2d1"));

    /* The values of a key that was freed stay, and while there are any, it may be used. */
    freed = second;
    log_of[0] = 0;
    CHECK(MPI_Comm_free_keyval(&second) == MPI_SUCCESS && second == MPI_KEYVAL_INVALID);
    CHECK(MPI_Comm_set_attr(comm, freed, &numbers[1]) == MPI_SUCCESS && !strcmp(log_of, "d3"));
    CHECK(MPI_Comm_get_attr(comm, freed, &value, &flag) == MPI_SUCCESS);
    CHECK(flag && value == &numbers[1]);
    CHECK(MPI_Comm_delete_attr(comm, freed) == MPI_SUCCESS && !strcmp(log_of, "d3d2"));
    CHECK(MPI_Comm_set_attr(comm, freed, &numbers[0]) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_get_attr(comm, freed, &value, &flag) == MPI_ERR_KEYVAL);
    CHECK(MPI_Comm_set_attr(comm, MPI_TAG_UB, &numbers[0]) == MPI_ERR_KEYVAL);
    CHECK(MPI_Type_set_attr(MPI_INT, key, &numbers[0]) == MPI_ERR_KEYVAL);
    log_of[0] = 0;
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && !strcmp(log_of, "d3"));
    CHECK(MPI_Comm_get_attr(MPI_COMM_NULL, key, &value, &flag) == MPI_ERR_COMM);

    /* A callback that fails, fails the call. */
    CHECK(MPI_Comm_create_keyval(refused, MPI_COMM_NULL_DELETE_FN, &second, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, second, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_ERR_OTHER);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, second) == MPI_SUCCESS);

    /* The standard's own attributes. */
    CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) == MPI_SUCCESS);
    CHECK(flag && *value >= 32767);

    /* Names and hints. */
    CHECK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length) == MPI_SUCCESS);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
    CHECK(MPI_Type_get_name(MPI_DOUBLE, name, &length) == MPI_SUCCESS);
    CHECK(!strcmp(name, "MPI_DOUBLE"));
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && length == 0);
    CHECK(MPI_Comm_set_name(comm, "mine") == MPI_SUCCESS);
    CHECK(MPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && !strcmp(name, "mine"));
    CHECK(MPI_Comm_set_name(comm, "caf\xe9") == MPI_SUCCESS);
    CHECK(MPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS && !strcmp(name, "caf\xe9"));
    CHECK(length == 4);
    CHECK(MPI_Info_create(&hints) == MPI_SUCCESS);
    CHECK(MPI_Info_set(hints, "mpi_assert_no_any_tag", "true") == MPI_SUCCESS);
    CHECK(MPI_Comm_set_info(comm, hints) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_info(comm, &told) == MPI_SUCCESS && told != hints);
    CHECK(MPI_Info_get_valuelen(told, "mpi_assert_no_any_tag", &length, &flag) == MPI_SUCCESS);
    CHECK(flag && length == 4);
    CHECK(MPI_Info_free(&hints) == MPI_SUCCESS && MPI_Info_free(&told) == MPI_SUCCESS);
    CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
    CHECK(MPI_Comm_get_parent(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
    CHECK(MPI_Is_thread_main(&flag) == MPI_SUCCESS && flag);

    /* What hangs on MPI_COMM_SELF goes first when MPI ends. */
    log_of[0] = 0;
    CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &numbers[1]) == MPI_SUCCESS);
    CHECK(MPI_Finalize() == MPI_SUCCESS && !strcmp(log_of, "d2"));
    puts("all good");
    return 0;
}

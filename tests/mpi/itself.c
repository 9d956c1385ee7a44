/* What a program asks of the library, of itself and of its objects: versions, threads, hints,
 * attributes, error codes, copies. */
#include "check.h"

static void versions(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "", name[MPI_MAX_PROCESSOR_NAME] = "";
    int major = -1, minor = -1, length = -1, level = -1, flag = 0;
    MPI_Get_version(&major, &minor);
    CHECK(major == MPI_VERSION && minor == MPI_SUBVERSION);
    MPI_Abi_get_version(&major, &minor);
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && (size_t)length == strlen(text));
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && (size_t)length == strlen(name));
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE);
    CHECK(MPI_Pcontrol(1) == MPI_SUCCESS && MPI_Pcontrol(7, text, 3) == MPI_SUCCESS);
    double tick = MPI_Wtick();
    CHECK(tick > 0 && tick < 1);
}

/* Whether an object has a key with a value, or any where that is not told. */
static int has(MPI_Info info, const char *key, const char *value) {
    char text[MPI_MAX_INFO_VAL] = "";
    int flag, room = sizeof text;
    MPI_Info_get_string(info, key, &room, text, &flag);
    return flag && (!value || strcmp(text, value) == 0);
}

static void hints(char **argv) {
    MPI_Info info, copy, told;
    int keys, flag;
    MPI_Info_create(&info);
    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys == 0);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "2");
    MPI_Info_dup(info, &copy);
    CHECK(MPI_Info_delete(info, "one") == MPI_SUCCESS);
    MPI_Info_get_nkeys(info, &keys);
    CHECK(keys == 1 && !has(info, "one", NULL) && has(info, "two", "2"));
    MPI_Info_get_nkeys(copy, &keys);
    CHECK(keys == 2 && has(copy, "one", "1") && has(copy, "two", "2"));
    for (int at = 0; at < 2; at++) {
        char key[MPI_MAX_INFO_KEY];
        MPI_Info_get_nthkey(copy, at, key);
        CHECK(strcmp(key, at ? "two" : "one") == 0);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Info_delete(info, "one")) == MPI_ERR_INFO_NOKEY);
    MPI_Info_free(&info);
    CHECK(has(copy, "one", "1"));
    MPI_Info_free(&copy);
    /* What the program was started with: the second time as MPI_INFO_ENV has it. */
    CHECK(MPI_Info_create_env(1, argv, &info) == MPI_SUCCESS);
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%d", size);
    CHECK(has(info, "command", NULL) && has(info, "maxprocs", wanted));
    MPI_Info_get_nkeys(info, &keys);
    MPI_Info_get_nkeys(MPI_INFO_ENV, &flag);
    CHECK(keys == flag);
    MPI_Info_free(&info);
    CHECK(MPI_Get_hw_resource_info(&told) == MPI_SUCCESS && told != MPI_INFO_NULL);
    CHECK(has(told, "mpi_shared_memory", "true"));
    MPI_Info_free(&told);
}

/* Hints of a window are set and told, with what holds where none was given. */
static void says(MPI_Info told, const char *key, const char *expected) {
    char value[MPI_MAX_INFO_VAL];
    int flag;
    MPI_Info_get(told, key, MPI_MAX_INFO_VAL - 1, value, &flag);
    CHECK(flag == (expected != NULL) && (!flag || strcmp(value, expected) == 0));
}

static void hints_of_windows(void) {
    MPI_Info info, told;
    MPI_Win win;
    int *memory;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Info_set(info, "nobody_knows_this", "true");
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    CHECK(MPI_Win_set_info(win, info) == MPI_SUCCESS);
    MPI_Win_get_info(win, &told);
    says(told, "no_locks", "true");
    says(told, "accumulate_ordering", "rar,raw,war,waw");
    says(told, "nobody_knows_this", NULL);
    MPI_Info_free(&told);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

/* Names of objects are told as they were given, and memory and addresses are the program's. */
static void names(void) {
    MPI_Comm comm;
    MPI_Win win;
    char text[MPI_MAX_OBJECT_NAME] = "x";
    int length = -1, *memory;
    MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
    CHECK(strcmp(text, "MPI_COMM_WORLD") == 0 && length == 14);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_name(comm, text, &length);
    CHECK(length == 0 && text[0] == 0);
    MPI_Comm_set_name(comm, "halo");
    MPI_Comm_get_name(comm, text, &length);
    CHECK(strcmp(text, "halo") == 0 && length == 4);
    MPI_Comm_free(&comm);
    CHECK(MPI_Alloc_mem(8 * sizeof(int), MPI_INFO_NULL, &memory) == MPI_SUCCESS && memory);
    for (int at = 0; at < 8; at++) memory[at] = at;
    MPI_Aint first, third;
    MPI_Get_address(memory, &first);
    MPI_Get_address(memory + 3, &third);
    CHECK(MPI_Aint_add(first, 3 * sizeof(int)) == third);
    CHECK(MPI_Aint_diff(third, first) == 3 * (MPI_Aint)sizeof(int));
    MPI_Win_create(memory, 8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_name(win, text, &length);
    CHECK(length == 0 && text[0] == 0);
    CHECK(MPI_Win_set_name(win, "edge") == MPI_SUCCESS);
    MPI_Win_get_name(win, text, &length);
    CHECK(strcmp(text, "edge") == 0 && length == 4);
    MPI_Win_free(&win);
    CHECK(memory[7] == 7 && MPI_Free_mem(memory) == MPI_SUCCESS);
}

static int deleted;

static int of_comm(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static int of_type(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static int of_win(MPI_Win win, int key, void *value, void *extra) {
    (void)win, (void)key, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

/* An attribute that is deleted is told to its key's function, and is gone. */
#define ATTRIBUTE(object, key, set, get, delete, free)                                   \
    do {                                                                                 \
        int flag = -1, value = 5, *found;                                                \
        set(object, key, &value);                                                        \
        get(object, key, &found, &flag);                                                 \
        CHECK(flag && found == &value);                                                  \
        deleted = 0;                                                                     \
        CHECK(delete(object, key) == MPI_SUCCESS && deleted == 5);                       \
        get(object, key, &found, &flag);                                                 \
        CHECK(!flag);                                                                    \
        CHECK(free(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);                   \
    } while (0)

static void attributes(void) {
    MPI_Datatype type;
    MPI_Win win;
    MPI_Comm comm;
    int *memory, key;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, of_comm, &key, NULL);
    ATTRIBUTE(comm, key, MPI_Comm_set_attr, MPI_Comm_get_attr, MPI_Comm_delete_attr,
              MPI_Comm_free_keyval);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, of_type, &key, NULL);
    ATTRIBUTE(type, key, MPI_Type_set_attr, MPI_Type_get_attr, MPI_Type_delete_attr,
              MPI_Type_free_keyval);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, of_win, &key, NULL);
    ATTRIBUTE(win, key, MPI_Win_set_attr, MPI_Win_get_attr, MPI_Win_delete_attr,
              MPI_Win_free_keyval);
    MPI_Win_free(&win);
    MPI_Type_free(&type);
    /* The same by the names that were there before. */
    MPI_Keyval_create(MPI_NULL_COPY_FN, of_comm, &key, NULL);
    ATTRIBUTE(comm, key, MPI_Attr_put, MPI_Attr_get, MPI_Attr_delete, MPI_Keyval_free);
    MPI_Comm_free(&comm);
}

/* Classes and codes of the program are taken back, each when nothing hangs on it any more. */
static void codes(void) {
    int class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the stars are wrong");
    CHECK(class_of(code) == class);
    CHECK(MPI_Add_error_code(code, &length) == MPI_ERR_ARG);
    CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    CHECK(length == 0 && text[0] == 0);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) != MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(MPI_ERR_TRUNCATE) != MPI_SUCCESS);
}

static void types(void) {
    MPI_Datatype pair;
    CHECK(MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, &pair) == MPI_SUCCESS);
    CHECK(pair == MPI_FLOAT_INT);
    CHECK(MPI_Type_get_value_index(MPI_LONG_DOUBLE, MPI_INT, &pair) == MPI_SUCCESS);
    CHECK(pair == MPI_LONG_DOUBLE_INT);
    CHECK(MPI_Type_get_value_index(MPI_CHAR, MPI_CHAR, &pair) == MPI_SUCCESS);
    CHECK(pair == MPI_DATATYPE_NULL);
}

static void first_of_both(void *from, void *to, int *count, MPI_Datatype *type) {
    (void)type;
    memcpy(to, from, (size_t)*count * sizeof(int));
}

/* Operations say whether ranks may change places. */
static void operations(void) {
    MPI_Op op;
    int commutes = -1;
    for (int wanted = 0; wanted < 2; wanted++) {
        MPI_Op_create(first_of_both, wanted, &op);
        MPI_Op_commutative(op, &commutes);
        CHECK(commutes == wanted);
        MPI_Op_free(&op);
    }
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK(commutes == 1);
}

/* A copy that is begun is there when its request has ended, and is another communicator. */
static void copies(void) {
    MPI_Comm first, second, parent;
    MPI_Request requests[2];
    MPI_Info info;
    int one = 1, sum = 0, how;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &first, &requests[0]);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &second, &requests[1]);
    MPI_Info_free(&info);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_compare(first, second, &how);
    CHECK(how == MPI_CONGRUENT);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, first);
    CHECK(sum == size);
    MPI_Allreduce(&sum, &one, 1, MPI_INT, MPI_SUM, second);
    CHECK(one == size * size);
    CHECK(MPI_Comm_disconnect(&first) == MPI_SUCCESS && first == MPI_COMM_NULL);
    MPI_Comm_free(&second);
    CHECK(MPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    versions();
    hints(argv);
    hints_of_windows();
    attributes();
    codes();
    types();
    operations();
    names();
    copies();
    return end();
}

/* The interface for tools: every function of it. There is nothing to be seen, so no number and no
 * handle is one, and before MPI_T_init_thread nothing is answered. */
#include "check.h"

#define IS(call, wanted) CHECK((call) == (is_begun ? (wanted) : MPI_T_ERR_NOT_INITIALIZED))

static int is_begun, number, length;
static char name[8], description[8];
static MPI_Count count;
static MPI_Datatype datatype;
static MPI_T_enum values;
static MPI_Info info;

/* How many there are of each, none of them by any name. */
static void numbers(void) {
    int (*const all[])(int *) = {MPI_T_cvar_get_num, MPI_T_pvar_get_num, MPI_T_category_get_num,
                                 MPI_T_category_changed, MPI_T_event_get_num, MPI_T_source_get_num};
    for (int at = 0; at < 6; at++) {
        number = 0;
        IS(all[at](&number), MPI_SUCCESS);
        CHECK(number == 0);
    }
    IS(MPI_T_cvar_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_pvar_get_index("nothing", MPI_T_PVAR_CLASS_STATE, &number), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_category_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_event_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
}

/* What is asked by an index. */
static void by_index(void) {
    int indices[2], bind, scope, class, is_fixed, is_on, is_whole, more;
    MPI_Aint place;
    MPI_T_cvar_handle variable;
    MPI_T_event_registration event;
    MPI_T_source_order order;
    IS(MPI_T_category_get_categories(0, 2, indices), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_category_get_cvars(0, 2, indices), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_category_get_events(0, 2, indices), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_category_get_pvars(0, 2, indices), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_category_get_num_events(0, &number), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_category_get_info(0, name, &length, description, &length, &number, &number, &more),
       MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_cvar_get_info(0, name, &length, &number, &datatype, &values, description, &length,
                           &bind, &scope), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_cvar_handle_alloc(0, NULL, &variable, &number), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_get_info(0, name, &length, &number, &datatype, &place, &more, &values, &info,
                            description, &length, &bind), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &event), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_pvar_get_info(0, name, &length, &number, &class, &datatype, &values, description,
                           &length, &bind, &is_fixed, &is_on, &is_whole), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_source_get_info(0, name, &length, description, &length, &order, &count, &count, &info),
       MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_source_get_timestamp(0, &count), MPI_T_ERR_INVALID_INDEX);
}

/* What is asked by a handle. */
static void by_handle(void) {
    MPI_T_cvar_handle variable = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_event_registration event = NULL;
    MPI_T_event_instance instance = NULL;
    const int safety = MPI_T_CB_REQUIRE_NONE, wrong = MPI_T_ERR_INVALID_HANDLE;
    IS(MPI_T_cvar_read(variable, &number), wrong);
    IS(MPI_T_cvar_write(variable, &number), wrong);
    IS(MPI_T_cvar_handle_free(&variable), wrong);
    IS(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, name, &length), wrong);
    IS(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &number, name, &length), wrong);
    IS(MPI_T_event_callback_get_info(event, safety, &info), wrong);
    IS(MPI_T_event_callback_set_info(event, safety, MPI_INFO_NULL), wrong);
    IS(MPI_T_event_register_callback(event, safety, MPI_INFO_NULL, NULL, NULL), wrong);
    IS(MPI_T_event_set_dropped_handler(event, NULL), wrong);
    IS(MPI_T_event_handle_get_info(event, &info), wrong);
    IS(MPI_T_event_handle_set_info(event, MPI_INFO_NULL), wrong);
    IS(MPI_T_event_handle_free(event, NULL, NULL), wrong);
    IS(MPI_T_event_copy(instance, &number), wrong);
    IS(MPI_T_event_read(instance, 0, &number), wrong);
    IS(MPI_T_event_get_source(instance, &number), wrong);
    IS(MPI_T_event_get_timestamp(instance, &count), wrong);
}

/* What is asked of a session of performance variables, and of one that there is not. */
static void by_session(void) {
    MPI_T_pvar_session own = MPI_T_PVAR_SESSION_NULL;
    IS(MPI_T_pvar_session_create(&own), MPI_SUCCESS);
    MPI_T_pvar_session sessions[2] = {own, MPI_T_PVAR_SESSION_NULL};
    for (int at = 0; at < 2; at++) {
        MPI_T_pvar_session session = sessions[at];
        MPI_T_pvar_handle none = MPI_T_PVAR_HANDLE_NULL, all = MPI_T_PVAR_ALL_HANDLES;
        int wrong = at ? MPI_T_ERR_INVALID_SESSION : MPI_T_ERR_INVALID_HANDLE;
        IS(MPI_T_pvar_start(session, all), at ? wrong : MPI_SUCCESS);
        IS(MPI_T_pvar_stop(session, all), at ? wrong : MPI_SUCCESS);
        IS(MPI_T_pvar_reset(session, all), at ? wrong : MPI_SUCCESS);
        IS(MPI_T_pvar_start(session, none), wrong);
        IS(MPI_T_pvar_stop(session, none), wrong);
        IS(MPI_T_pvar_reset(session, none), wrong);
        IS(MPI_T_pvar_read(session, none, &number), wrong);
        IS(MPI_T_pvar_readreset(session, none, &number), wrong);
        IS(MPI_T_pvar_write(session, none, &number), wrong);
        IS(MPI_T_pvar_handle_free(session, &none), wrong);
        IS(MPI_T_pvar_handle_alloc(session, 0, NULL, &none, &number),
           at ? wrong : MPI_T_ERR_INVALID_INDEX);
    }
    if (is_begun) CHECK(MPI_T_pvar_session_free(&own) == MPI_SUCCESS);
    CHECK(own == MPI_T_PVAR_SESSION_NULL);
    IS(MPI_T_pvar_session_free(&own), MPI_T_ERR_INVALID_SESSION);
}

static void everything(void) {
    numbers();
    by_index();
    by_handle();
    by_session();
}

int main(int argc, char **argv) {
    int provided;
    begin(&argc, &argv);
    everything();
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    /* It ends when it was ended as often as it was begun. */
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    is_begun = 1;
    everything();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    everything();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    is_begun = 0;
    everything();
    return end();
}

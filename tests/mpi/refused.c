/* A callback refuses when MPI ends: its rank is told, and all end. */
#include "check.h"

static int deleted(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_ERR_OTHER;
}

int main(int argc, char **argv) {
    int key, is_ended;
    (void)end;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    if (rank == 0) MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    int code = MPI_Finalize();
    MPI_Finalized(&is_ended);
    if (code != (rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS) || !is_ended) return 1;
    if (rank == 0) printf("ok %d\n", size);
    return 0;
}

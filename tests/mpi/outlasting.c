/* Ranks that go on within a session when MPI_Finalize has been called: the last one receives from
 * whoever sends first, and the second one sends late. The first one has nothing more to do. Prints
 * who was first, and that the others' session is no hindrance for one that has none. With an
 * argument the last one comes late to MPI_Finalize, where the others wait each in its way. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int value = 0, i;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    begin(&argc, &argv);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "outlasting", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, size - 1, 0, comm);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
        end();
        return 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == size - 1)
        rest(3000000);
    MPI_Finalize();
    if (rank < size - 1) {
        rest(500000);
        MPI_Send(&value, 1, MPI_INT, size - 1, 0, comm);
    }
    for (i = 1; rank == size - 1 && i < size; i++) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status);
        printf("%d\n", status.MPI_SOURCE);
    }
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}

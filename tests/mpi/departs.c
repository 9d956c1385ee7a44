/* Rank 0 receives so many messages from any source, as its first argument says, and goes on where
 * calls fail. Its second one has it do something else: 1 to receive with another tag, 2 to probe
 * where it would test, 3 to end the job, and that late: the others do so before. */
#include "check.h"

enum { SENT = 6, TAG = 1, OTHER = 2 };

int main(int count, char **arguments) {
    int number = count > 1 ? atoi(arguments[1]) : 0, other = count > 2 ? atoi(arguments[2]) : 0;
    int value = 0, flag, i;
    static char room[2 * SENT * (MPI_BSEND_OVERHEAD + sizeof value)];
    MPI_Request request;
    const char *own = getenv("MUSTER_RANK");
    if (other == 3 && own && atoi(own) == 0)
        rest(1000000);
    begin(&count, &arguments);
    MPI_Buffer_attach(room, sizeof room);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        printf("begun\n");
    if (rank > 0)
        for (i = 0; i < 2 * SENT; i++)
            MPI_Bsend(&value, 1, MPI_INT, 0, i % 2 ? TAG : OTHER, MPI_COMM_WORLD);
    if (other == 3)
        MPI_Abort(MPI_COMM_WORLD, 5);
    for (i = 0; rank == 0 && i < number; i++)
        if (MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, other == 1 ? OTHER : TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE))
            fprintf(stderr, "goes on\n");
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, OTHER, MPI_COMM_WORLD, &request);
        if (other == 2 ? MPI_Iprobe(1, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE)
                       : MPI_Test(&request, &flag, MPI_STATUS_IGNORE))
            fprintf(stderr, "goes on\n");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return end();
}

/* A ring of ranks: a token goes round it, and every rank adds its number. README.md tells how. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKEN = 1 }; /* the tag of our messages */

/* Sends the token once round the ring. What rank 0 gets back is the sum of all ranks' numbers. */
static long round_trip(int rank, int ranks) {
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    long token = 0;
    if (rank == 0) {
        MPI_Send(&token, 1, MPI_LONG, next, TOKEN, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_LONG, before, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&token, 1, MPI_LONG, before, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token += rank;
        MPI_Send(&token, 1, MPI_LONG, next, TOKEN, MPI_COMM_WORLD);
    }
    return token;
}

int main(int argc, char **argv) {
    int rank, ranks, length;
    char place[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_processor_name(place, &length);
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    if (rounds < 1) {
        if (rank == 0)
            fprintf(stderr, "ring: '%s' is no number of rounds\n", argv[1]);
        MPI_Finalize();
        return 2;
    }

    /* A rank alone would wait for its own message: MPI_Send may wait until somebody receives. */
    if (ranks == 1) {
        printf("a ring needs two ranks: mpiexec -n 2 ./ring\n");
        MPI_Finalize();
        return 0;
    }

    printf("rank %d of %d is on %s\n", rank, ranks, place);
    fflush(stdout);

    long token = round_trip(rank, ranks); /* connects the neighbours, too */
    if (rank == 0)
        printf("the token came back as %ld\n", token);

    MPI_Barrier(MPI_COMM_WORLD); /* so that nobody's late start is measured */
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++)
        round_trip(rank, ranks);
    double mine = (MPI_Wtime() - begin) / rounds / ranks, slowest;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d rounds, %.2f us from a rank to the next\n", rounds, slowest * 1e6);
    MPI_Finalize();
    return 0;
}

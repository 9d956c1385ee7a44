/* A rank that ends its job while something of it cannot: as the argument says, a thread waits for a
 * line that never comes, or nobody takes what was printed. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *reads(void *from) {
    char line[8];
    CHECK(fgets(line, sizeof line, from) == NULL);
    return NULL;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (strcmp(argv[1], "thread") == 0) {
        pthread_t thread;
        CHECK(pipe(ends) == 0);
        FILE *from = fdopen(ends[0], "r");
        CHECK(from != NULL && pthread_create(&thread, NULL, reads, from) == 0);
        /* It has the stream when nobody else can. */
        while (ftrylockfile(from) == 0) {
            funlockfile(from);
            rest(1000);
        }
    } else {
        static char room[1 << 20];
        CHECK(setvbuf(stdout, room, _IOFBF, sizeof room) == 0);
        for (int i = 0; i < 1000; i++) printf("%0999d\n", i);
    }
    printf("printed\n");
    MPI_Abort(MPI_COMM_WORLD, 7);
    return end();
}

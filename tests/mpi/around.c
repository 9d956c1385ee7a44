/* What a program does around MPI that is its own affair: it has closed its standard streams, has
   signals that interrupt calls of the system, and goes to another directory. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
    (void)number;
    alarms++;
}

/* The numbers of streams that were closed are nothing of the library's. */
static void closed_streams(void) {
    for (int number = 0; number < 2; number++) {
        struct stat told;
        CHECK(fstat(number, &told) == 0 && S_ISCHR(told.st_mode));
    }
    CHECK(write(1, "nobody reads this\n", 18) == 18);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
}

/* Many atomic accesses, while a signal comes each millisecond that restarts no call. */
static void interrupted(const char *name) {
    struct sigaction act = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    MPI_File file;
    sigaction(SIGALRM, &act, NULL);
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 300 || alarms < 20; i++) {
        int error = MPI_File_write_at(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
        CHECK(error == MPI_SUCCESS);
    }
    CHECK(MPI_File_preallocate(file, 1 << 20) == MPI_SUCCESS);
    setitimer(ITIMER_REAL, &never, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    /* It is deleted where it was opened. */
    CHECK(chdir("/") == 0);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    int kept = fcntl(1, F_DUPFD, 10);
    close(0);
    close(1);
    begin(&argc, &argv);
    closed_streams();
    char folder[64];
    make_folder(folder);
    CHECK(chdir(folder) == 0);
    interrupted("kept");
    /* It is empty. */
    if (rank == 0) CHECK(rmdir(folder) == 0);
    CHECK(dup2(kept, 1) == 1);
    return end();
}

/* Files where nodes remember what they have read, in the folder that is the first argument: where
   the job has several nodes, which is the second, each rank keeps the others from what it writes,
   whichever of them have the file open. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

static int locks, refusal;

/* The library's calls come here. */
int fcntl(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (command == F_OFD_SETLKW) locks++;
    if (command == F_OFD_SETLKW && refusal) {
        errno = refusal;
        return -1;
    }
    return (int)syscall(SYS_fcntl, file, command, argument);
}

int main(int argc, char **argv) {
    char name[256];
    int seen = -1;
    MPI_File file;
    begin(&argc, &argv);
    int has_several = atoi(argv[2]);
    snprintf(name, sizeof name, "%s/file", argv[1]);
    /* Another rank's node may not have heard of it. */
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    /* It is given back as well. */
    CHECK(locks == (has_several ? 2 : 0));
    refusal = ENOLCK;
    int code = MPI_File_write_at(file, rank * 4, &seen, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == (has_several ? MPI_ERR_IO : MPI_SUCCESS));
    /* Where there are none it is written all the same. */
    refusal = EOPNOTSUPP;
    code = MPI_File_write_at(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(code == MPI_SUCCESS);
    CHECK(MPI_File_read_at(file, rank * 4, &seen, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(seen == rank);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    return end();
}

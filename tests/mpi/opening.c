/* Opening and closing a file: all ranks get one file, or none. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NEW = MPI_MODE_CREATE | MPI_MODE_RDWR };
static char folder[64], name[128];

static int opened(const char *at, int mode, MPI_Info info, MPI_File *file) {
    return class_of(MPI_File_open(MPI_COMM_WORLD, at, mode, info, file));
}

static int deletions;

/* The library's calls come here: the system gives such a lease only where nobody else has the file
   open. */
int unlink(const char *at) {
    int file = open(at, O_RDWR);
    CHECK(file < 0 || fcntl(file, F_SETLEASE, F_WRLCK) == 0 || errno != EAGAIN);
    close(file);
    deletions++;
    return (int)syscall(SYS_unlinkat, AT_FDCWD, at, 0);
}

/* One deletes a file that all have closed. */
static void deleted(void) {
    MPI_File file;
    int before = deletions;
    for (int i = 0; i < 50; i++) {
        CHECK(opened(name, NEW | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file) == MPI_SUCCESS);
        CHECK(MPI_File_close(&file) == MPI_SUCCESS);
        CHECK(access(name, F_OK) != 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(deletions == before + (rank == 0 ? 50 : 0));
}

static void gone(const char *at) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(at);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What is wrong with one rank's arguments all are told, and each next file is the same for all. */
static void one_is_wrong(void) {
    int is_last = rank == size - 1;
    MPI_File file = MPI_FILE_NULL;
    MPI_Info hints, freed;
    MPI_Info_create(&hints);
    freed = hints;
    MPI_Info_free(&hints);
    CHECK(opened(name, NEW, is_last ? freed : MPI_INFO_NULL, &file) == MPI_ERR_INFO);
    CHECK(opened(is_last ? "" : name, NEW, MPI_INFO_NULL, &file) == MPI_ERR_BAD_FILE);
    CHECK(opened(name, is_last ? NEW | MPI_MODE_EXCL : NEW, MPI_INFO_NULL, &file) ==
          (size > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS));
    if (size == 1) MPI_File_close(&file);
    gone(name);
    CHECK(access(name, F_OK) != 0);
    CHECK(opened(name, NEW, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    gone(name);
}

/* What a file that cannot be opened leaves is no file. */
static void none_is_left(void) {
    MPI_File file = MPI_FILE_NULL, old;
    CHECK(opened(name, NEW, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    old = file;
    CHECK(opened("/none/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL);
    file = old;
    CHECK(class_of(MPI_File_open(MPI_COMM_NULL, name, NEW, MPI_INFO_NULL, &file)) == MPI_ERR_COMM);
    CHECK(file == MPI_FILE_NULL);
    CHECK(MPI_File_close(&old) == MPI_SUCCESS);
    gone(name);
}

/* Each rank is in a folder of its own, as nodes have each a file system of their own: a name that
   leads to several files is refused where the file is written, and no rank but 0 makes one. */
static void not_shared(void) {
    char own[128];
    MPI_File file;
    snprintf(own, sizeof own, "%s/%d", folder, rank);
    CHECK(mkdir(own, 0700) == 0 && chdir(own) == 0);
    int expected = size > 1 ? MPI_ERR_NO_SUCH_FILE : MPI_SUCCESS;
    CHECK(opened("file", NEW, MPI_INFO_NULL, &file) == expected);
    if (size == 1) MPI_File_close(&file);
    CHECK((access("file", F_OK) == 0) == (rank == 0));
    fclose(fopen("file", "w"));
    MPI_Barrier(MPI_COMM_WORLD);
    expected = size > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS;
    CHECK(opened("file", NEW, MPI_INFO_NULL, &file) == expected);
    if (size == 1) MPI_File_close(&file);
    CHECK(opened("file", MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == expected);
    if (size == 1) MPI_File_close(&file);
    /* To read, each node may have a copy. */
    CHECK(opened("file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    CHECK(unlink("file") == 0 && chdir(folder) == 0 && rmdir(own) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The type of the file system, which programs write for ROMIO, is no part of the name. */
static void with_a_type(void) {
    char typed[160];
    MPI_File file;
    snprintf(typed, sizeof typed, "ufs:%s", name);
    CHECK(opened(typed, NEW, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(access(name, F_OK) == 0);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    if (rank == 0) CHECK(MPI_File_delete(typed, MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Others have a colon in them. */
    CHECK(opened("of:day", NEW | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(access("of:day", F_OK) == 0);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_folder(folder);
    CHECK(chdir(folder) == 0);
    snprintf(name, sizeof name, "%s/file", folder);
    one_is_wrong();
    none_is_left();
    not_shared();
    with_a_type();
    deleted();
    if (rank == 0) CHECK(rmdir(folder) == 0);
    return end();
}

/* Pipes, which are read and written from front to back: MPI_MODE_SEQUENTIAL. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], name[128];

static MPI_File opened(int mode) {
    MPI_File file;
    mode |= MPI_MODE_SEQUENTIAL;
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    return file;
}

static int count_of(MPI_Status *status) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    return count;
}

/* What ranks write in order comes in order. */
static void written(int pipe) {
    int out[2] = {rank, rank}, in[2];
    MPI_Status status;
    MPI_File file = opened(MPI_MODE_WRONLY);
    CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int turn = 0; turn < 3; turn++) {
        CHECK(MPI_File_write_ordered(file, out, 2, MPI_INT, &status) == MPI_SUCCESS);
        CHECK(count_of(&status) == 2);
    }
    /* One whose arguments are wrong keeps nobody waiting. */
    int is_last = rank == size - 1;
    int code = MPI_File_write_ordered(file, out, is_last ? -1 : 1, MPI_INT, &status);
    CHECK(class_of(code) == (is_last ? MPI_ERR_COUNT : MPI_SUCCESS));
    for (int turn = 0; rank == 0 && turn < 3; turn++) {
        for (int other = 0; other < size; other++) {
            CHECK(read(pipe, in, 8) == 8 && in[0] == other && in[1] == other);
        }
    }
    for (int other = 0; rank == 0 && other < size - 1; other++) {
        CHECK(read(pipe, in, 4) == 4 && in[0] == other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_write_shared(file, out, 1, MPI_INT, &status) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    int sum = 0;
    for (int other = 0; rank == 0 && other < size; other++) {
        CHECK(read(pipe, in, 4) == 4);
        sum += in[0];
    }
    CHECK(rank != 0 || sum == size * (size - 1) / 2);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

/* Each rank reads what is behind what the one before has read; in memory there are gaps. */
static void in_order(int pipe) {
    int in[3] = {-1, -1, -1};
    MPI_Datatype gaps;
    MPI_Status status;
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_File file = opened(MPI_MODE_RDONLY);
    for (int i = 0; rank == 0 && i < 2 * size; i++) CHECK(write(pipe, &i, 4) == 4);
    CHECK(MPI_File_read_ordered(file, in, 1, gaps, &status) == MPI_SUCCESS);
    CHECK(count_of(&status) == 2);
    CHECK(in[0] == 2 * rank && in[1] == -1 && in[2] == 2 * rank + 1);
    CHECK(class_of(MPI_File_read_at(file, 0, in, 1, MPI_INT, &status)) ==
          MPI_ERR_UNSUPPORTED_OPERATION);
    /* What has gaps in the file a pipe cannot have. */
    CHECK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, gaps, "native",
                            MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_read_ordered(file, in, 2, MPI_INT, &status)) ==
          MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
    MPI_Type_free(&gaps);
}

/* There is no more behind the end. */
static void at_the_end(int pipe) {
    int in[2], all = 0, count;
    MPI_Status status;
    MPI_File file = opened(MPI_MODE_RDONLY);
    if (rank == 0) CHECK(write(pipe, &rank, 4) == 4 && close(pipe) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_read_shared(file, in, 2, MPI_INT, &status) == MPI_SUCCESS);
    count = count_of(&status);
    MPI_Allreduce(&count, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 1);
    CHECK(MPI_File_close(&file) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
    int pipe = -1;
    begin(&argc, &argv);
    make_folder(folder);
    snprintf(name, sizeof name, "%s/pipe", folder);
    if (rank == 0) {
        /* Whoever has both ends waits for nobody. */
        CHECK(mkfifo(name, 0600) == 0);
        CHECK((pipe = open(name, O_RDWR)) >= 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    written(pipe);
    in_order(pipe);
    at_the_end(pipe);
    if (rank == 0) CHECK(unlink(name) == 0 && rmdir(folder) == 0);
    return end();
}

/* Collective writes of ranks whose parts of a file are woven into each other: every byte is the one
 * that its rank has written, and what nobody writes stays. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <unistd.h>

enum { LARGE = 9 << 20, SMALL = 1 << 20, SLOTS_MAX = SMALL };

static char folder[64], name[128];
static MPI_File file;
static int file_length;
static int starts[SLOTS_MAX], lengths[SLOTS_MAX], owners[SLOTS_MAX], slots;

static unsigned mixed(unsigned number) {
    number = (number ^ number >> 16) * 0x45d9f3bu;
    number = (number ^ number >> 16) * 0x45d9f3bu;
    return number ^ number >> 16;
}

/* What is at a byte that some rank has written, in a round. */
static char byte_of(int at, int owner, int round) {
    return (char)mixed((unsigned)(at + owner * 77 + round * 777));
}

/* Cuts a file into slots of 1 to `most` bytes; rank `idle` has none, and nobody some. */
static void cut(int length, int most, int idle) {
    slots = 0;
    file_length = length;
    for (int at = 0; at < length; at += lengths[slots++]) {
        starts[slots] = at;
        lengths[slots] = 1 + (int)(mixed((unsigned)at) % (unsigned)most);
        if (at + lengths[slots] > length) lengths[slots] = length - at;
        owners[slots] = (int)(mixed((unsigned)at + 1) % (unsigned)size);
        if (mixed((unsigned)at + 2) % 16 == 0 || owners[slots] == idle) owners[slots] = -1;
    }
}

/* This rank's slots as a view; how many bytes they are. */
static int view_own(void) {
    int *at = malloc(sizeof *at * SLOTS_MAX), *length = malloc(sizeof *length * SLOTS_MAX);
    int count = 0, bytes = 0;
    MPI_Datatype type;
    for (int slot = 0; slot < slots; slot++)
        if (owners[slot] == rank) {
            at[count] = starts[slot], length[count++] = lengths[slot];
            bytes += lengths[slot];
        }
    MPI_Type_indexed(count, length, at, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(file, 0, MPI_CHAR, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&type);
    free(at), free(length);
    return bytes;
}

/* This rank's bytes of a round, each `step` bytes behind the last in memory. */
static char *own_bytes(int bytes, int round, int step) {
    char *all = calloc((size_t)bytes + 1, (size_t)step), *next = all;
    for (int slot = 0; slot < slots; slot++)
        for (int i = 0; owners[slot] == rank && i < lengths[slot]; i++, next += step)
            *next = byte_of(starts[slot] + i, rank, round);
    return all;
}

/* That the file is what all have written; where nobody has, it is as it was. */
static void is_written(int round) {
    char *all = malloc((size_t)file_length);
    MPI_Status status;
    int count;
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, all, file_length, MPI_CHAR, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    CHECK(count == file_length);
    for (int slot = 0; slot < slots; slot++)
        for (int i = 0; i < lengths[slot]; i++) {
            int at = starts[slot] + i;
            CHECK(all[at] == (owners[slot] < 0 ? '.' : byte_of(at, owners[slot], round)));
        }
    free(all);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file all of whose bytes are dots. */
static void new_file(void) {
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 0) {
        char *dots = malloc((size_t)file_length);
        memset(dots, '.', (size_t)file_length);
        MPI_File_write_at(file, 0, dots, file_length, MPI_CHAR, MPI_STATUS_IGNORE);
        free(dots);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void slots_of_all(int length, int most, int idle) {
    int count;
    MPI_Status status;
    MPI_Offset at;
    cut(length, most, idle);
    new_file();
    /* At the pointer, in two parts, the second of two calls. */
    int bytes = view_own(), first = bytes / 3;
    char *own = own_bytes(bytes, 1, 1);
    CHECK(MPI_File_write_all(file, own, first, MPI_CHAR, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_CHAR, &count);
    MPI_File_get_position(file, &at);
    CHECK(count == first && at == first);
    MPI_File_write_all_begin(file, own + first, bytes - first, MPI_CHAR);
    MPI_File_write_all_end(file, own + first, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    MPI_File_get_position(file, &at);
    CHECK(count == bytes - first && at == bytes);
    free(own);
    is_written(1);
    /* At an offset, with gaps in memory. */
    MPI_Datatype gap;
    view_own();
    own = own_bytes(bytes, 2, 2);
    MPI_Type_create_resized(MPI_CHAR, 0, 2, &gap);
    MPI_Type_commit(&gap);
    CHECK(MPI_File_write_at_all(file, 0, own, bytes, gap, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, gap, &count);
    CHECK(count == bytes);
    MPI_Type_free(&gap);
    free(own);
    is_written(2);
    MPI_File_close(&file);
}

/* Where one rank's arguments are wrong it is told so, and nobody waits. */
static void one_is_wrong(void) {
    cut(SMALL, 40, -1);
    new_file();
    int bytes = view_own(), is_wrong = rank == size - 1;
    char *own = own_bytes(bytes, 1, 1);
    MPI_Datatype raw;
    MPI_Type_contiguous(2, MPI_CHAR, &raw);
    struct {
        MPI_Offset at;
        int count;
        MPI_Datatype type;
        int class;
    } wrong[] = {{-1, bytes, MPI_CHAR, MPI_ERR_ARG},
                 {0, -1, MPI_CHAR, MPI_ERR_COUNT},
                 {0, 1, raw, MPI_ERR_TYPE}};
    for (int i = 0; i < 6; i++) {
        int class, code, at = i / 2;
        MPI_Status status;
        if (i % 2 == 0) {
            code = is_wrong ? MPI_File_write_at_all(file, wrong[at].at, own, wrong[at].count,
                                                    wrong[at].type, &status)
                            : MPI_File_write_at_all(file, 0, own, bytes, MPI_CHAR, &status);
        } else {
            code = is_wrong ? MPI_File_write_at_all_begin(file, wrong[at].at, own,
                                                          wrong[at].count, wrong[at].type)
                            : MPI_File_write_at_all_begin(file, 0, own, bytes, MPI_CHAR);
            if (code == MPI_SUCCESS) MPI_File_write_at_all_end(file, own, &status);
        }
        MPI_Error_class(code, &class);
        CHECK(class == wrong[at].class || (!is_wrong && class == MPI_SUCCESS));
    }
    /* In the order of ranks those behind it need to know how much it has. */
    MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
    for (int i = 0; i < 2; i++) {
        int class, code, count = is_wrong ? -1 : 2;
        if (i == 0) {
            code = MPI_File_write_ordered(file, own, count, MPI_CHAR, MPI_STATUS_IGNORE);
        } else {
            code = MPI_File_read_ordered_begin(file, own, count, MPI_CHAR);
            if (code == MPI_SUCCESS) MPI_File_read_ordered_end(file, own, MPI_STATUS_IGNORE);
        }
        MPI_Error_class(code, &class);
        CHECK(class == (is_wrong ? MPI_ERR_COUNT : MPI_SUCCESS));
    }
    MPI_Type_free(&raw);
    free(own);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_folder(folder);
    snprintf(name, sizeof name, "%s/file", folder);
    /* More than ranks have as their shares at a time; short parts; long ones, which each writes
       alone; and a rank that has none. */
    slots_of_all(LARGE, 1500, -1);
    slots_of_all(SMALL, 60000, -1);
    slots_of_all(SMALL, 40, size - 1);
    one_is_wrong();
    if (rank == 0) CHECK(unlink(name) == 0 && rmdir(folder) == 0);
    return end();
}

/* Files: views, every kind of pointer, every form of an access, sizes, modes, errors. */
#define _XOPEN_SOURCE 700
#include "check.h"
#include <unistd.h>

static char folder[64], name[128];
static MPI_File file;

static void open_file(int mode) {
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
}

/* A new, empty file. */
static void new_file(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
    open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
}

static void close_file(void) {
    CHECK(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
}

/* Makes what all ranks have written be seen by all. */
static void settle(void) {
    CHECK(MPI_File_sync(file) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_sync(file) == MPI_SUCCESS);
}

static int count_of(MPI_Status *status, MPI_Datatype datatype) {
    int count;
    MPI_Get_count(status, datatype, &count);
    return count;
}

/* Each rank has its own tenth numbers of the file. */
static void at_offsets(void) {
    int out[10], in[12];
    MPI_Status status;
    MPI_Request request;
    MPI_Offset bytes;
    new_file();
    CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int i = 0; i < 10; i++) out[i] = rank * 100 + i;
    MPI_File_write_at(file, rank * 10, out, 5, MPI_INT, &status);
    CHECK(count_of(&status, MPI_INT) == 5);
    MPI_File_iwrite_at(file, rank * 10 + 5, out + 5, 5, MPI_INT, &request);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status, MPI_INT) == 5);
    settle();
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == size * 40);
    int next = (rank + 1) % size;
    MPI_File_read_at_all(file, next * 10, in, 10, MPI_INT, &status);
    CHECK(count_of(&status, MPI_INT) == 10);
    for (int i = 0; i < 10; i++) CHECK(in[i] == next * 100 + i);
    /* At the file's end there is less, and behind it nothing. */
    MPI_File_read_at(file, size * 10 - 3, in, 12, MPI_INT, &status);
    CHECK(count_of(&status, MPI_INT) == 3 && in[2] == (size - 1) * 100 + 9);
    MPI_File_iread_at(file, size * 10, in, 12, MPI_INT, &request);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status, MPI_INT) == 0);
    close_file();
}

/* Ranks see every size-th pair of numbers; in memory they have gaps. */
static void through_views(void) {
    MPI_Datatype pair, tile, gaps, etype, filetype;
    MPI_Offset at;
    MPI_Status status;
    int out[40], in[40];
    char form[MPI_MAX_DATAREP_STRING];
    enum { PAIRS = 10 };
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, (MPI_Aint)(8 * size), &tile);
    MPI_Type_vector(2 * PAIRS, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&tile);
    MPI_Type_commit(&gaps);
    new_file();
    CHECK(MPI_File_set_view(file, 16 + 8 * rank, pair, tile, "native", MPI_INFO_NULL) ==
          MPI_SUCCESS);
    MPI_File_get_view(file, &at, &etype, &filetype, form);
    CHECK(at == 16 + 8 * rank && strcmp(form, "native") == 0);
    int bytes;
    MPI_Aint lower, extent;
    MPI_Type_size(etype, &bytes);
    MPI_Type_get_extent(filetype, &lower, &extent);
    CHECK(bytes == 8 && extent == 8 * size);
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
    MPI_File_get_byte_offset(file, 3, &at);
    CHECK(at == 16 + 8 * rank + 3 * 8 * size);
    MPI_File_get_type_extent(file, MPI_INT, &extent);
    CHECK(extent == 4);
    for (int i = 0; i < 40; i++) out[i] = rank * 1000 + i;
    MPI_File_write_all(file, out, 1, gaps, &status);
    CHECK(count_of(&status, gaps) == 1 && count_of(&status, MPI_INT) == 2 * PAIRS);
    MPI_File_get_position(file, &at);
    CHECK(at == PAIRS);
    settle();
    /* Back, as one piece and with gaps. */
    MPI_File_seek(file, -4, MPI_SEEK_CUR);
    MPI_File_read(file, in, 4, pair, &status);
    CHECK(count_of(&status, pair) == 4);
    for (int i = 0; i < 8; i++) CHECK(in[i] == rank * 1000 + 2 * (2 * (PAIRS - 4) + i));
    for (int i = 0; i < 40; i++) in[i] = -1;
    MPI_File_read_at_all(file, 0, in, 1, gaps, &status);
    for (int i = 0; i < 40; i++) CHECK(in[i] == (i % 2 ? -1 : rank * 1000 + i));
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &at);
    CHECK(at == PAIRS);
    /* All of it, as it lies in the file. */
    MPI_File_set_view(file, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    int *all = malloc((size_t)size * 2 * PAIRS * 4);
    MPI_File_read_all(file, all, size * 2 * PAIRS, MPI_INT, &status);
    CHECK(count_of(&status, MPI_INT) == size * 2 * PAIRS);
    for (int i = 0; i < size * 2 * PAIRS; i++) {
        int pair_at = i / 2, owner = pair_at % size, turn = pair_at / size;
        CHECK(all[i] == owner * 1000 + 2 * (2 * turn + i % 2));
    }
    free(all);
    close_file();
    MPI_Type_free(&pair);
    MPI_Type_free(&tile);
    MPI_Type_free(&gaps);
}

/* A matrix, each rank its columns; with more data than the library copies at once. */
static void a_matrix(void) {
    enum { ROWS = 600, COLUMNS = 1000 };
    int sizes[2] = {ROWS, COLUMNS * size}, part[2] = {ROWS, COLUMNS};
    int start[2] = {0, COLUMNS * rank};
    MPI_Datatype columns, every_other;
    MPI_Status status;
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &columns);
    MPI_Type_commit(&columns);
    MPI_Type_vector(ROWS * COLUMNS, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    double *own = calloc(2 * ROWS * COLUMNS, sizeof(double));
    for (int i = 0; i < ROWS * COLUMNS; i++) own[2 * i] = rank + i / 7.0;
    new_file();
    MPI_File_set_view(file, 0, MPI_DOUBLE, columns, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, own, 1, every_other, &status);
    CHECK(count_of(&status, MPI_DOUBLE) == ROWS * COLUMNS);
    settle();
    double *back = calloc(2 * ROWS * COLUMNS, sizeof(double));
    MPI_File_read_at_all(file, 0, back, 1, every_other, &status);
    CHECK(count_of(&status, MPI_DOUBLE) == ROWS * COLUMNS);
    CHECK(memcmp(own, back, 2 * ROWS * COLUMNS * sizeof(double)) == 0);
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    int other = (rank + 1) % size;
    for (int row = 0; row < ROWS; row += 97) {
        MPI_Offset at = (MPI_Offset)row * COLUMNS * size + (MPI_Offset)COLUMNS * other;
        MPI_File_read_at(file, at, back, COLUMNS, MPI_DOUBLE, &status);
        for (int i = 0; i < COLUMNS; i++) CHECK(back[i] == other + (row * COLUMNS + i) / 7.0);
    }
    free(own);
    free(back);
    close_file();
    MPI_Type_free(&columns);
    MPI_Type_free(&every_other);
}

/* Where a file is only read, parts of a view may overlap and be woven into each other. */
static void read_of_parts(MPI_Datatype filetype, const int *bytes, int count) {
    char in[64];
    MPI_Status status;
    MPI_Offset at;
    MPI_Type_commit(&filetype);
    MPI_File_set_view(file, 0, MPI_CHAR, filetype, "native", MPI_INFO_NULL);
    MPI_File_read(file, in, count, MPI_CHAR, &status);
    CHECK(count_of(&status, MPI_CHAR) == count);
    for (int i = 0; i < count; i++) CHECK(in[i] == bytes[i]);
    MPI_File_get_position(file, &at);
    CHECK(at == count);
    MPI_Type_free(&filetype);
}

static void parts_that_overlap(void) {
    char out[64];
    MPI_Datatype filetype, column;
    MPI_Status status;
    for (int i = 0; i < 64; i++) out[i] = (char)i;
    new_file();
    if (rank == 0) MPI_File_write(file, out, 64, MPI_CHAR, &status);
    settle();
    close_file();
    open_file(MPI_MODE_RDONLY);
    int lengths[3] = {4, 20, 2}, in_each[26];
    MPI_Aint places[3] = {0, 10, 12};
    for (int part = 0, i = 0; part < 3; part++) {
        for (int byte = 0; byte < lengths[part]; byte++) in_each[i++] = (int)places[part] + byte;
    }
    MPI_Type_create_hindexed(3, lengths, places, MPI_CHAR, &filetype);
    read_of_parts(filetype, in_each, 26);
    int woven[7] = {0, 16, 1, 17, 2, 18, 3};
    MPI_Type_vector(2, 1, 16, MPI_CHAR, &column);
    MPI_Type_create_resized(column, 0, 1, &filetype);
    MPI_Type_free(&column);
    read_of_parts(filetype, woven, 7);
    close_file();
}

/* Nobody gets a place that another got; in order, ranks get theirs. */
static void the_shared_pointer(void) {
    enum { TURNS = 20 };
    int in[2 * TURNS], out[3] = {rank, rank, rank};
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at;
    new_file();
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    for (int turn = 0; turn < TURNS; turn++) {
        int pair[2] = {rank, turn};
        if (turn % 2) {
            MPI_File_write_shared(file, pair, 2, MPI_INT, &status);
        } else {
            MPI_File_iwrite_shared(file, pair, 2, MPI_INT, &request);
            MPI_Wait(&request, &status);
        }
        CHECK(count_of(&status, MPI_INT) == 2);
    }
    settle();
    MPI_File_get_position_shared(file, &at);
    CHECK(at == 2 * TURNS * size);
    int *seen = calloc((size_t)size, sizeof(int));
    for (int i = 0; i < TURNS * size; i++) {
        MPI_File_read_at(file, 2 * i, in, 2, MPI_INT, &status);
        CHECK(in[0] >= 0 && in[0] < size && in[1] == seen[in[0]]);
        seen[in[0]]++;
    }
    free(seen);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 5, MPI_SEEK_SET);
    MPI_File_get_position_shared(file, &at);
    CHECK(at == 5);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Rank r writes r % 3 + 1 numbers. */
    MPI_File_write_ordered(file, out, rank % 3 + 1, MPI_INT, &status);
    CHECK(count_of(&status, MPI_INT) == rank % 3 + 1);
    MPI_File_write_ordered_begin(file, out, 1, MPI_INT);
    MPI_File_write_ordered_end(file, out, &status);
    settle();
    MPI_Offset place = 5;
    for (int other = 0; other < size; other++) {
        MPI_File_read_at(file, place, in, other % 3 + 1, MPI_INT, &status);
        for (int i = 0; i < other % 3 + 1; i++) CHECK(in[i] == other);
        place += other % 3 + 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, place, MPI_SEEK_SET);
    MPI_File_read_ordered(file, in, 1, MPI_INT, &status);
    CHECK(in[0] == rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_shared(file, in, 2, MPI_INT, &status);
    CHECK(count_of(&status, MPI_INT) == 2);
    close_file();
}

/* Rank 0 calls for nothing but this file, and rank 1 needs an answer of it. Coscheduled, ranks
   hear of each other only when they wait. */
static void by_who_only_reads(void) {
    int number = 7, seen = 0;
    MPI_Status status;
    if (getenv("MUSTER_MPI")) return;
    new_file();
    if (size > 1 && rank == 1) MPI_File_write_shared(file, &number, 1, MPI_INT, &status);
    if (size > 1 && rank == 0) {
        while (seen != number) MPI_File_read_at(file, 0, &seen, 1, MPI_INT, &status);
    }
    close_file();
}

/* A call begins, another ends. */
static void in_two_calls(void) {
    int out = rank + 7, in = 0;
    MPI_Status status;
    new_file();
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all_begin(file, rank, &out, 1, MPI_INT);
    MPI_File_write_at_all_end(file, &out, &status);
    CHECK(count_of(&status, MPI_INT) == 1);
    MPI_File_seek(file, size + rank, MPI_SEEK_SET);
    MPI_File_write_all_begin(file, &out, 1, MPI_INT);
    MPI_File_write_all_end(file, &out, &status);
    settle();
    int next = (rank + 1) % size;
    MPI_File_read_at_all_begin(file, next, &in, 1, MPI_INT);
    MPI_File_read_at_all_end(file, &in, &status);
    CHECK(in == next + 7 && count_of(&status, MPI_INT) == 1);
    MPI_File_seek(file, size + next, MPI_SEEK_SET);
    MPI_File_read_all_begin(file, &in, 1, MPI_INT);
    MPI_File_read_all_end(file, &in, &status);
    CHECK(in == next + 7);
    close_file();
}

/* Atomic accesses are seen whole: all bytes of a block are one rank's. */
static void atomically(void) {
    enum { LENGTH = 100000 };
    char *bytes = malloc(LENGTH);
    int flag;
    new_file();
    MPI_File_set_atomicity(file, 1);
    MPI_File_get_atomicity(file, &flag);
    CHECK(flag);
    memset(bytes, 'a' + rank, LENGTH);
    for (int turn = 0; turn < 5; turn++) {
        memset(bytes, 'a' + rank, LENGTH);
        MPI_File_write_at(file, 0, bytes, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, 0, bytes, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE);
        for (int i = 0; i < LENGTH; i++) CHECK(bytes[i] == bytes[0]);
    }
    free(bytes);
    close_file();
}

/* Numbers in the file are the same on all machines. */
static void in_external32(void) {
    int out[2] = {0x01020304, rank}, in[2] = {0, 0};
    unsigned char bytes[4];
    MPI_Status status;
    char form[MPI_MAX_DATAREP_STRING];
    new_file();
    CHECK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL) ==
          MPI_SUCCESS);
    MPI_File_write_at(file, 2 * rank, out, 2, MPI_INT, &status);
    CHECK(count_of(&status, MPI_INT) == 2);
    settle();
    MPI_File_read_at(file, 2 * rank, in, 2, MPI_INT, &status);
    CHECK(in[0] == out[0] && in[1] == rank && count_of(&status, MPI_INT) == 2);
    MPI_Datatype etype, filetype;
    MPI_Offset at;
    MPI_File_get_view(file, &at, &etype, &filetype, form);
    CHECK(strcmp(form, "external32") == 0 && etype == MPI_INT && filetype == MPI_INT);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 8 * rank, bytes, 4, MPI_BYTE, &status);
    CHECK(bytes[0] == 1 && bytes[3] == 4);
    close_file();
}

/* Numbers that are larger in memory than in such a file: each rank sees every size-th of them. */
static void longer_in_memory(void) {
    enum { COUNT = 5 };
    long out[2 * COUNT], in[2 * COUNT + 2], huge = 1L << 40;
    unsigned char bytes[4];
    MPI_Datatype tile, gaps, etype, filetype;
    MPI_Status status;
    MPI_Offset at;
    MPI_Aint extent, lower;
    char form[MPI_MAX_DATAREP_STRING];
    MPI_Type_create_subarray(1, &size, &(int){1}, &rank, MPI_ORDER_C, MPI_LONG, &tile);
    MPI_Type_vector(COUNT, 1, 2, MPI_LONG, &gaps);
    MPI_Type_commit(&tile);
    MPI_Type_commit(&gaps);
    new_file();
    CHECK(MPI_File_set_view(file, 8, MPI_LONG, tile, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_File_get_view(file, &at, &etype, &filetype, form);
    MPI_Type_get_extent(filetype, &lower, &extent);
    CHECK(etype == MPI_LONG && extent == 8 * size);
    MPI_Type_free(&filetype);
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    CHECK(extent == 4);
    for (int i = 0; i < 2 * COUNT; i++) out[i] = -1 - (rank * 100 + i);
    CHECK(MPI_File_write_all(file, out, 1, gaps, &status) == MPI_SUCCESS);
    CHECK(count_of(&status, MPI_LONG) == COUNT && count_of(&status, gaps) == 1);
    MPI_File_get_position(file, &at);
    CHECK(at == COUNT);
    CHECK(class_of(MPI_File_write_at(file, COUNT, &huge, 1, MPI_LONG, &status)) ==
          MPI_ERR_CONVERSION);
    settle();
    MPI_File_get_size(file, &at);
    CHECK(at == 8 + 4 * COUNT * size);
    /* More than there is. */
    for (int i = 0; i < 2 * COUNT + 2; i++) in[i] = 7;
    CHECK(MPI_File_read_at(file, 1, in, 2 * COUNT + 2, MPI_LONG, &status) == MPI_SUCCESS);
    CHECK(count_of(&status, MPI_LONG) == COUNT - 1);
    for (int i = 0; i < 2 * COUNT + 2; i++) CHECK(in[i] == (i < COUNT - 1 ? out[2 * i + 2] : 7));
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 8 + 4 * (size + rank), bytes, 4, MPI_BYTE, &status);
    CHECK(bytes[0] == 255 && (bytes[2] << 8 | bytes[3]) == (out[2] & 0xffff));
    close_file();
    MPI_Type_free(&tile);
    MPI_Type_free(&gaps);
}

/* Sizes, modes, and what a file says of itself. */
static void what_it_is(void) {
    MPI_Offset bytes, at;
    MPI_Group group;
    MPI_Info info;
    MPI_Status status;
    int mode, number;
    char byte = 'x';
    new_file();
    CHECK(MPI_File_set_size(file, 1000) == MPI_SUCCESS);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_preallocate(file, 5000) == MPI_SUCCESS);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_set_size(file, 10) == MPI_SUCCESS);
    MPI_File_get_amode(file, &mode);
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &number);
    CHECK(number == size);
    MPI_Group_free(&group);
    MPI_File_get_info(file, &info);
    CHECK(MPI_Info_get_valuelen(info, "mpi_memory_alloc_kinds", &number, &mode) == MPI_SUCCESS);
    CHECK(mode && number == 10);
    MPI_Info_free(&info);
    close_file();
    /* Behind what is there. */
    open_file(MPI_MODE_WRONLY | MPI_MODE_APPEND);
    MPI_File_get_position(file, &at);
    CHECK(at == 10);
    MPI_File_write_ordered(file, &byte, 1, MPI_BYTE, &status);
    CHECK(class_of(MPI_File_read_at(file, 0, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_ACCESS);
    close_file();
    open_file(MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_get_size(file, &bytes);
    CHECK(bytes == 10 + size);
    CHECK(class_of(MPI_File_write_at(file, 0, &byte, 1, MPI_BYTE, &status)) == MPI_ERR_READ_ONLY);
    close_file();
    CHECK(access(name, F_OK) != 0);
}

/* Mistakes are told by their class, and do not end the program. */
static void mistakes(void) {
    MPI_File none;
    MPI_Status status;
    int number = 0;
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &none)) ==
          MPI_ERR_NO_SUCH_FILE);
    CHECK(class_of(MPI_File_delete(name, MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_RDONLY,
                                 MPI_INFO_NULL, &none)) == MPI_ERR_AMODE);
    new_file();
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, name,
                                 MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL,
                                 &none)) == MPI_ERR_FILE_EXISTS);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL)) ==
          MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(MPI_File_seek(file, -1, MPI_SEEK_SET) != MPI_SUCCESS);
    CHECK(MPI_File_write_at(file, -1, &number, 1, MPI_INT, &status) != MPI_SUCCESS);
    CHECK(MPI_File_write_at(file, 0, &number, -1, MPI_INT, &status) != MPI_SUCCESS);
    close_file();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int tellings;

static void note(MPI_File *at, int *code, ...) {
    (void)code;
    tellings += *at != MPI_FILE_NULL;
}

/* That a file cannot be closed well is told to its own handler, and it is closed. */
static void closing(void) {
    MPI_Errhandler handler;
    MPI_File_create_errhandler(note, &handler);
    new_file();
    MPI_File_set_errhandler(file, handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_File_write_all_begin(file, &rank, 1, MPI_INT) == MPI_SUCCESS);
    MPI_File closed = file;
    CHECK(class_of(MPI_File_close(&file)) == MPI_ERR_FILE);
    CHECK(tellings == 1 && file == MPI_FILE_NULL);
    /* Its handler is gone, so that of no file is asked, which returns, and not the world's. */
    CHECK(class_of(MPI_File_sync(closed)) == MPI_ERR_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All call, and only rank 0 has a part of the file: the others' filetypes have no data. */
static void without_a_part(void) {
    MPI_Datatype part;
    MPI_Status status;
    int numbers[2] = {3, 4}, got[2], zero = 0, two = 2, place = 4;
    MPI_Type_create_hindexed(1, rank ? &zero : &two, (MPI_Aint[]){place}, MPI_INT, &part);
    MPI_Type_commit(&part);
    open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK(MPI_File_set_view(file, 0, MPI_BYTE, part, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_at_all(file, 0, numbers, rank ? 0 : 8, MPI_BYTE, &status) == MPI_SUCCESS);
    CHECK(count_of(&status, MPI_BYTE) == (rank ? 0 : 8));
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    settle();
    MPI_File_read_at_all(file, place, got, 2, MPI_INT, &status);
    CHECK(got[0] == 3 && got[1] == 4);
    close_file();
    MPI_Type_free(&part);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_folder(folder);
    snprintf(name, sizeof name, "%s/file", folder);
    at_offsets();
    through_views();
    a_matrix();
    without_a_part();
    parts_that_overlap();
    the_shared_pointer();
    by_who_only_reads();
    in_two_calls();
    atomically();
    if (!getenv("NO_EXTERNAL32")) {
        in_external32();
        longer_in_memory();
    }
    what_it_is();
    mistakes();
    closing();
    if (rank == 0) CHECK(rmdir(folder) == 0);
    return end();
}

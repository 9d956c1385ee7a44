/* Datatypes: every constructor, what is asked of them, packing, and what statuses say. */
#include "check.h"

#include <limits.h>
#include <stddef.h>

enum { MANY = 256 };

/* Packs one element of a type of ints out of 0, 1, 2, ... from `origin` on, and compares. */
static void expect(MPI_Datatype type, int origin, int length, const int *numbers) {
    int memory[MANY], packed[MANY], again[MANY], bytes, position = 0;
    for (int at = 0; at < MANY; at++) memory[at] = at, again[at] = -1;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    CHECK(bytes == length * (int)sizeof(int));
    MPI_Pack(memory + origin, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    CHECK(position == bytes);
    for (int at = 0; at < length; at++) CHECK(packed[at] == numbers[at]);
    position = 0;
    MPI_Unpack(packed, bytes, &position, again + origin, 1, type, MPI_COMM_SELF);
    CHECK(position == bytes);
    int there = 0;
    for (int at = 0; at < MANY; at++) {
        CHECK(again[at] == at || again[at] == -1);
        there += again[at] == at;
    }
    CHECK(there == length);
}

static void extents(MPI_Datatype type, long lower, long extent, long true_lower, long true_extent) {
    MPI_Aint a, b, c, d;
    MPI_Count e, f;
    MPI_Type_get_extent(type, &a, &b);
    MPI_Type_get_true_extent(type, &c, &d);
    CHECK(a == lower && b == extent && c == true_lower && d == true_extent);
    MPI_Type_get_extent_x(type, &e, &f);
    CHECK(e == lower && f == extent);
    MPI_Type_get_true_extent_x(type, &e, &f);
    CHECK(e == true_lower && f == true_extent);
}

/* What made a type: integers, addresses, and some types, which are all `of` unless it is null. */
static void made(MPI_Datatype type, int combiner, int length, const int *integers, int places,
                 const MPI_Aint *addresses, int parts, MPI_Datatype of) {
    int a, b, c, d, numbers[MANY];
    MPI_Aint bytes[MANY];
    MPI_Datatype types[MANY];
    MPI_Type_get_envelope(type, &a, &b, &c, &d);
    CHECK(a == length && b == places && c == parts && d == combiner);
    MPI_Type_get_contents(type, a, b, c, numbers, bytes, types);
    for (int at = 0; at < a; at++) CHECK(numbers[at] == integers[at]);
    for (int at = 0; at < b; at++) CHECK(bytes[at] == addresses[at]);
    for (int at = 0; at < c; at++) CHECK(of == MPI_DATATYPE_NULL || types[at] == of);
}

static void simple(void) {
    MPI_Datatype type, copy;
    MPI_Type_contiguous(3, MPI_INT, &type);
    expect(type, 5, 3, (int[]){5, 6, 7});
    extents(type, 0, 12, 0, 12);
    made(type, MPI_COMBINER_CONTIGUOUS, 1, (int[]){3}, 0, NULL, 1, MPI_INT);
    MPI_Type_dup(type, &copy);
    expect(copy, 1, 3, (int[]){1, 2, 3});
    int a, b, c, d;
    MPI_Aint address;
    MPI_Datatype inner;
    MPI_Type_get_envelope(copy, &a, &b, &c, &d);
    CHECK(a == 0 && b == 0 && c == 1 && d == MPI_COMBINER_DUP);
    MPI_Type_get_contents(copy, 0, 0, 1, &a, &address, &inner);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
    made(inner, MPI_COMBINER_CONTIGUOUS, 1, (int[]){3}, 0, NULL, 1, MPI_INT);
    MPI_Type_free(&inner);
    expect(copy, 2, 3, (int[]){2, 3, 4});
    MPI_Type_free(&copy);
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    expect(type, 0, 6, (int[]){0, 1, 4, 5, 8, 9});
    extents(type, 0, 40, 0, 40);
    made(type, MPI_COMBINER_VECTOR, 3, (int[]){3, 2, 4}, 0, NULL, 1, MPI_INT);
    MPI_Type_free(&type);
    MPI_Type_vector(3, 1, -2, MPI_INT, &type);
    expect(type, 9, 3, (int[]){9, 7, 5});
    extents(type, -16, 20, -16, 20);
    MPI_Type_free(&type);
    MPI_Type_create_hvector(2, 2, 20, MPI_INT, &type);
    expect(type, 1, 4, (int[]){1, 2, 6, 7});
    made(type, MPI_COMBINER_HVECTOR, 2, (int[]){2, 2}, 1, (MPI_Aint[]){20}, 1, MPI_INT);
    MPI_Type_free(&type);
    MPI_Type_contiguous(0, MPI_INT, &type);
    expect(type, 0, 0, NULL);
    extents(type, 0, 0, 0, 0);
    MPI_Type_free(&type);
}

static void irregular(void) {
    MPI_Datatype type;
    int lengths[] = {2, 0, 1}, places[] = {4, 9, 0};
    MPI_Aint bytes[] = {16, 4, 0};
    MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    expect(type, 3, 3, (int[]){7, 8, 3});
    extents(type, 0, 24, 0, 24);
    made(type, MPI_COMBINER_INDEXED, 7, (int[]){3, 2, 0, 1, 4, 9, 0}, 0, NULL, 1, MPI_INT);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type);
    expect(type, 3, 3, (int[]){7, 8, 3});
    made(type, MPI_COMBINER_HINDEXED, 4, (int[]){3, 2, 0, 1}, 3, bytes, 1, MPI_INT);
    MPI_Type_free(&type);
    MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type);
    expect(type, 0, 6, (int[]){4, 5, 9, 10, 0, 1});
    made(type, MPI_COMBINER_INDEXED_BLOCK, 5, (int[]){3, 2, 4, 9, 0}, 0, NULL, 1, MPI_INT);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed_block(3, 1, bytes, MPI_INT, &type);
    expect(type, 0, 3, (int[]){4, 1, 0});
    made(type, MPI_COMBINER_HINDEXED_BLOCK, 2, (int[]){3, 1}, 3, bytes, 1, MPI_INT);
    MPI_Type_free(&type);
    MPI_Type_create_struct(3, lengths, bytes, (MPI_Datatype[]){MPI_INT, MPI_INT, MPI_INT}, &type);
    expect(type, 3, 3, (int[]){7, 8, 3});
    made(type, MPI_COMBINER_STRUCT, 4, (int[]){3, 2, 0, 1}, 3, bytes, 3, MPI_INT);
    MPI_Type_free(&type);
}

/* A structure of C, as it lies in memory, in an array of them. */
static void structure(void) {
    struct record {
        char letter;
        double number;
        short few[3];
    } out[4], in[4];
    MPI_Datatype type, resized;
    int lengths[] = {1, 1, 3}, size, place = 0;
    MPI_Aint places[] = {offsetof(struct record, letter), offsetof(struct record, number),
                         offsetof(struct record, few)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Type_create_struct(3, lengths, places, types, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 15);
    extents(type, 0, sizeof(struct record), 0, 22);
    MPI_Type_create_resized(type, -8, 40, &resized);
    extents(resized, -8, 40, 0, 22);
    MPI_Type_free(&resized);
    MPI_Type_commit(&type);
    for (int at = 0; at < 4; at++) {
        out[at] = (struct record){(char)('a' + at), at * 1.5, {at, at + 1, at + 2}};
    }
    memset(in, 0, sizeof in);
    char packed[100];
    MPI_Pack_size(4, type, MPI_COMM_SELF, &size);
    CHECK(size >= 60 && size <= 100);
    MPI_Pack(out, 4, type, packed, size, &place, MPI_COMM_SELF);
    CHECK(place == 60);
    place = 0;
    MPI_Unpack(packed, 60, &place, in, 3, type, MPI_COMM_SELF);
    CHECK(place == 45);
    MPI_Unpack(packed, 60, &place, in + 3, 1, type, MPI_COMM_SELF);
    for (int at = 0; at < 4; at++) {
        CHECK(in[at].letter == 'a' + at && in[at].number == at * 1.5 && in[at].few[2] == at + 2);
    }
    MPI_Type_free(&type);
}

static void arrays(void) {
    MPI_Datatype type;
    int sizes[] = {4, 5}, some[] = {2, 3}, from[] = {1, 2};
    MPI_Type_create_subarray(2, sizes, some, from, MPI_ORDER_C, MPI_INT, &type);
    expect(type, 0, 6, (int[]){7, 8, 9, 12, 13, 14});
    extents(type, 0, 80, 28, 32);
    made(type, MPI_COMBINER_SUBARRAY, 8, (int[]){2, 4, 5, 2, 3, 1, 2, MPI_ORDER_C}, 0, NULL, 1,
         MPI_INT);
    MPI_Type_free(&type);
    MPI_Type_create_subarray(2, sizes, some, from, MPI_ORDER_FORTRAN, MPI_INT, &type);
    expect(type, 0, 6, (int[]){9, 10, 13, 14, 17, 18});
    MPI_Type_free(&type);
    int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int how[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[] = {2, 2};
    MPI_Type_create_darray(4, 1, 2, sizes, kinds, how, grid, MPI_ORDER_C, MPI_INT, &type);
    expect(type, 0, 4, (int[]){2, 3, 7, 8});
    extents(type, 0, 80, 8, 28);
    made(type, MPI_COMBINER_DARRAY, 12,
         (int[]){4, 1, 2, 4, 5, kinds[0], kinds[1], how[0], 2, 2, 2, MPI_ORDER_C}, 0, NULL, 1,
         MPI_INT);
    MPI_Type_free(&type);
    /* All processes together have all, once. */
    int seen[20] = {0}, memory[20], packed[20];
    for (int at = 0; at < 20; at++) memory[at] = at;
    for (int process = 0; process < 4; process++) {
        int bytes, place = 0;
        MPI_Type_create_darray(4, process, 2, sizes, kinds, how, grid, MPI_ORDER_FORTRAN, MPI_INT,
                               &type);
        MPI_Type_commit(&type);
        MPI_Type_size(type, &bytes);
        MPI_Pack(memory, 1, type, packed, sizeof packed, &place, MPI_COMM_SELF);
        for (int at = 0; at < bytes / 4; at++) seen[packed[at]]++;
        MPI_Type_free(&type);
    }
    for (int at = 0; at < 20; at++) CHECK(seen[at] == 1);
}

/* Types of types. */
static void nested(void) {
    MPI_Datatype column, narrow, matrix;
    MPI_Type_vector(3, 1, 4, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    made(narrow, MPI_COMBINER_RESIZED, 0, NULL, 2, (MPI_Aint[]){0, 4}, 1,
         MPI_DATATYPE_NULL);
    MPI_Type_contiguous(4, narrow, &matrix);
    MPI_Type_free(&column);
    MPI_Type_free(&narrow);
    expect(matrix, 0, 12, (int[]){0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    extents(matrix, 0, 16, 0, 48);
    MPI_Type_free(&matrix);
}

static void predefined(void) {
    struct { MPI_Datatype type; const char *name; int size; } all[] = {
        {MPI_CHAR, "MPI_CHAR", 1}, {MPI_INT, "MPI_INT", 4}, {MPI_LONG, "MPI_LONG", 8},
        {MPI_DOUBLE, "MPI_DOUBLE", 8}, {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", 16},
        {MPI_BYTE, "MPI_BYTE", 1}, {MPI_INT64_T, "MPI_INT64_T", 8}, {MPI_AINT, "MPI_AINT", 8},
        {MPI_2INT, "MPI_2INT", 8}, {MPI_SHORT_INT, "MPI_SHORT_INT", 6},
        {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", 12}, {MPI_PACKED, "MPI_PACKED", 1}};
    for (size_t at = 0; at < sizeof all / sizeof *all; at++) {
        char name[MPI_MAX_OBJECT_NAME];
        int length, size, a, b, c, combiner;
        MPI_Type_get_name(all[at].type, name, &length);
        CHECK(strcmp(name, all[at].name) == 0 && length == (int)strlen(name));
        MPI_Type_size(all[at].type, &size);
        CHECK(size == all[at].size);
        MPI_Type_get_envelope(all[at].type, &a, &b, &c, &combiner);
        CHECK(a == 0 && b == 0 && c == 0 && combiner == MPI_COMBINER_NAMED);
    }
    extents(MPI_SHORT_INT, 0, 8, 0, 8);
    extents(MPI_DOUBLE_INT, 0, 16, 0, 12);
    MPI_Datatype type, again;
    char name[MPI_MAX_OBJECT_NAME];
    int length, a, b, c, combiner;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_get_name(type, name, &length);
    CHECK(length == 0 && name[0] == 0);
    MPI_Type_set_name(type, "two of them");
    MPI_Type_get_name(type, name, &length);
    CHECK(strcmp(name, "two of them") == 0 && length == 11);
    MPI_Type_free(&type);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_size(type, &a);
    CHECK(a == 8);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type);
    MPI_Type_size(type, &a);
    CHECK(a == 4);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &again);
    double one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size);
    CHECK(type == again);
    MPI_Type_get_envelope(type, &a, &b, &c, &combiner);
    CHECK(a == 2 && b == 0 && c == 0 && combiner == MPI_COMBINER_F90_REAL);
    int integers[2];
    MPI_Type_get_contents(type, 2, 0, 0, integers, NULL, NULL);
    CHECK(integers[0] == 15 && integers[1] == MPI_UNDEFINED);
    MPI_Type_size(type, &a);
    CHECK(a == 8);
    MPI_Type_create_f90_integer(9, &type);
    MPI_Type_get_envelope(type, &a, &b, &c, &combiner);
    MPI_Type_size(type, &length);
    CHECK(a == 1 && length == 4 && combiner == MPI_COMBINER_F90_INTEGER);
    MPI_Type_create_f90_complex(6, 30, &type);
    MPI_Type_get_envelope(type, &a, &b, &c, &combiner);
    MPI_Type_size(type, &length);
    CHECK(a == 2 && length == 8 && combiner == MPI_COMBINER_F90_COMPLEX);
}

/* How much of a message there is, in types of which it is a part. */
static void statuses(void) {
    MPI_Datatype pair;
    MPI_Status status;
    MPI_Count large;
    MPI_Request request;
    int number, flag, data[3] = {1, 2, 3}, in[8];
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 8};
    MPI_Type_create_struct(2, lengths, places, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &pair);
    MPI_Type_commit(&pair);
    memset(&status, 0, sizeof status);
    for (int elements = 0; elements < 7; elements++) {
        MPI_Status_set_elements(&status, pair, elements);
        MPI_Get_elements(&status, pair, &number);
        CHECK(number == elements);
        MPI_Get_elements_x(&status, pair, &large);
        CHECK(large == elements);
        MPI_Get_count(&status, pair, &number);
        CHECK(number == (elements % 2 == 0 ? elements / 2 : MPI_UNDEFINED));
    }
    MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)3 << 31);
    MPI_Get_elements_x(&status, MPI_BYTE, &large);
    CHECK(large == (MPI_Count)3 << 31);
    MPI_Get_count(&status, MPI_BYTE, &number);
    CHECK(number == MPI_UNDEFINED);
    MPI_Get_count(&status, MPI_INT, &number);
    CHECK(number == 3 << 29);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    MPI_Irecv(in, 4, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Send(data, 3, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &number);
    CHECK(number == 3);
    MPI_Get_count(&status, MPI_DOUBLE, &number);
    CHECK(number == MPI_UNDEFINED);
    MPI_Get_elements(&status, pair, &number);
    CHECK(number == 2);
    MPI_Type_free(&pair);
#if MPI_VERSION >= 5
    MPI_Status_set_source(&status, 7);
    MPI_Status_set_tag(&status, 8);
    MPI_Status_set_error(&status, MPI_ERR_TAG);
    MPI_Status_get_source(&status, &number);
    CHECK(number == 7 && status.MPI_SOURCE == 7);
    MPI_Status_get_tag(&status, &number);
    CHECK(number == 8 && status.MPI_TAG == 8);
    MPI_Status_get_error(&status, &number);
    CHECK(number == MPI_ERR_TAG && status.MPI_ERROR == MPI_ERR_TAG);
#endif
}

/* What other machines understand: big-endian, without gaps. */
static void external(void) {
    struct { int number; double value; short few[2]; } out = {-2, 1.5, {258, -1}}, in;
    const unsigned char expected[] = {0xff, 0xff, 0xff, 0xfe, 0x3f, 0xf8, 0, 0, 0, 0,
                                      0,    0,    1,    2,    0xff, 0xff};
    unsigned char bytes[40];
    MPI_Aint size, place = 0, places[3];
    int lengths[] = {1, 1, 2};
    MPI_Datatype type;
    MPI_Get_address(&out.number, &places[0]);
    MPI_Get_address(&out.value, &places[1]);
    MPI_Get_address(&out.few, &places[2]);
    for (int at = 2; at >= 0; at--) places[at] = MPI_Aint_diff(places[at], places[0]);
    MPI_Type_create_struct(3, lengths, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_SHORT},
                           &type);
    MPI_Type_commit(&type);
    MPI_Pack_external_size("external32", 2, type, &size);
    CHECK(size == 32);
    MPI_Pack_external("external32", &out, 1, type, bytes, sizeof bytes, &place);
    CHECK(place == 16 && memcmp(bytes, expected, 16) == 0);
    place = 0;
    memset(&in, 0, sizeof in);
    MPI_Unpack_external("external32", bytes, 16, &place, &in, 1, type);
    CHECK(place == 16 && in.number == -2 && in.value == 1.5);
    CHECK(in.few[0] == 258 && in.few[1] == -1);
    MPI_Type_free(&type);
}

/* A type lives as long as something uses it. */
static void freed_early(void) {
    int next = (rank + 1) % size, last = (rank + size - 1) % size, out[10], in[10];
    MPI_Datatype type;
    MPI_Request requests[2];
    for (int at = 0; at < 10; at++) out[at] = rank * 100 + at, in[at] = -1;
    MPI_Type_vector(5, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(in, 1, type, last, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, type, next, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < 10; at++) CHECK(in[at] == (at % 2 == 0 ? last * 100 + at : -1));
}

#if MPI_VERSION >= 4
/* Calls with large counts: types of more data than 32 bits count. */
static void large(void) {
    MPI_Datatype type, wide;
    MPI_Count size, lower, extent, a, b, c, d, counts[4];
    MPI_Count sizes[] = {(MPI_Count)1 << 20, (MPI_Count)1 << 20}, some[] = {2, 3}, from[] = {0, 1};
    MPI_Aint address;
    MPI_Datatype of;
    int combiner, small, integer;
    MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_INT, &type);
    MPI_Type_size_c(type, &size);
    CHECK(size == (MPI_Count)1 << 35);
    MPI_Type_size_x(type, &size);
    CHECK(size == (MPI_Count)1 << 35);
    MPI_Type_size(type, &small);
    CHECK(small == MPI_UNDEFINED);
    MPI_Type_get_envelope_c(type, &a, &b, &c, &d, &combiner);
    CHECK(a == 0 && b == 0 && c == 1 && d == 1 && combiner == MPI_COMBINER_CONTIGUOUS);
    MPI_Type_get_contents_c(type, 0, 0, 1, 1, &integer, &address, counts, &of);
    CHECK(counts[0] == (MPI_Count)1 << 33 && of == MPI_INT);
    MPI_Type_vector_c(2, 1, 1 << 20, type, &wide);
    MPI_Type_free(&type);
    MPI_Type_free(&wide);
    MPI_Type_vector_c(2, 2, 3, MPI_INT, &type);
    MPI_Type_get_envelope_c(type, &a, &b, &c, &d, &combiner);
    CHECK(a == 0 && b == 0 && c == 3 && d == 1 && combiner == MPI_COMBINER_VECTOR);
    expect(type, 0, 4, (int[]){0, 1, 3, 4});
    MPI_Type_free(&type);
    MPI_Type_create_hvector_c(2, 1, 12, MPI_INT, &type);
    MPI_Type_get_envelope_c(type, &a, &b, &c, &d, &combiner);
    CHECK(a == 0 && b == 0 && c == 3 && d == 1 && combiner == MPI_COMBINER_HVECTOR);
    expect(type, 0, 2, (int[]){0, 3});
    MPI_Type_free(&type);
    MPI_Type_indexed_c(2, (MPI_Count[]){1, 2}, (MPI_Count[]){5, 0}, MPI_INT, &type);
    expect(type, 0, 3, (int[]){5, 0, 1});
    MPI_Type_free(&type);
    MPI_Type_create_hindexed_c(2, (MPI_Count[]){1, 2}, (MPI_Count[]){20, 0}, MPI_INT, &type);
    expect(type, 0, 3, (int[]){5, 0, 1});
    MPI_Type_free(&type);
    MPI_Type_create_indexed_block_c(2, 2, (MPI_Count[]){5, 0}, MPI_INT, &type);
    expect(type, 0, 4, (int[]){5, 6, 0, 1});
    MPI_Type_free(&type);
    MPI_Type_create_hindexed_block_c(2, 2, (MPI_Count[]){20, 0}, MPI_INT, &type);
    expect(type, 0, 4, (int[]){5, 6, 0, 1});
    MPI_Type_free(&type);
    MPI_Type_create_struct_c(2, (MPI_Count[]){1, 2}, (MPI_Count[]){20, 0},
                             (MPI_Datatype[]){MPI_INT, MPI_INT}, &type);
    expect(type, 0, 3, (int[]){5, 0, 1});
    MPI_Type_free(&type);
    MPI_Type_create_resized_c(MPI_INT, -4, (MPI_Count)1 << 40, &type);
    MPI_Type_get_extent_c(type, &lower, &extent);
    CHECK(lower == -4 && extent == (MPI_Count)1 << 40);
    MPI_Type_get_true_extent_c(type, &lower, &extent);
    CHECK(lower == 0 && extent == 4);
    MPI_Type_free(&type);
    MPI_Type_create_subarray_c(2, sizes, some, from, MPI_ORDER_C, MPI_BYTE, &type);
    MPI_Type_get_extent_c(type, &lower, &extent);
    CHECK(extent == (MPI_Count)1 << 40);
    MPI_Type_free(&type);
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements_x(&status, MPI_INT, (MPI_Count)1 << 33);
    MPI_Get_count_c(&status, MPI_INT, &size);
    CHECK(size == (MPI_Count)1 << 33);
    MPI_Get_elements_c(&status, MPI_SHORT, &size);
    CHECK(size == (MPI_Count)1 << 34);
    int numbers[] = {1, 2, 3}, packed[3], again[3];
    MPI_Pack_size_c(3, MPI_INT, MPI_COMM_SELF, &size);
    CHECK(size >= 12);
    size = 0;
    MPI_Pack_c(numbers, 3, MPI_INT, packed, 12, &size, MPI_COMM_SELF);
    CHECK(size == 12);
    size = 4;
    MPI_Unpack_c(packed, 12, &size, again, 2, MPI_INT, MPI_COMM_SELF);
    CHECK(size == 12 && again[0] == 2 && again[1] == 3);
}
#endif

/* What is wrong has the class that the standard says. */
static void wrong(void) {
    if (MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) != MPI_SUCCESS) return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype type = MPI_INT, none = MPI_DATATYPE_NULL;
    int number = 0;
    FAILS(MPI_Type_free(&type), MPI_ERR_TYPE);
    CHECK(type == MPI_INT);
    FAILS(MPI_Type_commit(&none), MPI_ERR_TYPE);
    FAILS(MPI_Type_size(none, &number), MPI_ERR_TYPE);
    FAILS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
    FAILS(MPI_Type_contiguous(1, none, &type), MPI_ERR_TYPE);
    MPI_Type_contiguous(2, MPI_INT, &type);
    int data[4] = {0}, packed[2], place = 0;
    FAILS(MPI_Send(data, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    MPI_Type_free(&type);
    place = 0;
    CHECK(MPI_Pack(data, 4, MPI_INT, packed, 8, &place, MPI_COMM_SELF) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    simple();
    irregular();
    structure();
    arrays();
    nested();
    predefined();
    statuses();
    external();
    freed_early();
#if MPI_VERSION >= 4
    large();
#endif
    wrong();
    return end();
}

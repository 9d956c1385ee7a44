/* Groups, and communicators that are made of them, of colours and of each other. */
#include "check.h"

static int members(MPI_Group group) {
    int number;
    MPI_Group_size(group, &number);
    return number;
}

/* A group has these ranks of the world, in this order. */
static void expect(MPI_Group group, int number, const int *ranks) {
    MPI_Group world;
    int *own = malloc(sizeof(int) * (size_t)(number + 1));
    int *there = malloc(sizeof(int) * (size_t)(number + 1));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK(members(group) == number);
    for (int at = 0; at < number; at++) own[at] = at;
    own[number] = MPI_PROC_NULL;
    MPI_Group_translate_ranks(group, number + 1, own, world, there);
    for (int at = 0; at < number; at++) CHECK(there[at] == ranks[at]);
    CHECK(there[number] == MPI_PROC_NULL);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
    free(own);
    free(there);
}

/* The sum of all ranks in the world around a ring of a communicator: messages stay in it. */
static int around(MPI_Comm comm) {
    int me, number, sum = 0, passed = rank;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &number);
    for (int turn = 0; turn < number; turn++) {
        sum += passed;
        MPI_Sendrecv_replace(&passed, 1, MPI_INT, (me + 1) % number, 4, (me + number - 1) % number,
                             4, comm, MPI_STATUS_IGNORE);
    }
    CHECK(passed == rank);
    return sum;
}

static void groups(void) {
    MPI_Group world, even, odd, back, all, none, some;
    int ranges[1][3] = {{0, size - 1, 2}}, reverse[1][3] = {{size - 1, 0, -1}}, result, me;
    int *list = malloc(sizeof(int) * (size_t)size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_rank(world, &me);
    CHECK(me == rank && members(world) == size);
    MPI_Group_range_incl(world, 1, ranges, &even);
    MPI_Group_range_excl(world, 1, ranges, &odd);
    MPI_Group_range_incl(world, 1, reverse, &back);
    for (int at = 0; at < size; at++) list[at] = size - 1 - at;
    expect(back, size, list);
    MPI_Group_compare(world, back, &result);
    CHECK(result == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
    for (int at = 0; 2 * at < size; at++) list[at] = 2 * at;
    expect(even, (size + 1) / 2, list);
    MPI_Group_rank(even, &me);
    CHECK(me == (rank % 2 == 0 ? rank / 2 : MPI_UNDEFINED));
    MPI_Group_incl(world, (size + 1) / 2, list, &some);
    MPI_Group_compare(some, even, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&some);
    MPI_Group_excl(world, (size + 1) / 2, list, &some);
    MPI_Group_compare(some, odd, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&some);
    MPI_Group_union(odd, even, &all);
    MPI_Group_compare(all, world, &result);
    CHECK(result == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
    MPI_Group_intersection(odd, even, &none);
    CHECK(members(none) == 0);
    MPI_Group_compare(none, MPI_GROUP_EMPTY, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_difference(back, odd, &some);
    for (int at = 0; 2 * at < size; at++) list[at] = (size - 1) / 2 * 2 - 2 * at;
    expect(some, (size + 1) / 2, list);
    MPI_Group_compare(some, world, &result);
    CHECK(result == (size == 1 ? MPI_IDENT : MPI_UNEQUAL));
    if (size > 1) {
        int one = 1, there;
        MPI_Group_translate_ranks(world, 1, &one, even, &there);
        CHECK(there == MPI_UNDEFINED);
    }
    MPI_Group_free(&none);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Group_free(&back);
    MPI_Group_free(&odd);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
    free(list);
}

/* Communicators of groups: one after the other, at once, and by their members only. */
static void of_groups(void) {
    MPI_Group world, even, odd;
    MPI_Comm comm, other;
    int ranges[1][3] = {{0, size - 1, 2}}, me, number, sum = 0, flag;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, ranges, &even);
    MPI_Group_range_excl(world, 1, ranges, &odd);
    MPI_Comm_create(MPI_COMM_WORLD, even, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank % 2 == 1));
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &me);
        CHECK(me == rank / 2);
        MPI_Comm_free(&comm);
    }
    for (int at = rank % 2; at < size; at += 2) sum += at;
    MPI_Comm_create(MPI_COMM_WORLD, rank % 2 == 0 ? even : odd, &comm);
    CHECK(around(comm) == sum);
    MPI_Comm_create_group(MPI_COMM_WORLD, rank % 2 == 0 ? even : odd, 5, &other);
    CHECK(around(other) == sum);
    MPI_Comm_compare(comm, other, &flag);
    CHECK(flag == MPI_CONGRUENT);
    MPI_Comm_free(&other);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 5, &other);
        CHECK(around(other) == sum);
        MPI_Comm_free(&other);
    }
    MPI_Comm_size(comm, &number);
    CHECK(number == members(rank % 2 == 0 ? even : odd));
    MPI_Comm_free(&comm);
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Group_free(&odd);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

/* Two communicators of the same ranks do not hear each other. */
static void copies(void) {
    MPI_Comm copy, late;
    MPI_Request request;
    int next = (rank + 1) % size, last = (rank + size - 1) % size, result, one = 1, two = 2, in;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_idup(copy, &late, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(copy, late, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Request requests[2];
    MPI_Isend(&one, 1, MPI_INT, next, 0, copy, &requests[0]);
    MPI_Isend(&two, 1, MPI_INT, next, 0, late, &requests[1]);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, late, MPI_STATUS_IGNORE);
    CHECK(in == 2);
    MPI_Recv(&in, 1, MPI_INT, last, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
    CHECK(in == 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&late);
}

static void splits(void) {
    MPI_Comm part;
    int me, number, sum = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &part);
    MPI_Comm_rank(part, &me);
    MPI_Comm_size(part, &number);
    for (int at = rank % 3; at < size; at += 3) sum += at;
    CHECK(around(part) == sum && number == (size - rank % 3 + 2) / 3);
    CHECK(me == number - 1 - rank / 3);
    MPI_Comm_free(&part);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &part);
    CHECK((part == MPI_COMM_NULL) == (rank == 0));
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &part);
    MPI_Comm_size(part, &number);
    CHECK(number >= 1 && number <= size);
    MPI_Comm_free(&part);
#if MPI_VERSION >= 4
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &number);
        CHECK(number < size || size == 1);
        MPI_Comm_free(&part);
    }
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, info, &part);
    if (part != MPI_COMM_NULL) {
        CHECK(around(part) >= rank);
        MPI_Comm_free(&part);
    }
    MPI_Info_set(info, "mpi_hw_resource_type", "nobody has heard of this");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, info, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_free(&info);
#endif
}

/* Every rank of the other group hears from us who we are. */
static void across(MPI_Comm inter) {
    int own, other, me;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_size(inter, &own);
    MPI_Comm_remote_size(inter, &other);
    MPI_Group group, world;
    MPI_Comm_remote_group(inter, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK(members(group) == other);
    MPI_Request *requests = malloc(sizeof(MPI_Request) * (size_t)other);
    for (int to = 0; to < other; to++) {
        MPI_Isend(&rank, 1, MPI_INT, to, 6, inter, &requests[to]);
    }
    for (int from = 0; from < other; from++) {
        int in, there;
        MPI_Status status;
        MPI_Recv(&in, 1, MPI_INT, from, 6, inter, &status);
        MPI_Group_translate_ranks(group, 1, &from, world, &there);
        CHECK(in == there && status.MPI_SOURCE == from);
    }
    MPI_Waitall(other, requests, MPI_STATUSES_IGNORE);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    free(requests);
}

/* The even ranks and the odd ones. */
static void inter(void) {
    if (size < 2) return;
    MPI_Comm half, between, copy, merged, part;
    int flag, me, number, high = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, high, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - high, 9, &between);
    MPI_Comm_test_inter(between, &flag);
    CHECK(flag);
    MPI_Comm_remote_size(between, &number);
    CHECK(number == (size + high) / 2);
    across(between);
    MPI_Comm_dup(between, &copy);
    MPI_Comm_compare(between, copy, &flag);
    CHECK(flag == MPI_CONGRUENT);
    across(copy);
    MPI_Comm_free(&copy);
    MPI_Intercomm_merge(between, high, &merged);
    MPI_Comm_rank(merged, &me);
    CHECK(me == (high ? (size + 1) / 2 : 0) + rank / 2);
    CHECK(around(merged) == size * (size - 1) / 2);
    MPI_Comm_free(&merged);
    MPI_Intercomm_merge(between, !high, &merged);
    MPI_Comm_rank(merged, &me);
    CHECK(me == (high ? 0 : size / 2) + rank / 2);
    MPI_Comm_free(&merged);
    MPI_Intercomm_merge(between, 0, &merged);
    MPI_Comm_size(merged, &number);
    CHECK(number == size);
    MPI_Comm_free(&merged);
    MPI_Comm_split(between, 0, -rank, &part);
    MPI_Comm_remote_size(part, &number);
    CHECK(number == (size + high) / 2);
    across(part);
    MPI_Comm_free(&part);
    MPI_Comm_split(between, rank < 2 ? 1 : MPI_UNDEFINED, 0, &part);
    CHECK((part == MPI_COMM_NULL) == (rank >= 2));
    if (part != MPI_COMM_NULL) {
        across(part);
        MPI_Comm_free(&part);
    }
    MPI_Group group, first;
    int zero = 0;
    MPI_Comm_group(between, &group);
    MPI_Group_incl(group, 1, &zero, &first);
    MPI_Comm_create(between, first, &part);
    CHECK((part == MPI_COMM_NULL) == (rank >= 2));
    if (part != MPI_COMM_NULL) {
        across(part);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&group);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

#if MPI_VERSION >= 4
static void of_names(void) {
    MPI_Group world, even, odd;
    MPI_Comm comm;
    int ranges[1][3] = {{0, size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_create_from_group(world, "all of us", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    CHECK(around(comm) == size * (size - 1) / 2);
    MPI_Comm_free(&comm);
    if (size > 1) {
        MPI_Group_range_incl(world, 1, ranges, &even);
        MPI_Group_range_excl(world, 1, ranges, &odd);
        /* Only leaders say who the other group is. */
        MPI_Group own = rank % 2 == 0 ? even : odd, other = rank % 2 == 0 ? odd : even;
        for (int turn = 0; turn < 2; turn++) {
            int leader = rank % 2 == 0 ? (size - 1) / 2 : 0;
            int remote = rank % 2 == 0 ? 0 : (size - 1) / 2;
            int leads = rank / 2 == leader;
            MPI_Intercomm_create_from_groups(own, leader, leads ? other : MPI_GROUP_NULL,
                                             leads ? remote : -5, "two halves", MPI_INFO_NULL,
                                             MPI_ERRORS_ARE_FATAL, &comm);
            across(comm);
            MPI_Comm_free(&comm);
        }
        /* What the leader has said wrongly all of its group are told, and nobody waits. */
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        CHECK(MPI_Intercomm_create_from_groups(own, 0, other, size, "nobody", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &comm) == MPI_ERR_RANK);
        CHECK(MPI_Intercomm_create_from_groups(own, 0, own, 0, "ourselves", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &comm) == MPI_ERR_COMM);
        CHECK(MPI_Intercomm_create_from_groups(own, 0, MPI_GROUP_NULL, 0, "none", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &comm) == MPI_ERR_GROUP);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        MPI_Group_free(&even);
        MPI_Group_free(&odd);
    }
    /* Groups without members make none, and one rank may say so by itself. */
    if (rank == 0) {
        comm = MPI_COMM_WORLD;
        MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &comm);
        CHECK(comm == MPI_COMM_NULL);
        comm = MPI_COMM_WORLD;
        MPI_Intercomm_create_from_groups(world, 0, MPI_GROUP_EMPTY, 0, "nobody", MPI_INFO_NULL,
                                         MPI_ERRORS_ARE_FATAL, &comm);
        CHECK(comm == MPI_COMM_NULL);
        comm = MPI_COMM_WORLD;
        MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, world, 0, "nobody", MPI_INFO_NULL,
                                         MPI_ERRORS_ARE_FATAL, &comm);
        CHECK(comm == MPI_COMM_NULL);
    }
    MPI_Group_free(&world);
}
#endif

#if MPI_VERSION >= 4
static int refuses(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    return *(int *)value ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* A callback's error goes to the handler of the communicator that was to be freed, which is there
   still. A copy has no hints of what it is a copy of. */
static void of_own_handlers(void) {
    MPI_Comm comm, copy;
    MPI_Info hints, has;
    int key, is_kept = 1, is_there;
    char value[8];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuses, &key, NULL);
    MPI_Comm_set_attr(comm, key, &is_kept);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm same = comm;
    CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS);
    CHECK(comm == same);
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "mpi_assert_no_any_tag", "true");
    MPI_Comm_set_info(comm, hints);
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_get_info(copy, &has);
    MPI_Info_get(has, "mpi_assert_no_any_tag", 7, value, &is_there);
    CHECK(is_there && !strcmp(value, "false"));
    MPI_Info_free(&has);
    MPI_Comm_free(&copy);
    MPI_Comm_dup_with_info(comm, hints, &copy);
    MPI_Comm_get_info(copy, &has);
    MPI_Info_get(has, "mpi_assert_no_any_tag", 7, value, &is_there);
    CHECK(is_there && !strcmp(value, "true"));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Info_get(has, "mpi_assert_no_any_tag", -1, value, &is_there) == MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&has);
    MPI_Info_free(&hints);
    MPI_Comm_free(&copy);
    is_kept = 0;
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}
#endif

/* What is wrong has the class that the standard says. */
static void wrong(void) {
    if (MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) != MPI_SUCCESS) return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Group world, none = MPI_GROUP_NULL, new;
    MPI_Comm comm;
    int number, twice[] = {0, 0}, range[1][3] = {{0, 0, 0}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    FAILS(MPI_Group_size(none, &number), MPI_ERR_GROUP);
    FAILS(MPI_Group_free(&none), MPI_ERR_GROUP);
    FAILS(MPI_Group_incl(world, 1, &size, &new), MPI_ERR_RANK);
    FAILS(MPI_Group_incl(world, 2, twice, &new), MPI_ERR_RANK);
    FAILS(MPI_Group_range_incl(world, 1, range, &new), MPI_ERR_ARG);
    FAILS(MPI_Comm_remote_size(MPI_COMM_WORLD, &number), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_merge(MPI_COMM_SELF, 0, &comm), MPI_ERR_COMM);
    FAILS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP);
    MPI_Group_free(&world);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    groups();
    of_groups();
    copies();
    splits();
    inter();
#if MPI_VERSION >= 4
    of_names();
    of_own_handlers();
#endif
    wrong();
    return end();
}

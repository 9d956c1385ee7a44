/*
 * Which cells are whose, and memory for them.
 *
 * NPE_I x NPE_J ranks, numbered with I fastest, cut the grid in I and J; each holds all of K. What
 * does not divide goes to the lowest ranks, a cell each. A rank with S6 and P1 holds 9 doubles for
 * each cell, and 3 more if the deck asks for currents (IDSA).
 */
#include "sweep3d.h"

#include <mpi.h>
#include <stdlib.h>

/* Cuts CELLS among COUNT ranks: how many the one at AT has, and how many are before it. */
static int share(int cells, int count, int at, int *before)
{
    int each = cells / count, more = cells % count;
    *before = at * each + (at < more ? at : more);
    return each + (at < more ? 1 : 0);
}

void part_of(const struct deck *deck, int rank, struct part *part)
{
    int wide = deck->npe_i, at_i = rank % wide, at_j = rank / wide;
    part->rank = rank;
    part->it = share(deck->it_g, wide, at_i, &part->first_i);
    part->jt = share(deck->jt_g, deck->npe_j, at_j, &part->first_j);
    part->kt = deck->kt;
    part->low_i = at_i > 0 ? rank - 1 : MPI_PROC_NULL;
    part->high_i = at_i < wide - 1 ? rank + 1 : MPI_PROC_NULL;
    part->low_j = at_j > 0 ? rank - wide : MPI_PROC_NULL;
    part->high_j = at_j < deck->npe_j - 1 ? rank + wide : MPI_PROC_NULL;
}

/* Room for COUNT zeroed doubles; *GOOD becomes false if there is none. */
static double *room(size_t count, bool *good)
{
    double *room = calloc(count, sizeof *room);
    *good = *good && room != NULL;
    return room;
}

static void allocate_fields(struct problem *problem, bool *good)
{
    const struct part *part = &problem->part;
    struct fields *fields = &problem->fields;
    size_t it = (size_t)part->it, jt = (size_t)part->jt, kt = (size_t)part->kt;
    fields->cells = it * jt * kt;
    fields->moments = problem->deck.isct == 1 ? MAX_MOMENTS : 1;
    for (int n = 0; n < fields->moments; n++) {
        fields->source[n] = room(fields->cells, good);
        fields->flux[n] = room(fields->cells, good);
    }
    fields->before = room(fields->cells, good);
    if (problem->deck.idsa) {
        fields->current[0] = room((it + 1) * jt * kt, good);
        fields->current[1] = room(it * (jt + 1) * kt, good);
        fields->current[2] = room(it * jt * (kt + 1), good);
    }
}

static void allocate_faces(struct problem *problem, bool *good)
{
    const struct part *part = &problem->part;
    const struct deck *deck = &problem->deck;
    struct faces *faces = &problem->faces;
    size_t it = (size_t)part->it, jt = (size_t)part->jt, kt = (size_t)part->kt;
    size_t block = (size_t)deck->mk * deck->mmi, angles = (size_t)deck->mm;
    faces->i = room(block * jt, good);
    faces->j = room(block * it, good);
    faces->k = room(angles * jt * it, good);
    for (int n = 0; n < 4 && deck->ibc == 1 && part->low_i == MPI_PROC_NULL; n++)
        faces->kept_i[n] = room(angles * kt * jt, good);
    for (int n = 0; n < 2 && deck->jbc == 1 && part->low_j == MPI_PROC_NULL; n++)
        faces->kept_j[n] = room(angles * kt * it, good);
    faces->line = room(line_scratch(part->it), good);
}

/* All of a rank's memory, of a problem that is otherwise zero. */
bool part_allocate(struct problem *problem)
{
    bool good = true;
    allocate_fields(problem, &good);
    allocate_faces(problem, &good);
    return good;
}

void part_free(struct problem *problem)
{
    struct fields *fields = &problem->fields;
    struct faces *faces = &problem->faces;
    for (int n = 0; n < MAX_MOMENTS; n++) {
        free(fields->source[n]);
        free(fields->flux[n]);
        free(faces->kept_i[n]);
    }
    for (int n = 0; n < 3; n++)
        free(fields->current[n]);
    for (int n = 0; n < 2; n++)
        free(faces->kept_j[n]);
    free(fields->before);
    free(faces->i);
    free(faces->j);
    free(faces->k);
    free(faces->line);
}

/*
 * What the cells emit in an iteration, and how much the flux has changed by it.
 *
 * Source iteration: the source of a sweep is the given one plus what the flux of the sweep before
 * scatters, moment by moment. The given source is one in the central third of each direction (with
 * a reflective low side: in the third next to it) and zero elsewhere.
 */
#include "sweep3d.h"

#include <math.h>
#include <string.h>

/* Is the cell with number AT among N of the whole grid in the third that has a source? */
static bool in_third(int at, int n, int reflective)
{
    int third = (n + 1) / 3;
    return reflective ? at < third : at >= third && at < n - third;
}

/* Does the cell of this rank have a source? */
bool source_inside(const struct problem *problem, int i, int j, int k)
{
    const struct deck *deck = &problem->deck;
    const struct part *part = &problem->part;
    return in_third(part->first_i + i, deck->it_g, deck->ibc) &&
           in_third(part->first_j + j, deck->jt_g, deck->jbc) && in_third(k, deck->kt, deck->kbc);
}

/* Source of this iteration from the flux of the last, which is zero from then on. */
void source_begin(struct problem *problem)
{
    const struct part *part = &problem->part;
    struct fields *fields = &problem->fields;
    size_t size = fields->cells * sizeof(double), at = 0;

    for (int k = 0; k < part->kt; k++)
        for (int j = 0; j < part->jt; j++)
            for (int i = 0; i < part->it; i++, at++) {
                double given = source_inside(problem, i, j, k) ? 1.0 : 0.0;
                fields->source[0][at] = fma(SIGMA_SCATTER, fields->flux[0][at], given);
            }
    for (int n = 1; n < fields->moments; n++)
        for (at = 0; at < fields->cells; at++)
            fields->source[n][at] = SIGMA_SCATTER_P1 * fields->flux[n][at];

    memcpy(fields->before, fields->flux[0], size);
    for (int n = 0; n < fields->moments; n++)
        memset(fields->flux[n], 0, size);
    if (fields->current[0] != NULL) {
        size_t it = (size_t)part->it, jt = (size_t)part->jt, kt = (size_t)part->kt;
        memset(fields->current[0], 0, (it + 1) * jt * kt * sizeof(double));
        memset(fields->current[1], 0, it * (jt + 1) * kt * sizeof(double));
        memset(fields->current[2], 0, it * jt * (kt + 1) * sizeof(double));
    }
}

/* The largest change of the scalar flux in this rank, relative to its new value. */
double source_error(const struct problem *problem)
{
    const struct fields *fields = &problem->fields;
    double error = 0.0;
    for (size_t at = 0; at < fields->cells; at++) {
        double now = fields->flux[0][at], before = fields->before[at];
        double change = now != 0.0 ? fabs((now - before) / now) : (before != 0.0 ? 1.0 : 0.0);
        if (!(change <= error)) /* one that is not a number counts as well */
            error = change;
    }
    return error;
}

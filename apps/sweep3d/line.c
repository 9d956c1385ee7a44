/*
 * The arithmetic: a line of cells along I, in BEAMS directions of flight in lock-step.
 *
 * A cell's balance in one direction of flight, with diamond differences: the flux at the centre is
 * the mean of inflow and outflow in each of I, J and K. With c = 2 cosine/width, the octant's signs
 * taken into the order in which cells are visited,
 *
 *     centre * (sigma + ci + cj + ck) = source + ci*in_i + cj*in_j + ck*in_k
 *     out = 2*centre - in,  for i, j and k
 *
 * The division is by the same number in all cells of an angle, so it is done once (quadrature.c),
 * and what is carried along a line is a recursion of one multiplication and one addition:
 *
 *     out_i = pass_i * in_i + (emit . source + pass_j * in_j + pass_k * in_k)
 *
 * So a line is taken in four steps, of which only the second is serial. `emission`: the bracket,
 * for all cells. `march`: the recursion, whose results are the line's edges, IT + 1 of them; beams
 * do not depend on each other, and hide each other's waiting. `advance`: twice the centre is the
 * sum of a cell's two edges; the outflows in J and K replace the inflows. `deposit`: the moments of
 * the flux. All but `march` is done by vector instructions, and a line's source and flux stay in
 * the innermost cache from beam to beam.
 *
 * Fixups: a negative outflow is set to zero, and the balance solved again (`fix_cell`). That is
 * rare, so a line is first done without and looked at (`any_negative`); only if it has one, it is
 * done again cell by cell (`mend`).
 *
 * Every product that is added is an explicit fma() and compilers may not make others, so that the
 * same cell gives the same bits in either way, in any place of a line, from any compiler, and
 * however the grid is cut into ranks.
 */
#include "sweep3d.h"

#include <math.h>

/* Doubles of one beam's scratch arrays: IT + 1 edges, and a little apart from the next beam's. */
static size_t stride(int it)
{
    return (size_t)it + 8;
}

/* Scratch of a rank: edges and emission of BEAMS beams, and twice the centres of one. */
size_t line_scratch(int it)
{
    return (2 * BEAMS + 1) * stride(it);
}

/* What the cells at offset AT emit into a beam, and what comes in through J and K. */
static void emission(const struct fields *fields, const struct beam *beam, size_t at, int n,
                     double *restrict out)
{
    const struct ray *ray = beam->ray;
    const double *restrict in_j = beam->face_j, *restrict in_k = beam->face_k;
    const double *restrict s0 = fields->source[0] + at;
    double e0 = ray->emit[0], pass_j = ray->pass[1], pass_k = ray->pass[2];

    if (fields->moments == 1) {
        for (int i = 0; i < n; i++)
            out[i] = fma(pass_k, in_k[i], fma(pass_j, in_j[i], e0 * s0[i]));
        return;
    }
    const double *restrict s1 = fields->source[1] + at, *restrict s2 = fields->source[2] + at,
                 *restrict s3 = fields->source[3] + at;
    double e1 = ray->emit[1], e2 = ray->emit[2], e3 = ray->emit[3];
    for (int i = 0; i < n; i++) {
        double emitted = fma(e3, s3[i], fma(e2, s2[i], fma(e1, s1[i], e0 * s0[i])));
        out[i] = fma(pass_k, in_k[i], fma(pass_j, in_j[i], emitted));
    }
}

/* The recursion along I. Of each beam: EDGE i is left of cell i, EDGE n right of the last. */
static void march(int n, int sign, size_t apart, const double pass[BEAMS],
                  const double *restrict emitted, double *restrict edge)
{
    double flow[BEAMS];
    for (int b = 0; b < BEAMS; b++)
        flow[b] = edge[b * apart + (sign > 0 ? 0 : n)];
    if (sign > 0) {
        for (int i = 0; i < n; i++)
            for (int b = 0; b < BEAMS; b++) {
                flow[b] = fma(pass[b], flow[b], emitted[b * apart + i]);
                edge[b * apart + i + 1] = flow[b];
            }
    } else {
        for (int i = n - 1; i >= 0; i--)
            for (int b = 0; b < BEAMS; b++) {
                flow[b] = fma(pass[b], flow[b], emitted[b * apart + i]);
                edge[b * apart + i] = flow[b];
            }
    }
}

/* Does anything negative leave a cell of the beam? LEFT and RIGHT are the cells' edges. */
static bool any_negative(int n, int sign, const double *restrict left,
                         const double *restrict face_j, const double *restrict face_k)
{
    const double *right = left + 1, *out_i = sign > 0 ? right : left;
    long negative = 0;
    for (int i = 0; i < n; i++) {
        double twice = left[i] + right[i];
        negative |= (out_i[i] < 0.0) | (twice < face_j[i]) | (twice < face_k[i]);
    }
    return negative != 0;
}

/* Twice the centres of a beam, and its inflows in J and K become its outflows. */
static void advance(int n, const double *restrict edge, double *restrict face_j,
                    double *restrict face_k, double *restrict twice)
{
    for (int i = 0; i < n; i++) {
        twice[i] = edge[i] + edge[i + 1];
        face_j[i] = twice[i] - face_j[i];
        face_k[i] = twice[i] - face_k[i];
    }
}

/*
 * Solves a cell again whose outflow OUT is negative somewhere. A direction whose outflow becomes
 * zero leaves the denominator, and half its inflow the numerator. Directions are looked at in the
 * order I, J, K, from the start again after each change. Returns twice the centre.
 */
static double fix_cell(const struct ray *ray, double source, const double in[3], double out[3])
{
    double above = source, below = ray->total, centre = 0.0;
    bool zero[3] = {false, false, false};
    for (int d = 0; d < 3; d++)
        above = fma(ray->c[d], in[d], above);
    for (int d = 0; d < 3; d++) {
        if (!(out[d] < 0.0))
            continue;
        zero[d] = true;
        above = fma(-0.5 * ray->c[d], in[d], above);
        below -= ray->c[d];
        centre = above / below;
        for (int e = 0; e < 3; e++)
            out[e] = zero[e] ? 0.0 : fma(2.0, centre, -in[e]);
        d = -1;
    }
    return 2.0 * centre;
}

/* Does a beam cell by cell, with fixups, and returns their number. */
static long mend(const struct fields *fields, const struct beam *beam, size_t at, int n, int sign,
                 const double *emitted, double *edge, double *twice)
{
    const struct ray *ray = beam->ray;
    long fixups = 0;
    for (int step = 0; step < n; step++) {
        int i = sign > 0 ? step : n - 1 - step;
        double in[3] = {edge[sign > 0 ? i : i + 1], beam->face_j[i], beam->face_k[i]}, out[3];
        out[0] = fma(ray->pass[0], in[0], emitted[i]);
        twice[i] = in[0] + out[0];
        out[1] = twice[i] - in[1];
        out[2] = twice[i] - in[2];
        if (out[0] < 0.0 || out[1] < 0.0 || out[2] < 0.0) {
            double source = 0.0;
            for (int m = 0; m < fields->moments; m++)
                source = fma(ray->moment[m], fields->source[m][at + i], source);
            twice[i] = fix_cell(ray, source, in, out);
            fixups++;
        }
        edge[sign > 0 ? i + 1 : i] = out[0];
        beam->face_j[i] = out[1];
        beam->face_k[i] = out[2];
    }
    return fixups;
}

/* y += a * x */
static void add_scaled(int n, double a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = fma(a, x[i], y[i]);
}

/* Adds a beam to the moments of the flux of the cells at offset AT. */
static void deposit(const struct fields *fields, const struct ray *ray, size_t at, int n,
                    const double *restrict twice)
{
    double d0 = ray->deposit[0], d1 = ray->deposit[1], d2 = ray->deposit[2], d3 = ray->deposit[3];
    if (fields->moments == 1) {
        add_scaled(n, d0, twice, fields->flux[0] + at);
        return;
    }
    double *restrict f0 = fields->flux[0] + at, *restrict f1 = fields->flux[1] + at,
           *restrict f2 = fields->flux[2] + at, *restrict f3 = fields->flux[3] + at;
    for (int i = 0; i < n; i++) {
        f0[i] = fma(d0, twice[i], f0[i]);
        f1[i] = fma(d1, twice[i], f1[i]);
        f2[i] = fma(d2, twice[i], f2[i]);
        f3[i] = fma(d3, twice[i], f3[i]);
    }
}

/* Adds what is in a beam's faces now to the currents through the J and K faces BEYOND the line. */
static void add_currents(const struct problem *problem, const struct line *line,
                         const struct beam *beam, const bool beyond[3], bool do_j, bool do_k)
{
    const struct part *part = &problem->part;
    double *const *current = problem->fields.current;
    size_t it = (size_t)part->it, jt = (size_t)part->jt, j = (size_t)line->j, k = (size_t)line->k;
    if (do_j)
        add_scaled(part->it, beam->ray->flow[1], beam->face_j,
                   current[1] + (k * (jt + 1) + j + beyond[1]) * it);
    if (do_k)
        add_scaled(part->it, beam->ray->flow[2], beam->face_k,
                   current[2] + ((k + beyond[2]) * jt + j) * it);
}

/* Finishes a beam whose EDGEs are known unless something has to be fixed; returns the fixups. */
static long finish(struct problem *problem, const struct block *block, const struct line *line,
                   const struct beam *beam, const double *emitted, double *edge, double *twice)
{
    const struct fields *fields = &problem->fields;
    const int *sign = block->sign;
    const bool before[3] = {sign[0] < 0, sign[1] < 0, sign[2] < 0};
    const bool behind[3] = {sign[0] > 0, sign[1] > 0, sign[2] > 0};
    int n = problem->part.it;
    size_t row = (size_t)line->k * problem->part.jt + line->j, at = row * n;
    bool currents = fields->current[0] != NULL;
    long fixups = 0;

    if (currents)
        add_currents(problem, line, beam, before, line->first_j, line->first_k);
    if (block->fix && any_negative(n, sign[0], edge, beam->face_j, beam->face_k))
        fixups = mend(fields, beam, at, n, sign[0], emitted, edge, twice);
    else
        advance(n, edge, beam->face_j, beam->face_k, twice);
    deposit(fields, beam->ray, at, n, twice);
    if (currents) {
        add_currents(problem, line, beam, behind, true, true);
        add_scaled(n + 1, beam->ray->flow[0], edge, fields->current[0] + at + row);
    }
    *beam->face_i = edge[behind[0] ? n : 0];
    return fixups;
}

/* Sweeps COUNT <= BEAMS beams through a line; returns the fixups. */
long line_sweep(struct problem *problem, const struct block *block, const struct line *line,
                const struct beam beams[BEAMS], int count)
{
    int n = problem->part.it, inflow = block->sign[0] > 0 ? 0 : n;
    size_t apart = stride(n), at = ((size_t)line->k * problem->part.jt + line->j) * n;
    double *edge = problem->faces.line, *emitted = edge + BEAMS * apart;
    double *twice = emitted + BEAMS * apart;
    double pass[BEAMS] = {0.0};
    long fixups = 0;

    for (int b = 0; b < count; b++) {
        emission(&problem->fields, &beams[b], at, n, emitted + b * apart);
        edge[b * apart + inflow] = *beams[b].face_i;
        pass[b] = beams[b].ray->pass[0];
    }
    march(n, block->sign[0], apart, pass, emitted, edge);
    for (int b = 0; b < count; b++)
        fixups += finish(problem, block, line, &beams[b], emitted + b * apart, edge + b * apart,
                         twice);
    return fixups;
}

/*
 * The arithmetic: lines of cells along I, LINES of them in lock-step.
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
 * for all cells. `march`: the recursion, whose results are the line's edges, IT + 1 of them; lines
 * of a diagonal do not depend on each other, and LINES of them hide each other's waiting.
 * `advance`: twice the centre is the sum of a cell's two edges; the outflows in J and K replace the
 * inflows. Then moments of the flux are added up.
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

/* Doubles of one line's scratch arrays: IT + 1 edges, and a little apart from the next line's. */
static size_t stride(int it)
{
    return (size_t)it + 8;
}

/* Scratch of a rank: edges and emission of LINES lines, and twice the centres of one. */
size_t lines_scratch(int it)
{
    return (2 * LINES + 1) * stride(it);
}

/* y += a * x */
static void add_scaled(int n, double a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = fma(a, x[i], y[i]);
}

/* What the cells at offset AT emit into a ray, and what comes in through J and K. */
static void emission(const struct fields *fields, const struct line *line, size_t at, int n,
                     double *restrict out)
{
    const struct ray *ray = line->ray;
    const double *restrict in_j = line->face_j, *restrict in_k = line->face_k;
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

/* The recursion along I. Of each line: EDGE i is left of cell i, EDGE n right of the last. */
static void march(int n, int sign, size_t apart, const double pass[LINES],
                  const double *restrict emitted, double *restrict edge)
{
    double flow[LINES];
    for (int l = 0; l < LINES; l++)
        flow[l] = edge[l * apart + (sign > 0 ? 0 : n)];
    if (sign > 0) {
        for (int i = 0; i < n; i++)
            for (int l = 0; l < LINES; l++) {
                flow[l] = fma(pass[l], flow[l], emitted[l * apart + i]);
                edge[l * apart + i + 1] = flow[l];
            }
    } else {
        for (int i = n - 1; i >= 0; i--)
            for (int l = 0; l < LINES; l++) {
                flow[l] = fma(pass[l], flow[l], emitted[l * apart + i]);
                edge[l * apart + i] = flow[l];
            }
    }
}

/* Does anything negative leave a cell of the line? LEFT and RIGHT are the cells' edges. */
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

/* Twice the centres of a line, and its inflows in J and K become its outflows. */
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

/* Does a line cell by cell, with fixups, and returns their number. */
static long mend(const struct fields *fields, const struct line *line, size_t at, int n, int sign,
                 const double *emitted, double *edge, double *twice)
{
    const struct ray *ray = line->ray;
    long fixups = 0;
    for (int step = 0; step < n; step++) {
        int i = sign > 0 ? step : n - 1 - step;
        double in[3] = {edge[sign > 0 ? i : i + 1], line->face_j[i], line->face_k[i]}, out[3];
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
        line->face_j[i] = out[1];
        line->face_k[i] = out[2];
    }
    return fixups;
}

/* Adds to the currents through the faces in J and K what is in the line's FACE arrays now. */
static void add_currents(const struct problem *problem, const struct line *line, int row_j,
                         bool do_j, int plane_k, bool do_k)
{
    const struct part *part = &problem->part;
    double *const *current = problem->fields.current;
    size_t it = (size_t)part->it, jt = (size_t)part->jt;
    if (do_j)
        add_scaled(part->it, line->ray->flow[1], line->face_j,
                   current[1] + (line->k * (jt + 1) + row_j) * it);
    if (do_k)
        add_scaled(part->it, line->ray->flow[2], line->face_k,
                   current[2] + (plane_k * jt + line->j) * it);
}

/* Finishes a line whose EDGEs are known unless something has to be fixed; returns the fixups. */
static long finish(struct problem *problem, const struct block *block, struct line *line,
                   const double *emitted, double *edge, double *twice)
{
    const struct fields *fields = &problem->fields;
    const struct part *part = &problem->part;
    const int *sign = block->sign;
    int n = part->it, j = line->j, k = line->k;
    size_t row = (size_t)k * part->jt + j, at = row * n;
    bool currents = fields->current[0] != NULL;
    long fixups = 0;

    if (currents)
        add_currents(problem, line, sign[1] > 0 ? j : j + 1, line->first_j,
                     sign[2] > 0 ? k : k + 1, line->first_k);
    if (block->fix && any_negative(n, sign[0], edge, line->face_j, line->face_k))
        fixups = mend(fields, line, at, n, sign[0], emitted, edge, twice);
    else
        advance(n, edge, line->face_j, line->face_k, twice);
    for (int m = 0; m < fields->moments; m++)
        add_scaled(n, line->ray->deposit[m], twice, fields->flux[m] + at);
    if (currents) {
        add_currents(problem, line, sign[1] > 0 ? j + 1 : j, true, sign[2] > 0 ? k + 1 : k, true);
        add_scaled(n + 1, line->ray->flow[0], edge, fields->current[0] + at + row);
    }
    *line->face_i = edge[sign[0] > 0 ? n : 0];
    return fixups;
}

/* Sweeps COUNT <= LINES lines that do not depend on each other; returns the fixups. */
long lines_sweep(struct problem *problem, const struct block *block, struct line lines[LINES],
                 int count)
{
    int n = problem->part.it, inflow = block->sign[0] > 0 ? 0 : n;
    size_t apart = stride(n);
    double *edge = problem->faces.lines, *emitted = edge + LINES * apart;
    double *twice = emitted + LINES * apart;
    double pass[LINES] = {0.0};
    long fixups = 0;

    for (int l = 0; l < count; l++) {
        size_t at = ((size_t)lines[l].k * problem->part.jt + lines[l].j) * n;
        emission(&problem->fields, &lines[l], at, n, emitted + l * apart);
        edge[l * apart + inflow] = *lines[l].face_i;
        pass[l] = lines[l].ray->pass[0];
    }
    march(n, block->sign[0], apart, pass, emitted, edge);
    for (int l = 0; l < count; l++)
        fixups += finish(problem, block, &lines[l], emitted + l * apart, edge + l * apart, twice);
    return fixups;
}

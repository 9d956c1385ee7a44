/*
 * Where the particles went: what is emitted is absorbed or leaves the grid, once the iteration has
 * converged. Until then the difference is what the last iteration changed by.
 *
 * With currents (IDSA) each cell's own balance is drawn up as well: what flows out of it through
 * its six faces plus what collides in it is what it emitted in the last sweep (times the sum of
 * all weights, which in the tables of quadrature.c is one up to the last printed digit). This holds
 * in each iteration up to rounding, with fixups or without, so it is a check of the sweep itself.
 */
#include "sweep3d.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

/* The largest imbalance of a cell of this rank, per volume. */
static double worst_cell(const struct problem *problem)
{
    const struct deck *deck = &problem->deck;
    const struct part *part = &problem->part;
    const struct fields *fields = &problem->fields;
    size_t it = (size_t)part->it, plane = it * part->jt, at = 0;
    double worst = 0.0, weights = 0.0;
    for (int m = 0; m < deck->mm; m++)
        weights += 8.0 * problem->angles[m].weight;
    for (int k = 0; k < part->kt; k++)
        for (int j = 0; j < part->jt; j++) {
            const double *low_i = fields->current[0] + at + at / it;
            const double *low_j = fields->current[1] + at + k * it;
            const double *low_k = fields->current[2] + at;
            for (int i = 0; i < part->it; i++, at++) {
                double out = (low_i[i + 1] - low_i[i]) / deck->dx +
                             (low_j[i + it] - low_j[i]) / deck->dy +
                             (low_k[i + plane] - low_k[i]) / deck->dz;
                double collided = SIGMA_TOTAL * fields->flux[0][at];
                worst = fmax(worst, fabs(out + collided - weights * fields->source[0][at]));
            }
        }
    return worst;
}

/* Cells of this rank with a source, and the sum of the scalar flux over all its cells. */
static void add_cells(const struct problem *problem, double *emitting, double *flux)
{
    const struct part *part = &problem->part;
    const double *value = problem->fields.flux[0];
    for (int k = 0; k < part->kt; k++)
        for (int j = 0; j < part->jt; j++)
            for (int i = 0; i < part->it; i++) {
                *emitting += source_inside(problem, i, j, k) ? 1.0 : 0.0;
                *flux += *value++;
            }
}

void balance_report(const struct problem *problem)
{
    const struct deck *deck = &problem->deck;
    const struct leakage *leakage = &problem->leakage;
    double volume = deck->dx * deck->dy * deck->dz, mine[8] = {0.0}, all[8], worst = 0.0, most;

    add_cells(problem, &mine[0], &mine[1]);
    for (int d = 0; d < 3; d++) {
        mine[2 + d] = leakage->low[d];
        mine[5 + d] = leakage->high[d];
    }
    if (deck->idsa)
        worst = worst_cell(problem);
    MPI_Allreduce(mine, all, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&worst, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (problem->part.rank != 0)
        return;

    double source = all[0] * volume;
    double absorption = (SIGMA_TOTAL - SIGMA_SCATTER) * all[1] * volume;
    double balance = source - absorption;
    printf("source          %22.15e\n", source);
    printf("absorption      %22.15e\n", absorption);
    for (int d = 0; d < 3; d++) {
        printf("leakage-%c-low   %22.15e\n", 'I' + d, all[2 + d]);
        printf("leakage-%c-high  %22.15e\n", 'I' + d, all[5 + d]);
        balance -= all[5 + d] - all[2 + d];
    }
    printf("balance         %22.15e\n", balance);
    if (deck->idsa)
        printf("cell-imbalance  %22.15e\n", most);
}

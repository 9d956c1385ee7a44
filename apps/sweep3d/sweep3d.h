/*
 * Sweep3D: what its files share.
 *
 * Read in this order: main.c (the iteration), deck.c (what is to be solved), part.c (which cells
 * are whose), source.c (what the cells emit), sweep.c (octants, blocks of planes, messages),
 * block.c (lines of a block), line.c (the arithmetic), balance.c (where it all went).
 *
 * Cells are numbered from 0. A field of a rank holds its cells with I fastest: cell (i, j, k) is at
 * (k*JT + j)*IT + i. I, J and K are also called directions 0, 1 and 2. Lengths are in centimetres,
 * cross sections per centimetre, sources per cubic centimetre and second; fluxes follow from these.
 */
#ifndef SWEEP3D_H
#define SWEEP3D_H

#include <stdbool.h>
#include <stddef.h>

enum {
    MAX_ANGLES = 6,        /* of one octant: S6 has 6 */
    MAX_MOMENTS = 4,       /* P1: the scalar flux and the current in three directions */
    MAX_ITERATIONS = 1000, /* of a deck that asks for convergence instead of a count */
    MESSAGE = 256          /* bytes of a sentence about what is wrong */
};

/* The material: one for all cells. */
#define SIGMA_TOTAL 1.0
#define SIGMA_SCATTER 0.5
#define SIGMA_SCATTER_P1 0.6 /* (2l + 1) sigma_1 with l = 1: 3 * 0.2 */

/* The five lines of a deck; the names are those of the program of 1995. */
struct deck {
    int npe_i, npe_j, mk, mmi, ncpu;
    int it_g, jt_g, kt, mm, isct;
    double dx, dy, dz, epsi;
    int ibc, jbc, kbc;
    int iprint, idsa, ifixups;
};

/* A direction of flight in the octant in which all cosines are positive. */
struct angle {
    double weight, mu, eta, xi;
};

/* What one rank holds of the grid, and its neighbours (MPI_PROC_NULL: the grid ends there). */
struct part {
    int rank;
    int it, jt, kt;         /* cells */
    int first_i, first_j;   /* number in the whole grid of its first cell */
    int low_i, high_i;      /* the ranks beside it in I */
    int low_j, high_j;      /* the ranks beside it in J */
};

/* The fields of a rank's cells, all with room for IT*JT*KT values. */
struct fields {
    size_t cells;
    int moments;                 /* 1 with P0, 4 with P1 */
    double *source[MAX_MOMENTS]; /* emitted per cell in this iteration */
    double *flux[MAX_MOMENTS];   /* as far as the sweep has come */
    double *before;              /* the scalar flux of the iteration before */
    double *current[3];          /* DSA: net current through faces, one more in its direction */
};

/* What flows between cells, as far as it outlives a line. Sizes in doubles. */
struct faces {
    double *i;         /* [MMI][MK][JT]: of one block, a message of this shape */
    double *j;         /* [MMI][MK][IT]: of one block, a message of this shape */
    double *k;         /* [MM][JT][IT]: of all angles of an octant, from block to block */
    double *kept_i[4]; /* [MM][KT][JT]: what left a reflective low side in one octant each */
    double *kept_j[2]; /* [MM][KT][IT] */
    double *line;      /* scratch of line.c */
};

/* Net current, in positive direction, through the sides of the whole grid; [direction]. */
struct leakage {
    double low[3], high[3];
};

struct problem {
    struct deck deck;
    struct part part;
    struct angle angles[MAX_ANGLES];
    struct fields fields;
    struct faces faces;
    struct leakage leakage;
};

/* An angle in one octant, with everything a cell's balance needs of it (line.c). */
struct ray {
    double c[3];                  /* 2 mu/dx, 2 eta/dy, 2 xi/dz */
    double total;                 /* sigma + c[0] + c[1] + c[2] */
    double moment[MAX_MOMENTS];   /* 1 and the signed cosines */
    double emit[MAX_MOMENTS];     /* moments * 2/total */
    double pass[3];               /* c * 2/total; pass[0] is one less */
    double deposit[MAX_MOMENTS];  /* weight * moments / 2 */
    double flow[3];               /* weight * signed cosines */
};

/* A block: MMI angles of an octant in (at most) MK planes of a rank. */
struct block {
    int sign[3];     /* which way the octant goes: -1 or 1 */
    int first_angle; /* of the deck's MM */
    int first_k;     /* its lowest plane */
    int planes;
    bool fix;        /* negative outflows are set to zero */
    struct ray ray[MAX_ANGLES];
};

/* A line of cells along I. */
struct line {
    int j, k;
    bool first_j, first_k; /* the octant has no line before it in this rank */
};

/* An angle in a line of cells. */
struct beam {
    const struct ray *ray;
    double *face_i; /* in: what flows into the line; out: what leaves it */
    double *face_j; /* [IT], likewise, of all its cells */
    double *face_k; /* [IT] */
};

/* Angles that line.c takes in lock-step: as many as hide the time one addition takes. */
enum { BEAMS = 3 };

/* deck.c: reads TEXT; on failure says in WHY what is wrong and returns false. */
bool deck_parse(const char *text, struct deck *deck, char why[MESSAGE]);
bool deck_check(const struct deck *deck, int ranks, char why[MESSAGE]);

/* quadrature.c */
void quadrature(const struct deck *deck, struct angle angles[MAX_ANGLES]);
struct ray ray_of(const struct deck *deck, const struct angle *angle, const int sign[3]);

/* part.c: allocate returns false if there is not enough memory. */
void part_of(const struct deck *deck, int rank, struct part *part);
bool part_allocate(struct problem *problem);
void part_free(struct problem *problem);

/* source.c */
void source_begin(struct problem *problem);
double source_error(const struct problem *problem);
bool source_inside(const struct problem *problem, int i, int j, int k);

/* sweep.c, block.c, line.c: each returns the number of fixups. */
long sweep(struct problem *problem, bool fix);
long block_sweep(struct problem *problem, const struct block *block);
long line_sweep(struct problem *problem, const struct block *block, const struct line *line,
                const struct beam beams[BEAMS], int count);
size_t line_scratch(int it);

/* balance.c: every rank calls it, rank 0 prints. */
void balance_report(const struct problem *problem);

#endif

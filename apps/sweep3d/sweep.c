/*
 * A sweep: all directions of flight through all cells, once.
 *
 * Octants come one after the other, numbered 1 to 8, I slowest and K fastest, negative directions
 * first; so whatever leaves a reflective low side has left before it comes back. An octant's MM
 * angles are cut into batches of MMI, the KT planes into blocks of MK (the last may be smaller).
 * For each batch, and in it for each block, a rank
 *
 *     receives the block's faces from its neighbour upstream in I, then in J,
 *     sweeps the block (block.c),
 *     sends the faces to its neighbour downstream in I, then in J,
 *
 * all of it blocking, so that ranks work on successive blocks like a pipeline that is filled and
 * drained for each change of direction in I or J. Faces are JT*MK*MMI and IT*MK*MMI doubles. Faces
 * in K stay in the rank.
 *
 * No set of ranks waits in a circle, however little MPI buffers: of all blocks that are not done
 * yet take the earliest, and of ranks at it the one farthest upstream: nobody keeps it from going
 * on.
 */
#include "sweep3d.h"

#include <mpi.h>
#include <string.h>

/* Tag of faces in DIRECTION (0: I, 1: J) of OCTANT (0 to 7): at most 24,000. */
static int tag_of(int direction, int octant)
{
    return (direction == 0 ? 1000 : 3000) * (octant + 1);
}

/* What is different for I and J of a block's faces. */
struct side {
    double *face;        /* [MMI][planes][row] */
    double *kept;        /* [MM][KT][row], NULL unless this rank has a reflective low side there */
    int row, count;      /* doubles of a row, of the face */
    int upstream, downstream;
    int tag;
};

static struct side side_of(const struct problem *problem, const struct block *block, int octant,
                           int direction)
{
    const struct part *part = &problem->part;
    const struct faces *faces = &problem->faces;
    bool up = block->sign[direction] > 0;
    int low = direction == 0 ? part->low_i : part->low_j;
    int high = direction == 0 ? part->high_i : part->high_j;
    int row = direction == 0 ? part->jt : part->it;
    return (struct side){
        .face = direction == 0 ? faces->i : faces->j,
        .kept = direction == 0 ? faces->kept_i[octant & 3] : faces->kept_j[octant & 1],
        .row = row,
        .count = problem->deck.mmi * block->planes * row,
        .upstream = up ? low : high,
        .downstream = up ? high : low,
        .tag = tag_of(direction, octant),
    };
}

/* Where KEPT has the row of the block's angle M and its STEP-th plane. */
static double *kept_row(const struct problem *problem, const struct block *block,
                        const struct side *side, int m, int step)
{
    int k = block->first_k + (block->sign[2] > 0 ? step : block->planes - 1 - step);
    return side->kept + ((size_t)(block->first_angle + m) * problem->part.kt + k) * side->row;
}

/* The block's inflow: from the neighbour, from the mirror, or nothing. */
static void face_in(const struct problem *problem, const struct block *block, int octant,
                    int direction)
{
    struct side side = side_of(problem, block, octant, direction);
    size_t size = side.row * sizeof(double);
    if (side.upstream != MPI_PROC_NULL) {
        MPI_Recv(side.face, side.count, MPI_DOUBLE, side.upstream, side.tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (block->sign[direction] > 0 && side.kept != NULL) {
        double *row = side.face;
        for (int m = 0; m < problem->deck.mmi; m++)
            for (int step = 0; step < block->planes; step++, row += side.row)
                memcpy(row, kept_row(problem, block, &side, m, step), size);
    } else {
        memset(side.face, 0, side.count * sizeof(double));
    }
}

/* Net current through a rank's side of the grid: FLOW (weight * cosine) of all ROWS. */
static double leaving(const double *rows, size_t count, double flow, double area)
{
    double sum = 0.0;
    for (size_t n = 0; n < count; n++)
        sum += rows[n];
    return sum * flow * area;
}

/* Adds to the leakage. FLOW is negative on low sides, as currents are in positive direction. */
static void leak(struct problem *problem, const struct block *block, int direction, double current)
{
    struct leakage *leakage = &problem->leakage;
    double *total = block->sign[direction] > 0 ? leakage->high : leakage->low;
    total[direction] += current;
}

/* The block's outflow: to the neighbour, to the mirror, or out of the grid. */
static void face_out(struct problem *problem, const struct block *block, int octant, int direction)
{
    const struct deck *deck = &problem->deck;
    struct side side = side_of(problem, block, octant, direction);
    double area = (direction == 0 ? deck->dy : deck->dx) * deck->dz;
    size_t each = (size_t)block->planes * side.row;
    if (side.downstream != MPI_PROC_NULL) {
        MPI_Send(side.face, side.count, MPI_DOUBLE, side.downstream, side.tag, MPI_COMM_WORLD);
    } else if (block->sign[direction] < 0 && side.kept != NULL) {
        const double *row = side.face;
        for (int m = 0; m < deck->mmi; m++)
            for (int step = 0; step < block->planes; step++, row += side.row)
                memcpy(kept_row(problem, block, &side, m, step), row, side.row * sizeof *row);
    } else {
        for (int m = 0; m < deck->mmi; m++) {
            double flow = block->ray[m].flow[direction];
            leak(problem, block, direction, leaving(side.face + m * each, each, flow, area));
        }
    }
}

/* What leaves through the last plane of a block's angles in K, unless it is a mirror. */
static void top_out(struct problem *problem, const struct block *block)
{
    const struct deck *deck = &problem->deck;
    size_t plane = (size_t)problem->part.it * problem->part.jt;
    if (block->sign[2] < 0 && deck->kbc == 1)
        return;
    for (int m = 0; m < deck->mmi; m++) {
        const double *face = problem->faces.k + (block->first_angle + m) * plane;
        double flow = block->ray[m].flow[2];
        leak(problem, block, 2, leaving(face, plane, flow, deck->dx * deck->dy));
    }
}

/* One batch of angles of an octant through all planes. */
static long batch_sweep(struct problem *problem, struct block *block, int octant)
{
    const struct deck *deck = &problem->deck;
    long fixups = 0;
    for (int m = 0; m < deck->mmi; m++)
        block->ray[m] = ray_of(deck, &problem->angles[block->first_angle + m], block->sign);
    for (int done = 0; done < deck->kt; done += block->planes) {
        int left = deck->kt - done;
        block->planes = left < deck->mk ? left : deck->mk;
        block->first_k = block->sign[2] > 0 ? done : left - block->planes;
        face_in(problem, block, octant, 0);
        face_in(problem, block, octant, 1);
        fixups += block_sweep(problem, block);
        face_out(problem, block, octant, 0);
        face_out(problem, block, octant, 1);
    }
    top_out(problem, block);
    return fixups;
}

/* A sweep with the source as it is; adds up flux, currents and leakages. Returns the fixups. */
long sweep(struct problem *problem, bool fix)
{
    const struct deck *deck = &problem->deck;
    const struct part *part = &problem->part;
    size_t face_k = (size_t)deck->mm * part->it * part->jt * sizeof(double);
    long fixups = 0;

    problem->leakage = (struct leakage){{0.0}, {0.0}};
    for (int octant = 0; octant < 8; octant++) {
        struct block block = {
            .sign = {octant & 4 ? 1 : -1, octant & 2 ? 1 : -1, octant & 1 ? 1 : -1},
            .fix = fix,
        };
        /* What left a mirror in the octant before comes back in this one. */
        if (block.sign[2] < 0 || deck->kbc == 0)
            memset(problem->faces.k, 0, face_k);
        for (int m = 0; m < deck->mm; m += deck->mmi) {
            block.first_angle = m;
            fixups += batch_sweep(problem, &block, octant);
        }
    }
    return fixups;
}

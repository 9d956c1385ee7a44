/*
 * A block: the wavefront within a rank.
 *
 * A line of cells along I needs what leaves its neighbours in J and K, so lines are taken from the
 * octant's corner of the block, planes outermost. All angles of the block go through a line while
 * it is at hand, each with faces of its own. So every cell gets its angles in the same order,
 * whatever the sizes of blocks and ranks are.
 */
#include "sweep3d.h"

/* Angle M of the block in a line that is STEP_K planes behind the octant's corner. */
static struct beam beam_at(const struct problem *problem, const struct block *block,
                           const struct line *line, int m, int step_k)
{
    const struct faces *faces = &problem->faces;
    size_t it = (size_t)problem->part.it, jt = (size_t)problem->part.jt;
    size_t plane = (size_t)m * block->planes + step_k;
    return (struct beam){
        .ray = &block->ray[m],
        .face_i = faces->i + plane * jt + line->j,
        .face_j = faces->j + plane * it,
        .face_k = faces->k + ((block->first_angle + m) * jt + line->j) * it,
    };
}

/* Sweeps a block whose inflows are in the faces, and leaves its outflows there. */
long block_sweep(struct problem *problem, const struct block *block)
{
    int jt = problem->part.jt, last_k = problem->part.kt - 1, angles = problem->deck.mmi;
    long fixups = 0;

    for (int step_k = 0; step_k < block->planes; step_k++) {
        int k = block->first_k + (block->sign[2] > 0 ? step_k : block->planes - 1 - step_k);
        for (int step_j = 0; step_j < jt; step_j++) {
            struct line line = {
                .j = block->sign[1] > 0 ? step_j : jt - 1 - step_j,
                .k = k,
                .first_j = step_j == 0,
                .first_k = k == (block->sign[2] > 0 ? 0 : last_k),
            };
            struct beam beams[BEAMS];
            for (int m = 0; m < angles; m += BEAMS) {
                int count = angles - m < BEAMS ? angles - m : BEAMS;
                for (int b = 0; b < count; b++)
                    beams[b] = beam_at(problem, block, &line, m + b, step_k);
                fixups += line_sweep(problem, block, &line, beams, count);
            }
        }
    }
    return fixups;
}

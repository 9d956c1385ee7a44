/*
 * A block: the wavefront within a rank.
 *
 * A line of cells along I needs what leaves its neighbours in J and K, so all lines whose step in J
 * plus step in K is the same are independent: a diagonal. The MMI angles of a block follow each
 * other one diagonal apart. So the lines of one diagonal touch different cells, and each cell gets
 * its angles in the same order, whatever the sizes of blocks and ranks are.
 */
#include "sweep3d.h"

/* The line that is STEP_J lines and STEP_K planes behind the octant's corner of the block. */
static struct line line_at(const struct problem *problem, const struct block *block, int m,
                           int step_j, int step_k)
{
    const struct part *part = &problem->part;
    const struct faces *faces = &problem->faces;
    size_t it = (size_t)part->it, jt = (size_t)part->jt;
    int j = block->sign[1] > 0 ? step_j : part->jt - 1 - step_j;
    int k = block->first_k + (block->sign[2] > 0 ? step_k : block->planes - 1 - step_k);
    size_t plane = (size_t)m * block->planes + step_k;
    return (struct line){
        .ray = &block->ray[m],
        .face_i = faces->i + plane * jt + j,
        .face_j = faces->j + plane * it,
        .face_k = faces->k + ((block->first_angle + m) * jt + j) * it,
        .j = j,
        .k = k,
        .first_j = step_j == 0,
        .first_k = k == (block->sign[2] > 0 ? 0 : part->kt - 1),
    };
}

/* Sweeps a block whose inflows are in the faces, and leaves its outflows there. */
long block_sweep(struct problem *problem, const struct block *block)
{
    int jt = problem->part.jt, planes = block->planes, angles = problem->deck.mmi;
    struct line lines[LINES];
    long fixups = 0;

    for (int diagonal = 0; diagonal < jt + planes + angles - 2; diagonal++) {
        int count = 0;
        for (int m = 0; m < angles; m++) {
            for (int step_k = 0; step_k < planes; step_k++) {
                int step_j = diagonal - m - step_k;
                if (step_j < 0 || step_j >= jt)
                    continue;
                lines[count++] = line_at(problem, block, m, step_j, step_k);
                if (count == LINES) {
                    fixups += lines_sweep(problem, block, lines, count);
                    count = 0;
                }
            }
        }
        if (count > 0)
            fixups += lines_sweep(problem, block, lines, count);
    }
    return fixups;
}

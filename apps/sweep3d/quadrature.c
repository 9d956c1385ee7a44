/*
 * The directions of flight: level-symmetric sets S4 (3 angles in an octant) and S6 (6).
 *
 * Weights of all eight octants add to one, so that the scalar flux is the mean over directions and
 * an isotropic source is emitted in each direction as it is. Cosines are of the axes I (mu),
 * J (eta), K (xi), and the third follows from the two others.
 */
#include "sweep3d.h"

#include <math.h>

static const double S4[3][3] = {
    /* 8 * weight, mu, eta */
    {1.0 / 3.0, 0.30163878, 0.90444905},
    {1.0 / 3.0, 0.90444905, 0.30163878},
    {1.0 / 3.0, 0.30163878, 0.30163878},
};

static const double S6[6][3] = {
    {0.16944656, 0.23009194, 0.94557676},
    {0.16388677, 0.68813432, 0.68813432},
    {0.16388677, 0.23009194, 0.68813432},
    {0.16944656, 0.94557676, 0.23009194},
    {0.16388677, 0.68813432, 0.23009194},
    {0.16944656, 0.23009194, 0.23009194},
};

void quadrature(const struct deck *deck, struct angle angles[MAX_ANGLES])
{
    for (int m = 0; m < deck->mm; m++) {
        const double *row = deck->mm == 3 ? S4[m] : S6[m];
        double mu = row[1], eta = row[2];
        angles[m] = (struct angle){row[0] / 8.0, mu, eta, sqrt(1.0 - mu * mu - eta * eta)};
    }
}

/* What line.c needs of an angle in the octant that goes the way SIGN says. */
struct ray ray_of(const struct deck *deck, const struct angle *angle, const int sign[3])
{
    double cosine[3] = {angle->mu, angle->eta, angle->xi};
    double width[3] = {deck->dx, deck->dy, deck->dz};
    struct ray ray = {.total = SIGMA_TOTAL, .moment = {1.0}};
    for (int d = 0; d < 3; d++) {
        ray.c[d] = 2.0 * cosine[d] / width[d];
        ray.total += ray.c[d];
        ray.moment[1 + d] = sign[d] * cosine[d];
        ray.flow[d] = angle->weight * ray.moment[1 + d];
    }
    for (int n = 0; n < MAX_MOMENTS; n++) {
        ray.emit[n] = ray.moment[n] * 2.0 / ray.total;
        ray.deposit[n] = angle->weight * ray.moment[n] / 2.0;
    }
    for (int d = 0; d < 3; d++)
        ray.pass[d] = ray.c[d] * 2.0 / ray.total - (d == 0 ? 1.0 : 0.0);
    return ray;
}

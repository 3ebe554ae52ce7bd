/* The working state of a bundle adjustment, shared by bundle*.c and covariance.c only. */
#ifndef PSFM_BUNDLE_BUNDLE_INTERNAL_H
#define PSFM_BUNDLE_BUNDLE_INTERNAL_H

#include <math.h>

#include "core/base/parallel.h"
#include "core/bundle/bundle.h"
#include "core/linalg/block_spd.h"

#define PSFM_BUNDLE_NONE UINT32_MAX
#define PSFM_BUNDLE_POINTS_PER_TASK 128
/* A point that has no image where it was observed counts as this far off, so that the cost stays
 * comparable when it comes into view or leaves it. */
#define PSFM_BUNDLE_INVALID_PX 1000.0

/* One observation, linearised; weights of observation and loss are multiplied in. */
typedef struct {
    double r[2];
    double J_pose[12]; /* 2 x 6: by the left rotation vector, by the centre */
    double J_point[6]; /* 2 x 3: by the point, in its basis */
    double pull;       /* of a soft plane: the gradient by the centre is pull (X - c) */
} psfm_bundle_row;

/* The normal equations of one point in its basis: the world axes for a free point, otherwise two
 * axes in its plane and the normal. A hard point moves along the first two only. */
typedef struct {
    double V[6];       /* symmetric: 00 01 02 11 12 22 */
    double b[3];       /* minus the gradient */
    double inverse[6]; /* of the damped V; third row and column zero for a hard point */
    double root[6];    /* upper triangular G, inverse = G G^T: 00 01 02 11 12 22 */
    double e[3];       /* inverse b */
    /* Coupling with its plane's three parameters, all along one direction m: */
    double m[3];
    double q[3];    /* with the point */
    double sigma;   /* with itself */
    double gamma;   /* right-hand side */
    double r_soft;  /* weighted distance from the plane */
    double w_soft;  /* weight per scene unit, with the loss */
    double pull[3]; /* part of b: that of the pixels per scene unit */
} psfm_bundle_system;

/* Solves the reduced system without forming it (bundle_cg.c). */
typedef struct psfm_bundle_cg psfm_bundle_cg;

/* A spanning tree of the images, along which a step can be taken (bundle_tree.c). */
typedef struct psfm_bundle_tree psfm_bundle_tree;

/* Everything that moves. */
typedef struct {
    double (*R)[9];            /* per image */
    double (*c)[3];            /* per image */
    double (*X)[3];            /* per point in use */
    psfm_camera *cameras;      /* per camera */
    psfm_bundle_plane *planes; /* per plane */
    double (*plane_frame)[9];  /* per plane: rows b1, b2, n */
    double shape[2];
} psfm_bundle_values;

typedef struct {
    const psfm_bundle_problem *problem;
    psfm_bundle_options options;

    /* Observations in use, by (point, image); points in use by the first image that sees them. */
    uint32_t num_obs, num_points;
    uint32_t *obs_source, *obs_image, *obs_point;
    uint32_t *point_begin; /* num_points + 1 */
    uint32_t *point_source;
    uint32_t *point_plane; /* per point in use, or NONE */
    bool *point_fixed;     /* per point in use */
    uint32_t *image_begin; /* num_images + 1, into image_obs */
    uint32_t *image_obs;   /* observations of each image, ascending */
    uint32_t *plane_begin; /* num_planes + 1, into plane_points */
    uint32_t *plane_points;
    double (*plane_anchor)[3]; /* centroid of a plane's points at the start */
    double *obs_px2;           /* per observation, with soft planes: see psfm_bundle_px_per_unit */
    bool estimates_sigma;      /* soft planes, and not all have a sigma */

    /* Gauge. */
    psfm_image_state *image_state;
    uint32_t *scale_anchor; /* per image: the image that its fixed distance is from, or NONE */
    double *scale_distance; /* that distance */

    /* Blocks of the reduced system: poses, then intrinsics, then planes. */
    uint32_t num_pose_blocks, num_camera_blocks, num_plane_blocks;
    uint32_t *image_block, *camera_block, *plane_block; /* or NONE */
    uint32_t *block_source;                             /* image, camera or plane of a block */
    uint32_t *camera_images_begin, *camera_images;      /* images of each camera */
    uint32_t (*free_params)[PSFM_CAMERA_MAX_PARAMS];    /* per camera */
    uint32_t *num_free_params;
    double (*prior_value)[PSFM_CAMERA_MAX_PARAMS];  /* per camera and free parameter */
    double (*prior_weight)[PSFM_CAMERA_MAX_PARAMS]; /* inverse variance */
    uint32_t max_free_params;
    bool holds_cameras; /* they stay as the problem has them, whatever their priors */
    psfm_block_pattern pattern;
    psfm_block_spd *spd; /* or NULL, and conjugate gradients: */
    psfm_bundle_cg *cg;

    psfm_bundle_values now, trial;

    psfm_bundle_row *rows;
    double *camera_rows; /* per observation: 2 x max_free_params, by the intrinsics */
    psfm_bundle_system *systems;
    bool in_tiles;                     /* test hook: summed as a large system is */
    double *rhs, *step;                /* of the reduced system */
    double stretch;                    /* of the last step */
    psfm_bundle_tree *tree;            /* or NULL: not needed yet */
    bool along_tree;                   /* the trial values are taken along it */
    uint32_t tree_failures, tree_rest; /* in a row; steps until it is tried again */
    /* The border of the reduced system by the shape: columns, their product with its inverse, the
     * corner and its right-hand side, and the step. */
    double *border, *solved_border;
    double corner[4], corner_rhs[2], shape_step[2];
    double *partial; /* sums of the tasks, four each */
} psfm_bundle;

/* Checks the problem, selects what takes part, fixes the gauge and allocates. On failure the state
 * is empty. A problem with nothing to adjust has num_obs = 0. */
psfm_status psfm_bundle_setup(psfm_context *ctx, const psfm_bundle_problem *problem,
                              const psfm_bundle_options *options, psfm_bundle *b);
void psfm_bundle_teardown(psfm_bundle *b);

/* Checks shapes, indices and numbers only. */
psfm_status psfm_bundle_check(psfm_context *ctx, const psfm_bundle_problem *problem);

/* Which intrinsics move, and their priors. Part of the set-up. */
psfm_status psfm_bundle_select_intrinsics(psfm_context *ctx, psfm_bundle *b);

/* Numbers the blocks and finds which meet. Part of the set-up. */
psfm_status psfm_bundle_make_pattern(psfm_context *ctx, psfm_bundle *b);

/* Losses of a few residuals: a sum, and a product less 1 whose logarithm is a part of it. */
typedef struct {
    double plain, product;
} psfm_bundle_losses;

#define PSFM_BUNDLE_LARGE_PRODUCT 1e100 /* times another factor it is still a number */

/* Adds the loss of a squared residual and returns its derivative; and what all of them make. */
static inline double psfm_bundle_add_loss(const psfm_bundle_options *options, double squared,
                                          psfm_bundle_losses *sum) {
    const psfm_loss_kind kind = (psfm_loss_kind)options->loss;
    double scale2 = options->loss_scale_px * options->loss_scale_px;
    if (kind == PSFM_LOSS_CAUCHY) {
        double over = squared / scale2;
        sum->product += over + over * sum->product;
        if (sum->product > PSFM_BUNDLE_LARGE_PRODUCT) {
            sum->plain += scale2 * log1p(sum->product);
            sum->product = 0.0;
        }
    } else {
        sum->plain += psfm_rho(kind, squared, scale2);
    }
    return psfm_rho_weight(kind, squared, scale2);
}
double psfm_bundle_total_loss(const psfm_bundle_options *options, const psfm_bundle_losses *sum);

/* Fills rows and systems at the current values. */
psfm_status psfm_bundle_linearize(psfm_context *ctx, psfm_bundle *b, double *cost);

/* Half the sum of the squared differences of the intrinsics from their priors, in standard
 * deviations; and how much of it the step takes away by the linear model. */
typedef struct {
    double value, weight; /* the weight is an inverse variance */
} psfm_bundle_prior;

/* The prior of a camera's k-th free parameter. */
psfm_bundle_prior psfm_bundle_prior_of(const psfm_bundle *b, size_t c, uint32_t k);
double psfm_bundle_prior_cost(const psfm_bundle *b, const psfm_bundle_values *values);
double psfm_bundle_prior_decrease(const psfm_bundle *b);

/* Derivatives (2 x the number of free parameters) of the pixel xy of Y, in camera coordinates, by a
 * camera's intrinsics; and the trial values of these after a step. */
void psfm_bundle_camera_jacobian(const psfm_bundle *b, uint32_t camera_idx, const double Y[3],
                                 const double xy[2], double *J);
void psfm_bundle_move_camera(psfm_bundle *b, uint32_t camera, const double *d);

#define PSFM_BUNDLE_AHEAD 16

/* Asks the memory for what was measured of an observation some places after o: points in use are in
 * another order than the problem's. */
static inline void psfm_bundle_prefetch(const psfm_bundle *b, uint32_t o) {
    if (o + PSFM_BUNDLE_AHEAD >= b->num_obs)
        return;
    uint32_t source = b->obs_source[o + PSFM_BUNDLE_AHEAD];
    __builtin_prefetch(b->problem->obs_xy + source);
    if (b->problem->obs_sqrt_info != NULL)
        __builtin_prefetch(b->problem->obs_sqrt_info + source);
}

/* Residual S (projected - observed) of observation o at some values; false if it has none. */
bool psfm_bundle_residual(const psfm_bundle *b, const psfm_bundle_values *values, uint32_t o,
                          const double X[3], double r[2]);

/* Pixels that a scene unit covers at a point in use: the root of the sum over its observations of
 * obs_px2 over the squared distance from the camera. */
double psfm_bundle_px_per_unit(const psfm_bundle *b, const psfm_bundle_values *values, uint32_t p,
                               const double X[3]);

/* Adds minus the gradient by the centre of an image that a soft plane's pixels per unit give. */
void psfm_bundle_add_pull(const psfm_bundle *b, uint32_t o, double rhs[3]);

/* Signed distance of a point in use from its plane in units of the plane's sigma. */
double psfm_bundle_soft_residual(const psfm_bundle *b, const psfm_bundle_values *values, uint32_t p,
                                 const double X[3]);

/* Loose enough not to pull the cameras towards a plane that is none. */
#define PSFM_BUNDLE_START_SIGMA_PX 4.0

/* Scales of soft planes at the start, and their sigma re-estimated after an adjustment, from the
 * current linearisation. */
psfm_status psfm_bundle_weigh_planes(psfm_context *ctx, psfm_bundle *b);
psfm_status psfm_bundle_estimate_sigma(psfm_context *ctx, psfm_bundle *b, double most_px);

/* Mean and root mean square errors of all observations in use, in all and per image, and what
 * became of the images. */
psfm_status psfm_bundle_measure(psfm_context *ctx, const psfm_bundle *b, psfm_bundle_stats *stats);

/* Residuals minus unknowns. */
long long psfm_bundle_redundancy(const psfm_bundle *b);

/* Eliminates the points with damping lambda and factors the reduced system, or prepares conjugate
 * gradients. */
psfm_status psfm_bundle_reduce(psfm_context *ctx, psfm_bundle *b, double lambda);

/* Whether the blocks of the reduced system may be formed, once their number is known; then decides
 * on the solver and makes it. Part of the set-up. */
bool psfm_bundle_can_form(const psfm_bundle *b);
psfm_status psfm_bundle_make_solver(psfm_context *ctx, psfm_bundle *b);
/* Before the system is reduced for its inverse: a factor instead of conjugate gradients, if that is
 * cheaper for as many blocks as these would give. */
psfm_status psfm_bundle_prefer_factor(psfm_context *ctx, psfm_bundle *b);
/* Solves the system that was reduced last. */
psfm_status psfm_bundle_solve(psfm_context *ctx, psfm_bundle *b, const double *rhs, double *x);
/* The diagonal blocks first .. first + num - 1 of its inverse, block k at out + begin[k]; by
 * conjugate gradients a few of them, the others NAN. A factor uses the linearisation up: its memory
 * is needed. */
psfm_status psfm_bundle_inverse(psfm_context *ctx, psfm_bundle *b, uint32_t first, uint32_t num,
                                const size_t *begin, double *out);

psfm_status psfm_bundle_cg_create(psfm_context *ctx, const psfm_bundle *b, psfm_bundle_cg **out);
void psfm_bundle_cg_destroy(psfm_bundle_cg **cg);
/* Right-hand side and preconditioner of the system with damping lambda; points are damped. */
psfm_status psfm_bundle_cg_prepare(psfm_context *ctx, psfm_bundle *b, double lambda);
psfm_status psfm_bundle_cg_solve(psfm_context *ctx, psfm_bundle *b, const double *rhs, double *x);
/* Steps of all solutions so far. */
size_t psfm_bundle_cg_num_steps(const psfm_bundle_cg *cg);

typedef struct {
    double cost;      /* at the trial values */
    double predicted; /* decrease of the cost by the linear model */
    double moved;     /* step of the reduced system, squared, in the metric of its matrix: over the
                       * variance of a residual, the sum of squares of what it moves along each of
                       * its axes, in standard deviations */
} psfm_bundle_trial;

/* Solves the reduced system, moves everything by `stretch` times the step to the trial values and
 * evaluates them; where that does not lower `cost` as it should, along the tree as well, and the
 * better of both counts. */
psfm_status psfm_bundle_try_step(psfm_context *ctx, psfm_bundle *b, double cost, double stretch,
                                 psfm_bundle_trial *trial);

/* The same with a step of the points alone, from the current linearisation. */
psfm_status psfm_bundle_try_points(psfm_context *ctx, psfm_bundle *b, psfm_bundle_trial *trial);

psfm_status psfm_bundle_tree_create(psfm_context *ctx, const psfm_bundle *b,
                                    psfm_bundle_tree **out);
void psfm_bundle_tree_destroy(psfm_bundle_tree **tree);
/* From the trial values of the step to those along the tree: poses and planes, and the place X of a
 * point that moves. */
psfm_status psfm_bundle_tree_move(psfm_context *ctx, psfm_bundle *b);
void psfm_bundle_tree_carry(const psfm_bundle *b, uint32_t point, double X[3]);
/* Puts the trial centre of an image back to the distance that is fixed, if one is. */
void psfm_bundle_hold_distance(psfm_bundle *b, uint32_t image);

/* Whether a shape moves, and how far it takes a fixed point in use along x and y, a unit each. */
bool psfm_bundle_has_shape(const psfm_bundle *b);
void psfm_bundle_shape_move(const psfm_bundle *b, uint32_t point, double move[2]);

/* The border of the system that was reduced last, damped as that was; needs its factor. */
psfm_status psfm_bundle_reduce_shape(psfm_context *ctx, psfm_bundle *b, double lambda);

/* Turns the step of the reduced system without the shape into the one with it, and moves it. */
void psfm_bundle_step_shape(psfm_bundle *b);

/* The part of the shape's priors in the cost, and in its predicted decrease. */
double psfm_bundle_shape_cost(const psfm_bundle *b, const psfm_bundle_values *values);
double psfm_bundle_shape_decrease(const psfm_bundle *b);

/* The inverse of the corner that is left when all else is eliminated: the covariance of the shape
 * in units of the residuals' variance. Zero for what does not move. */
void psfm_bundle_shape_covariance(const psfm_bundle *b, double covariance[4]);

/* psfm_parallel_for, but inline where there is too little to do for threads to pay. */
psfm_status psfm_bundle_for(psfm_context *ctx, const psfm_bundle *b, size_t n, psfm_task_fn task,
                            void *user);

/* Frame of a plane: rows b1, b2, n. */
void psfm_bundle_plane_frame(const double normal[3], double frame[9]);

static inline size_t psfm_bundle_num_point_tasks(const psfm_bundle *b) {
    return (b->num_points + (size_t)PSFM_BUNDLE_POINTS_PER_TASK - 1) / PSFM_BUNDLE_POINTS_PER_TASK;
}

static inline uint32_t psfm_bundle_task_end(const psfm_bundle *b, size_t index) {
    size_t end = (index + 1) * PSFM_BUNDLE_POINTS_PER_TASK;
    return end < b->num_points ? (uint32_t)end : b->num_points;
}

/* y = A x for a packed symmetric 3 x 3 matrix. */
static inline void psfm_sym3_mul(const double A[6], const double x[3], double y[3]) {
    double y0 = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
    double y1 = A[1] * x[0] + A[3] * x[1] + A[4] * x[2];
    double y2 = A[2] * x[0] + A[4] * x[1] + A[5] * x[2];
    y[0] = y0;
    y[1] = y1;
    y[2] = y2;
}

#endif

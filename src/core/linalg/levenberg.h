/* The method of Levenberg and Marquardt, for problems that solve their own damped equations. */
#ifndef PSFM_LINALG_LEVENBERG_H
#define PSFM_LINALG_LEVENBERG_H

#include <math.h>
#include <stdbool.h>

#include "core/base/context.h"

/* What becomes of a damping d: max(d times / over, least). A fifth is 1 / 5: as one factor it would
 * be rounded. */
typedef struct {
    double times, over, least;
} psfm_damping_rule;

typedef struct {
    double most; /* steps that are damped as much are not tried */
    psfm_damping_rule lowered,
        failed;                 /* after a step that lowers the cost, and one that does not */
    psfm_damping_rule unsolved; /* and after equations without a step */
} psfm_damping;

/* For few parameters that start well: up quickly, and equations without a step are the end. For
 * many that start anywhere: up until a step is good. */
extern const psfm_damping psfm_light_damping, psfm_patient_damping;

/* Gauss and Newton's method with halved steps: a damping is what a step is divided by, 1 at first
 * and then 2, 4, ... up to so many times. */
#define PSFM_HALVED_STEPS(max_halvings)                          \
    {                                                            \
        2 << (max_halvings), {0.0, 1.0, 1.0}, {2.0, 1.0, 0.0}, { \
            INFINITY, 1.0, 0.0                                   \
        }                                                        \
    }

/* A problem. It holds values, and those of the step tried last. */
typedef struct {
    void *user;
    double start; /* damping of the first step */
    const psfm_damping *damping;
    /* Solves the equations at its values under a damping, and finds the cost where the step leads
     * to. PSFM_ERR_NUMERIC if there is no step, or none worth trying. */
    psfm_status (*attempt)(psfm_context *ctx, void *user, double damping, double *cost);
    /* Takes the values tried last over, which lowered the cost from `before` to `after`. Returns
     * whether that is so little that no step need follow. */
    bool (*accept)(void *user, double before, double after);
} psfm_descent;

/* Tries at most max_trials steps, accepts those that lower the cost, and returns the last cost. For
 * problems whose equations at a step come with its cost; `cost` is that of the start. */
double psfm_descend(const psfm_descent *d, int max_trials, double cost);

/* A loss whose scale follows the residuals, first loosely and then tightly: a start is rough, and
 * what does not belong must not count in the end. */
typedef struct {
    int max_iterations;
    int max_trials;         /* steps that are tried in each */
    double loose_tolerance; /* relative decrease that ends the loose loss; 0: it is left out */
    double tolerance;       /* and the tight one */
    /* Sets the scale, finds the cost and the equations. */
    psfm_status (*linearize)(psfm_context *ctx, void *user, bool is_loose, double *cost);
} psfm_robust_descent;

psfm_status psfm_descend_robustly(psfm_context *ctx, const psfm_descent *d,
                                  const psfm_robust_descent *plan);

#endif

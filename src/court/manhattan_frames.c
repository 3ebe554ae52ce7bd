/* A segment and the camera's centre span a plane with unit normal n; the segment is along direction
 * d of the world if n . d = 0. Seen from the segment's middle m (a unit ray), the angle between the
 * segment and the way to the vanishing point of d has the sine |n . d| / |m x d|, whatever the
 * lens: that is what is compared with a tolerance.
 *
 * Frames are drawn from three segments each: two that are along one axis, and a third along a
 * second one, which is then fixed up to its sign. The best are refined on all segments that agree.
 */
#include "court/manhattan_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/rng.h"
#include "core/linalg/least_squares.h"
#include "core/linalg/loss.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

#define MAX_SEGMENTS 1000 /* the longest; more add time only */
#define DRAWS 3000        /* frames drawn with a known focal length */
#define FREE_DRAWS 1000   /* with each focal length of a search */
#define FREE_PER_FOCAL 4  /* frames taken on from each */
#define FREE_STEP 0.1     /* of the logarithm of the focal length */
#define MIN_FOCAL 0.3     /* shares of the image's larger side */
#define MAX_FOCAL 2.0
#define MAX_WEIGHT 150.0      /* pixels; longer segments count like this */
#define ANGLE_TOLERANCE 0.014 /* radians, and one pixel over the segment's length more */
#define MIN_UP 0.5            /* the vertical's share along the image's */
#define FLOATS 8              /* values of a segment: normal, middle, weight, squared tolerance */
#define MAX_ROUNDS 12
#define SAME_FRAME 0.0175 /* radians */

/* The segments as one camera sees them; a column of floats per value, for vectors. */
typedef struct {
    const psfm_segments *segments;
    size_t num;
    double fx, fy, cx, cy;
    float *memory;
    float *n[3], *m[3], *weight, *tolerance2;
    double *draw; /* running sums of the probabilities */
    psfm_rng rng;
} segment_view;

/* ---- segments ---- */

static void ray_of(const segment_view *s, const double at[2], double ray[3]) {
    ray[0] = (at[0] - s->cx) / s->fx;
    ray[1] = (at[1] - s->cy) / s->fy;
    ray[2] = 1.0;
    psfm_normalize3(ray);
}

/* Looks at the segments through focal lengths `focal` times the camera's. */
static void set_focal(segment_view *s, const psfm_camera *camera, double focal) {
    s->fx = focal * camera->params[0];
    s->fy = focal * camera->params[1];
    s->cx = camera->params[2];
    s->cy = camera->params[3];
    for (size_t k = 0; k < s->num; ++k) {
        const psfm_segment *g = &s->segments->items[k];
        double a[3], b[3], n[3], middle[2], m[3];
        for (int d = 0; d < 2; ++d)
            middle[d] = 0.5 * (g->a[d] + g->b[d]);
        ray_of(s, g->a, a);
        ray_of(s, g->b, b);
        ray_of(s, middle, m);
        psfm_cross3(a, b, n);
        psfm_normalize3(n);
        for (int d = 0; d < 3; ++d) {
            s->n[d][k] = (float)n[d];
            s->m[d][k] = (float)m[d];
        }
    }
}

static psfm_status open_view(psfm_context *ctx, const psfm_segments *segments, segment_view *s) {
    s->segments = segments;
    s->num = segments->num < MAX_SEGMENTS ? segments->num : MAX_SEGMENTS;
    psfm_status status = PSFM_ALLOC(ctx, FLOATS * s->num, &s->memory);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, s->num, &s->draw);
    if (status != PSFM_OK)
        return status;
    for (int d = 0; d < 3; ++d) {
        s->n[d] = s->memory + (size_t)d * s->num;
        s->m[d] = s->memory + (size_t)(d + 3) * s->num;
    }
    s->weight = s->memory + 6 * s->num;
    s->tolerance2 = s->memory + 7 * s->num;
    double sum = 0.0;
    for (size_t k = 0; k < s->num; ++k) {
        double length = segments->items[k].length, weight = fmin(length, MAX_WEIGHT);
        double tolerance = ANGLE_TOLERANCE + 1.0 / length;
        s->weight[k] = (float)weight;
        s->tolerance2[k] = (float)(tolerance * tolerance);
        s->draw[k] = sum += weight * sqrt(weight);
    }
    return PSFM_OK;
}

/* A sum that is not above the drawn place comes before it. */
static int compare_sum(const void *sum, const void *at) {
    return *(const double *)sum > *(const double *)at ? 1 : -1;
}

static size_t draw_segment(const segment_view *s, psfm_rng *rng) {
    double at = psfm_rng_uniform(rng) * s->draw[s->num - 1];
    return psfm_lower_bound(&at, s->draw, s->num - 1, sizeof at, compare_sum);
}

/* ---- frames ---- */

/* Weighted number of segments along one of the columns of R. */
static double count_support(const segment_view *s, const double R[9]) {
    float r[9], sum = 0.0F;
    for (int k = 0; k < 9; ++k)
        r[k] = (float)R[k];
    for (size_t k = 0; k < s->num; ++k) {
        float best = 1e9F;
        for (int a = 0; a < 3; ++a) {
            float n = s->n[0][k] * r[a] + s->n[1][k] * r[3 + a] + s->n[2][k] * r[6 + a];
            float m = s->m[0][k] * r[a] + s->m[1][k] * r[3 + a] + s->m[2][k] * r[6 + a];
            float sine2 = n * n / (1.0F - m * m + 1e-6F);
            best = sine2 < best ? sine2 : best;
        }
        float share = 1.0F - best / s->tolerance2[k];
        sum += share > 0.0F ? share * s->weight[k] : 0.0F;
    }
    return (double)sum;
}

/* Makes a frame of three perpendicular directions (rows of F); false if none of them is up. */
static bool make_upright(double F[9], double R[9]) {
    int up = 0;
    for (int k = 1; k < 3; ++k)
        if (fabs(F[3 * k + 1]) > fabs(F[3 * up + 1]))
            up = k;
    if (fabs(F[3 * up + 1]) < MIN_UP)
        return false;
    double z[3], y[3], *x = F + 3 * ((up + 1) % 3);
    psfm_scale3(F[3 * up + 1] > 0.0 ? -1.0 : 1.0, F + 3 * up, z); /* the image's y is down */
    psfm_cross3(z, x, y);
    for (int d = 0; d < 3; ++d) {
        R[3 * d] = x[d];
        R[3 * d + 1] = y[d];
        R[3 * d + 2] = z[d];
    }
    return true;
}

static bool draw_frame(const segment_view *s, psfm_rng *rng, double R[9]) {
    double n[3][3], F[9];
    for (int k = 0; k < 3; ++k) {
        size_t at = draw_segment(s, rng);
        for (int d = 0; d < 3; ++d)
            n[k][d] = (double)s->n[d][at];
    }
    psfm_cross3(n[0], n[1], F);
    if (psfm_normalize3(F) < 0.02) /* the same line, or nearly */
        return false;
    psfm_cross3(F, n[2], F + 3);
    if (psfm_normalize3(F + 3) < 0.05) /* the third lies across it, along any second one */
        return false;
    psfm_cross3(F, F + 3, F + 6);
    return make_upright(F, R);
}

double psfm_court_frame_angle(const double R1[9], const double R2[9]) {
    double best = INFINITY, M[9];
    for (int quarters = 0; quarters < 4; ++quarters) {
        static const double c[4] = {1, 0, -1, 0}, t[4] = {0, 1, 0, -1};
        for (int d = 0; d < 3; ++d) {
            M[3 * d] = c[quarters] * R2[3 * d] + t[quarters] * R2[3 * d + 1];
            M[3 * d + 1] = -t[quarters] * R2[3 * d] + c[quarters] * R2[3 * d + 1];
            M[3 * d + 2] = R2[3 * d + 2];
        }
        best = fmin(best, psfm_rotation_angle(R1, M));
    }
    return best;
}

static bool is_same_frame(const psfm_court_frame *a, const psfm_court_frame *b, double focal_step) {
    return fabs(log(a->focal / b->focal)) <= focal_step &&
           psfm_court_frame_angle(a->R, b->R) <= SAME_FRAME;
}

/* Puts a frame into a list of the best, most support first; of frames that are the same, within
 * focal_step of log focal length, the better stays. */
static void insert_frame(psfm_court_frame *list, size_t *num, size_t max,
                         const psfm_court_frame *frame, double focal_step) {
    size_t at = 0, kept;
    while (at < *num && list[at].support >= frame->support) {
        if (is_same_frame(&list[at], frame, focal_step))
            return;
        ++at;
    }
    kept = at;
    for (size_t k = at; k < *num; ++k)
        if (!is_same_frame(&list[k], frame, focal_step))
            list[kept++] = list[k];
    if (at >= max)
        return;
    kept = kept < max ? kept : max - 1;
    memmove(list + at + 1, list + at, (kept - at) * sizeof *list);
    list[at] = *frame;
    *num = kept + 1;
}

/* ---- refinement ---- */

/* Adds the equation of one segment: how n . d changes with a turn of the frame and, if asked for,
 * with the logarithm of the focal length. */
static void add_equation(const double n[3], const double d[3], double focal_part, double weight,
                         int size, double *H, double *g) {
    double J[4], r = psfm_dot3(n, d);
    psfm_cross3(d, n, J);
    J[3] = focal_part;
    for (int i = 0; i < size; ++i) {
        g[i] -= weight * J[i] * r;
        for (int j = 0; j <= i; ++j)
            H[i * size + j] += weight * J[i] * J[j];
    }
}

/* One step of least squares on the segments that agree, within `wide` times the tolerance. */
static bool step_frame(const segment_view *s, double wide, int size, double R[9], double step[4]) {
    double H[16] = {0}, g[4] = {0};
    int count = 0;
    for (size_t k = 0; k < s->num; ++k) {
        double n[3], m[3], axis[3] = {0}, best = INFINITY;
        for (int d = 0; d < 3; ++d) {
            n[d] = (double)s->n[d][k];
            m[d] = (double)s->m[d][k];
        }
        for (int a = 0; a < 3; ++a) {
            double d[3] = {R[a], R[3 + a], R[6 + a]}, nd = psfm_dot3(n, d), md = psfm_dot3(m, d);
            double sine2 = nd * nd / (1.0 - md * md + 1e-6);
            if (sine2 < best) {
                best = sine2;
                memcpy(axis, d, sizeof axis);
            }
        }
        double share = psfm_tukey_weight(best, wide * wide * (double)s->tolerance2[k]);
        if (!(share > 0.0))
            continue;
        /* with the focal length the normal goes as (f nx, f ny, nz), scaled to length 1 */
        double part =
            n[0] * axis[0] + n[1] * axis[1] - (n[0] * n[0] + n[1] * n[1]) * psfm_dot3(n, axis);
        double weight = share * (double)s->weight[k] * s->segments->items[k].length;
        add_equation(n, axis, part, weight, size, H, g);
        ++count;
    }
    for (int i = 0; i < size; ++i)
        H[i * size + i] = H[i * size + i] * (size == 4 ? 1.001 : 1.0) + 1e-9;
    if (count < 2 * size || !psfm_solve_spd(H, size, g))
        return false;
    memcpy(step, g, (size_t)size * sizeof *g);
    return true;
}

static void refine_frame(segment_view *s, const psfm_camera *camera, bool free_focal,
                         psfm_court_frame *frame) {
    int size = free_focal ? 4 : 3;
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        double step[4] = {0}, turn[9], R[9];
        if (!step_frame(s, round < MAX_ROUNDS / 2 ? 2.0 : 1.0, size, frame->R, step))
            break;
        psfm_rotation_exp(step, turn);
        psfm_mat3_mul(turn, frame->R, R);
        memcpy(frame->R, R, sizeof R);
        if (free_focal) {
            frame->focal *= exp(fmin(fmax(step[3], -0.05), 0.05));
            set_focal(s, camera, frame->focal);
        }
        if (psfm_norm3(step) < 1e-6 && fabs(step[3]) < 1e-5 && round >= MAX_ROUNDS / 2)
            break;
    }
    frame->support = count_support(s, frame->R);
}

/* ---- search ---- */

/* The best frames at one focal length, not refined. */
static void search_frames(segment_view *s, const psfm_camera *camera, double focal, int draws,
                          psfm_court_frame *best, size_t *num, size_t max) {
    set_focal(s, camera, focal);
    for (int k = 0; k < draws; ++k) {
        psfm_court_frame frame = {.focal = focal};
        if (!draw_frame(s, &s->rng, frame.R))
            continue;
        frame.support = count_support(s, frame.R);
        if (*num < max || frame.support > best[*num - 1].support)
            insert_frame(best, num, max, &frame, 1.0);
    }
}

static void find_known(segment_view *s, const psfm_camera *camera, size_t max,
                       psfm_court_frame *frames, size_t *num) {
    enum { DRAWN = 16 };
    psfm_court_frame drawn[DRAWN];
    size_t num_drawn = 0;
    search_frames(s, camera, 1.0, DRAWS, drawn, &num_drawn, DRAWN);
    for (size_t k = 0; k < num_drawn; ++k) {
        refine_frame(s, camera, false, &drawn[k]);
        insert_frame(frames, num, max, &drawn[k], 1.0);
    }
}

static void find_free(segment_view *s, const psfm_camera *camera, size_t max,
                      psfm_court_frame *frames, size_t *num) {
    double side = (double)(camera->width > camera->height ? camera->width : camera->height);
    double low = MIN_FOCAL * side / camera->params[0], high = MAX_FOCAL * side / camera->params[0];
    int num_steps = (int)ceil(log(high / low) / FREE_STEP);
    for (int step = 0; step < num_steps; ++step) {
        double focal = low * exp(step * FREE_STEP);
        psfm_court_frame drawn[FREE_PER_FOCAL];
        size_t num_drawn = 0;
        search_frames(s, camera, focal, FREE_DRAWS, drawn, &num_drawn, FREE_PER_FOCAL);
        for (size_t k = 0; k < num_drawn; ++k) {
            refine_frame(s, camera, false, &drawn[k]);
            insert_frame(frames, num, max, &drawn[k], 0.03);
            refine_frame(s, camera, true, &drawn[k]);
            if (drawn[k].focal > low && drawn[k].focal < high)
                insert_frame(frames, num, max, &drawn[k], 0.03);
            set_focal(s, camera, focal);
        }
    }
}

psfm_status psfm_court_frames_find(psfm_context *ctx, const psfm_segments *segments,
                                   const psfm_camera *camera, bool free_focal, size_t max_frames,
                                   psfm_court_frame *frames, size_t *num_frames) {
    segment_view s = {.rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_COURT, 0, 0)};
    *num_frames = 0;
    if (segments->num < 3)
        return PSFM_OK;
    psfm_status status = open_view(ctx, segments, &s);
    if (status == PSFM_OK && free_focal)
        find_free(&s, camera, max_frames, frames, num_frames);
    else if (status == PSFM_OK)
        find_known(&s, camera, max_frames, frames, num_frames);
    free(s.memory);
    free(s.draw);
    return status;
}

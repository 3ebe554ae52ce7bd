/* Rounds of aligning and refitting.
 *
 * A homography of keypoints is good to a pixel or two where its inliers are, and worse elsewhere.
 * The first round aligns corners near the inliers, coarse to fine; the homography is refitted to
 * what was found, and the next rounds start from there, within a smaller distance and over a
 * region that grows by the points that were found on the plane. Whatever is not on the plane, a
 * person or a reflection, fails the correlation, the way back or the fit: each patch is checked on
 * its own. */
#include "images/photometric/pair_planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "images/photometric/plane_fit.h"

/* A region of an image as marked squares of a grid, grown by whole squares round points. */
typedef struct {
    int columns, rows, size; /* squares of `size` pixels */
    uint8_t *on;             /* owned */
} plane_region;

/* An empty region of an image of width x height pixels. */
static psfm_status init_region(psfm_context *ctx, int width, int height, int size,
                               plane_region *region) {
    *region = (plane_region){.columns = width / size + 1, .rows = height / size + 1, .size = size};
    return PSFM_ALLOC(ctx, (size_t)region->columns * (size_t)region->rows, &region->on);
}

static void free_region(plane_region *region) {
    free(region->on);
    *region = (plane_region){0};
}

/* The square of a point; false if there is none. */
static bool find_square(const plane_region *region, const double xy[2], int *column, int *row) {
    double x = floor(xy[0] / region->size), y = floor(xy[1] / region->size);
    if (!(x >= 0.0 && y >= 0.0 && x < region->columns && y < region->rows))
        return false;
    *column = (int)x;
    *row = (int)y;
    return true;
}

static int at_most(int value, int limit) {
    return value < limit ? value : limit;
}

/* Adds the square of a point and those up to `reach` squares from it. Points outside are ignored.
 */
static void add_to_region(plane_region *region, const double xy[2], int reach) {
    int column, row;
    if (!find_square(region, xy, &column, &row))
        return;
    for (int y = row > reach ? row - reach : 0; y <= at_most(row + reach, region->rows - 1); ++y)
        for (int x = column > reach ? column - reach : 0;
             x <= at_most(column + reach, region->columns - 1); ++x)
            region->on[(size_t)y * (size_t)region->columns + (size_t)x] = 1;
}

static bool is_in_region(const plane_region *region, const double xy[2]) {
    int column, row;
    return find_square(region, xy, &column, &row) &&
           region->on[(size_t)row * (size_t)region->columns + (size_t)column] != 0;
}

static const psfm_option rows[] = {
    PSFM_OPTION_INT(psfm_pair_plane_options, corners, "corners", 600, 10, 1000000,
                    "corners of a photograph: one in each square of a grid of so many"),
    PSFM_OPTION_DOUBLE(psfm_pair_plane_options, max_error_px, "max-error-px", 0.7, 0.01, 100.0,
                       "distance of an aligned patch from the refitted homography, in pixels"),
    PSFM_OPTION_INT(psfm_pair_plane_options, min_matches, "min-matches", 60, 8, 100000,
                    "a plane with fewer aligned patches keeps its keypoints"),
};
const psfm_option_table psfm_pair_plane_option_table = PSFM_OPTION_TABLE("photo-plane", rows);

/* Of aligning patches and refitting: one from coarse to fine, one, and one there and back. */
#define ROUNDS 3
#define MAX_SHIFT_PX 6.0    /* from where the raw homography puts a patch; half of it each round */
#define MIN_FLAT_SHARE 0.75 /* of the aligned patches, on the plane, see is_flat */
#define SQUARE 32           /* pixels; a plane grows by squares, */
#define GROW 2              /* so many in a round */
#define EARLY_SHARE 0.6     /* of MIN_FLAT_SHARE, before the last round: no way back yet */
#define EARLY_STRIDE 3      /* rounds before the last take one corner in so many */
#define MAX_SIGMAS 4.0      /* of a match from the refitted homography */
#define MIN_KEPT_SHARE 0.8  /* of the raw inliers, that must agree with the refitted homography */
#define RAW_ERROR_PX 4.0
#define MAX_FLAT_SPREAD 0.5 /* rms of matches over the largest error; 0.7 if they spread evenly */

/* What a corner of one side is at the moment. */
typedef struct {
    psfm_patch_match found;
    uint32_t plane; /* UINT32_MAX: on none */
} trial;

typedef struct {
    psfm_patch_aligner *aligner;
    const psfm_pair_side *sides;
    const psfm_raw_plane *raw;
    size_t num_planes;
    const psfm_pair_plane_options *options;
    psfm_refined_plane *planes; /* the result's */
    double (*H_12)[9];
    plane_region *regions;    /* per plane and side */
    trial *trials[2];         /* per side and corner */
    psfm_plane_point *points; /* of the plane being fitted */
    trial **source;           /* of each point */
    psfm_plane_fitted fit;    /* of that plane */
    psfm_rng rng;
} refinement;

static psfm_status begin_refinement(psfm_context *ctx, refinement *r) {
    psfm_status status;
    size_t total = r->sides[0].num_corners + r->sides[1].num_corners;
    if ((status = PSFM_ALLOC(ctx, r->num_planes, &r->H_12)) ||
        (status = PSFM_ALLOC(ctx, 2 * r->num_planes, &r->regions)) ||
        (status = PSFM_ALLOC(ctx, total, &r->points)) ||
        (status = PSFM_ALLOC(ctx, total, &r->source)) ||
        (status = PSFM_ALLOC(ctx, total, &r->fit.error_px)) ||
        (status = PSFM_ALLOC(ctx, total, &r->fit.sigmas)))
        return status;
    for (int s = 0; s < 2; ++s)
        if ((status = PSFM_ALLOC(ctx, r->sides[s].num_corners, &r->trials[s])))
            return status;
    for (size_t p = 0; p < r->num_planes; ++p) {
        memset(&r->planes[p], 0, sizeof *r->planes);
        memcpy(r->planes[p].H_21, r->raw[p].H_21, sizeof r->raw[p].H_21);
        for (size_t s = 0; s < 2; ++s) {
            const psfm_pyramid_level *image = &r->sides[s].view.photo->levels[0];
            plane_region *region = &r->regions[2 * p + s];
            if ((status = init_region(ctx, image->width, image->height, SQUARE, region)))
                return status;
            for (size_t k = 0; k < r->raw[p].num_inliers; ++k)
                add_to_region(region, s == 0 ? r->raw[p].xy1[k] : r->raw[p].xy2[k], GROW);
        }
    }
    return PSFM_OK;
}

static void finish_refinement(refinement *r) {
    for (size_t k = 0; r->regions != NULL && k < 2 * r->num_planes; ++k)
        free_region(&r->regions[k]);
    free(r->regions);
    free(r->H_12);
    free(r->trials[0]);
    free(r->trials[1]);
    free(r->points);
    free((void *)r->source);
    free(r->fit.error_px);
    free(r->fit.sigmas);
}

/* Aligns one corner under the planes in whose regions it is; the likest wins. */
static void try_corner(refinement *r, size_t side, size_t corner, int round, trial *t) {
    const psfm_corner *c = &r->sides[side].corners[corner];
    const double xy[2] = {(double)c->x, (double)c->y};
    double max_shift = fmax(MAX_SHIFT_PX / (1 << round), 1.5);
    t->plane = UINT32_MAX;
    t->found = (psfm_patch_match){.outcome = PSFM_NUM_PATCH_OUTCOMES};
    for (size_t p = 0; p < r->num_planes; ++p) {
        if (!is_in_region(&r->regions[2 * p + side], xy))
            continue;
        psfm_patch_match m;
        const double *H_21 = r->planes[p].H_21, *H_12 = r->H_12[p];
        bool last = round + 1 == ROUNDS;
        const psfm_patch_query query = {.view1 = r->sides[side].view,
                                        .view2 = r->sides[1 - side].view,
                                        .xy1 = {xy[0], xy[1]},
                                        .H_21 = side == 0 ? H_21 : H_12,
                                        .H_12 = !last ? NULL : (side == 0 ? H_12 : H_21),
                                        .max_shift = max_shift,
                                        .coarse_levels = round == 0 ? 1 : 0};
        psfm_patch_align(r->aligner, &query, &m);
        bool better = m.outcome == PSFM_PATCH_ALIGNED
                          ? t->plane == UINT32_MAX || m.ncc > t->found.ncc
                          : t->plane == UINT32_MAX;
        if (!better)
            continue;
        t->found = m;
        if (m.outcome == PSFM_PATCH_ALIGNED)
            t->plane = (uint32_t)p;
    }
}

static void align_corners(refinement *r, int round) {
    for (size_t p = 0; p < r->num_planes; ++p)
        if (!psfm_mat3_inverse(r->planes[p].H_21, r->H_12[p]))
            memset(r->H_12[p], 0, sizeof r->H_12[p]);
    size_t stride = round + 1 < ROUNDS ? EARLY_STRIDE : 1;
    for (size_t s = 0; s < 2; ++s) {
        for (size_t k = 0; k < r->sides[s].num_corners; ++k) {
            if ((k + (size_t)round) % stride == 0)
                try_corner(r, s, k, round, &r->trials[s][k]);
            else
                r->trials[s][k] =
                    (trial){.found.outcome = PSFM_NUM_PATCH_OUTCOMES, .plane = UINT32_MAX};
        }
    }
}

/* The aligned corners of a plane as points. */
static size_t collect_points(refinement *r, size_t plane) {
    size_t num = 0;
    for (int s = 0; s < 2; ++s) {
        for (size_t k = 0; k < r->sides[s].num_corners; ++k) {
            trial *t = &r->trials[s][k];
            if (t->plane != plane)
                continue;
            const psfm_corner *c = &r->sides[s].corners[k];
            psfm_plane_point *p = &r->points[num];
            double *corner = s == 0 ? p->xy1 : p->xy2, *found = s == 0 ? p->xy2 : p->xy1;
            corner[0] = (double)c->x;
            corner[1] = (double)c->y;
            memcpy(found, t->found.xy2, sizeof t->found.xy2);
            memcpy(p->cov, t->found.cov2, sizeof p->cov);
            p->found = 1 - s;
            r->source[num++] = t;
        }
    }
    return num;
}

/* Whether the keypoints still agree with a refitted homography. */
static bool keypoints_agree(const refinement *r, size_t plane) {
    const psfm_raw_plane *raw = &r->raw[plane];
    size_t before = 0, after = 0;
    for (size_t k = 0; k < raw->num_inliers; ++k) {
        double ray[3], to[3], xy[2];
        if (!psfm_camera_unproject(r->sides[0].view.camera, raw->xy1[k], ray))
            continue;
        for (int which = 0; which < 2; ++which) {
            psfm_mat3_mul_vec(which == 0 ? raw->H_21 : r->planes[plane].H_21, ray, to);
            if (psfm_camera_project(r->sides[1].view.camera, to, xy) &&
                hypot(xy[0] - raw->xy2[k][0], xy[1] - raw->xy2[k][1]) <= RAW_ERROR_PX)
                ++*(which == 0 ? &before : &after);
        }
    }
    return (double)after >= MIN_KEPT_SHARE * (double)before;
}

/* Keeps the points that agree with the fit, lets the regions grow, and fills the plane's facts. */
static void keep_points(refinement *r, size_t plane, size_t num, psfm_pair_plane_stats *stats) {
    psfm_refined_plane *out = &r->planes[plane];
    double sum = 0.0, scale = r->fit.scale;
    out->num_matches = 0;
    for (size_t k = 0; k < num; ++k) {
        trial *t = r->source[k];
        if (!(r->fit.error_px[k] <= r->options->max_error_px &&
              r->fit.sigmas[k] <= MAX_SIGMAS * scale)) {
            t->plane = UINT32_MAX;
            ++stats->num_off_plane;
            continue;
        }
        for (int c = 0; c < 3; ++c)
            t->found.cov2[c] *= scale * scale;
        sum += r->fit.error_px[k] * r->fit.error_px[k];
        ++out->num_matches;
        add_to_region(&r->regions[2 * plane], r->points[k].xy1, GROW);
        add_to_region(&r->regions[2 * plane + 1], r->points[k].xy2, GROW);
    }
    out->rms_px = out->num_matches > 0 ? sqrt(sum / (double)out->num_matches) : 0.0;
}

/* Whether what was aligned lies in a plane, rather than a plane passing through it: relief spreads
 * the patches about the plane as far as they are allowed, and each is seen under another slope. */
static bool is_flat(const refinement *r, const psfm_refined_plane *plane, size_t num_aligned,
                    bool last) {
    double share = MIN_FLAT_SHARE * (last ? 1.0 : EARLY_SHARE);
    return (double)plane->num_matches >= share * (double)num_aligned &&
           plane->rms_px <= MAX_FLAT_SPREAD * r->options->max_error_px;
}

/* Refits one plane to its aligned corners; gives it up if they do not carry it. */
static psfm_status refit_plane(psfm_context *ctx, refinement *r, size_t plane, bool last,
                               psfm_pair_plane_stats *stats) {
    psfm_refined_plane *out = &r->planes[plane];
    size_t num = collect_points(r, plane);
    const psfm_plane_points points = {{r->sides[0].view.camera, r->sides[1].view.camera},
                                      r->points,
                                      num,
                                      r->options->max_error_px};
    size_t enough =
        (size_t)(last ? r->options->min_matches : r->options->min_matches / EARLY_STRIDE);
    psfm_status status = PSFM_OK;
    out->num_matches = 0;
    r->fit.fitted = false;
    memcpy(r->fit.H_21, out->H_21, sizeof out->H_21);
    if (num >= enough)
        status = psfm_plane_fit(ctx, &points, &r->rng, &r->fit);
    if (status != PSFM_OK)
        return status;
    memcpy(out->H_21, r->fit.H_21, sizeof out->H_21);
    if (r->fit.fitted)
        keep_points(r, plane, num, stats);
    out->refined = r->fit.fitted && out->num_matches >= enough && is_flat(r, out, num, last) &&
                   keypoints_agree(r, plane);
    if (!out->refined) {
        memcpy(out->H_21, r->raw[plane].H_21, sizeof out->H_21);
        for (size_t k = 0; k < num; ++k)
            r->source[k]->plane = UINT32_MAX;
        out->num_matches = 0;
    }
    return PSFM_OK;
}

/* A plane that failed twice is not tried again. */
static void give_up(refinement *r, size_t plane) {
    for (size_t s = 0; s < 2; ++s) {
        plane_region *region = &r->regions[2 * plane + s];
        memset(region->on, 0, (size_t)region->columns * (size_t)region->rows);
    }
}

static void count_outcomes(const refinement *r, psfm_pair_plane_stats *stats) {
    for (int s = 0; s < 2; ++s) {
        for (size_t k = 0; k < r->sides[s].num_corners; ++k) {
            psfm_patch_outcome outcome = r->trials[s][k].found.outcome;
            if (outcome == PSFM_NUM_PATCH_OUTCOMES) /* in no region */
                continue;
            ++stats->num_tried;
            ++stats->outcomes[outcome];
        }
    }
}

static double raw_shift(const refinement *r, size_t side, size_t corner, const trial *t) {
    const psfm_corner *c = &r->sides[side].corners[corner];
    const double xy[2] = {(double)c->x, (double)c->y};
    double H_12[9], ray[3], to[3], at[2];
    const double *H = r->raw[t->plane].H_21;
    if (side == 1) {
        if (!psfm_mat3_inverse(H, H_12))
            return 0.0;
        H = H_12;
    }
    if (!psfm_camera_unproject(r->sides[side].view.camera, xy, ray))
        return 0.0;
    psfm_mat3_mul_vec(H, ray, to);
    if (!psfm_camera_project(r->sides[1 - side].view.camera, to, at))
        return 0.0;
    return hypot(t->found.xy2[0] - at[0], t->found.xy2[1] - at[1]);
}

static psfm_status list_matches(psfm_context *ctx, const refinement *r, psfm_pair_refined *out) {
    size_t total = 0;
    for (size_t p = 0; p < r->num_planes; ++p)
        total += r->planes[p].num_matches;
    psfm_status status = PSFM_ALLOC(ctx, total, &out->matches);
    if (status != PSFM_OK)
        return status;
    for (size_t s = 0; s < 2; ++s) {
        for (size_t k = 0; k < r->sides[s].num_corners; ++k) {
            const trial *t = &r->trials[s][k];
            if (t->plane == UINT32_MAX)
                continue;
            psfm_pair_match *m = &out->matches[out->num_matches++];
            *m = (psfm_pair_match){.plane = t->plane, .corner = (uint32_t)k, .side = (int)s};
            memcpy(m->xy, t->found.xy2, sizeof m->xy);
            memcpy(m->cov, t->found.cov2, sizeof m->cov);
            m->shift_px = raw_shift(r, s, k, t);
        }
    }
    return PSFM_OK;
}

psfm_status psfm_pair_planes_refine(psfm_context *ctx, psfm_patch_aligner *aligner,
                                    const psfm_pair_photos *pair,
                                    const psfm_pair_plane_options *options,
                                    psfm_pair_refined *out) {
    *out = (psfm_pair_refined){0};
    psfm_status status = PSFM_ALLOC(ctx, pair->num_planes, &out->planes);
    if (status != PSFM_OK)
        return status;
    refinement r = {.aligner = aligner,
                    .sides = pair->sides,
                    .raw = pair->raw,
                    .num_planes = pair->num_planes,
                    .options = options,
                    .planes = out->planes,
                    .rng = psfm_rng_make(psfm_context_seed(ctx), PSFM_RNG_PHOTO, pair->stream[0],
                                         pair->stream[1])};
    status = begin_refinement(ctx, &r);
    for (int round = 0; status == PSFM_OK && round < ROUNDS; ++round) {
        psfm_pair_plane_stats scratch = {0};
        bool last = round + 1 == ROUNDS;
        align_corners(&r, round);
        for (size_t p = 0; status == PSFM_OK && p < r.num_planes; ++p) {
            status = refit_plane(ctx, &r, p, last, last ? &out->stats : &scratch);
            if (round > 0 && !r.planes[p].refined)
                give_up(&r, p);
        }
    }
    if (status == PSFM_OK) {
        count_outcomes(&r, &out->stats);
        for (size_t p = 0; p < r.num_planes; ++p)
            ++*(r.planes[p].refined ? &out->stats.num_refined_planes : &out->stats.num_raw_planes);
        status = list_matches(ctx, &r, out);
    }
    finish_refinement(&r);
    if (status != PSFM_OK)
        psfm_pair_refined_free(out);
    return status;
}

void psfm_pair_refined_free(psfm_pair_refined *refined) {
    free(refined->planes);
    free(refined->matches);
    *refined = (psfm_pair_refined){0};
}

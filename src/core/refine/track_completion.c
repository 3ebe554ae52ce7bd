/* Tracks by place.
 *
 * A track ends where all matches across a place are missing or wrong. With two neighbours for each
 * image and a fifth of the matches wrong that is after ten images or so, although the point is seen
 * by hundreds, and what long chains drift by goes down with the length of their tracks. Once poses
 * are good, a point need not be matched to be found: it is where it projects to.
 *
 * So each image is searched for the points that images matched with it see and it does not. Found
 * is one that has exactly one keypoint within NEAR standard deviations of its place, and no other
 * within CLEAR. The keypoint mostly has a track of its own, the next fragment of the same track:
 * both become one if one point explains them (core/structure/track_merging.c).
 *
 * A keypoint may also be there by chance, or because the scene repeats. The same search at places
 * beside the right ones tells how often. An image where that finds more than CHANCE of what is
 * found at the right places is left alone, and so is a pair that does not share points already.
 *
 * The standard deviation s is that of the residuals: of squared residuals with two equal
 * coordinates the median is 2 ln 2 s^2, less the share that a point's three coordinates take of the
 * 2 n of its track. */
#include "core/refine/track_completion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"
#include "core/refine/matched_points.h"

#define NEAR 3.0      /* standard deviations within which a keypoint shows the point */
#define CLEAR 6.0     /* standard deviations within which there must be no other one */
#define ELSEWHERE 4   /* places beside the right one that are looked at, too */
#define ASIDE 20.0    /* standard deviations to them */
#define CHANCE 0.1    /* share of what is found that may be found there */
#define MIN_SHARED 6  /* points that a pair must have */
#define MIN_LENGTH 3  /* images of a track whose residuals tell the noise */
#define MIN_SIGMA 0.1 /* pixels; keypoints are not known better, and cells must not be too many */
#define NONE UINT32_MAX

/* Keypoints of one view by square cells. */
typedef struct {
    double cell;
    uint32_t columns, rows;
    uint32_t *begin, *order; /* of the cells, row by row */
    size_t begin_capacity, order_capacity;
} key_grid;

typedef struct {
    key_grid grid;
    uint32_t *seen; /* per point: the last view, plus 1, that saw or sought it */
} scratch;

typedef struct {
    psfm_found_keypoint *found;
    size_t num, capacity, num_sought;
    size_t num_beside, num_elsewhere; /* places looked at beside the right ones; found there */
    bool is_fair;
} findings;

typedef struct {
    const psfm_match_set *set;
    const psfm_structure *structure;
    const psfm_poses *poses;
    psfm_point_views links;
    double sigma_px;
    scratch *scratch;  /* per worker */
    findings *by_view; /* per view */
} search;

static uint32_t cell_along(double x, double cell, uint32_t num) {
    double k = floor(x / cell);
    return k <= 0.0 ? 0 : k >= num ? num - 1 : (uint32_t)k;
}

static uint32_t cell_of(const key_grid *g, const double xy[2]) {
    return cell_along(xy[1], g->cell, g->rows) * g->columns +
           cell_along(xy[0], g->cell, g->columns);
}

/* Sorts the keypoints of a view into cells: counted, then dealt out. Those without a ray are left
 * out. */
static psfm_status fill_grid(psfm_context *ctx, const psfm_view *view, const psfm_camera *camera,
                             key_grid *g) {
    uint32_t num = (uint32_t)view->num_keypoints;
    g->columns = (uint32_t)((double)camera->width / g->cell) + 1;
    g->rows = (uint32_t)((double)camera->height / g->cell) + 1;
    size_t cells = (size_t)g->columns * g->rows;
    psfm_status status = PSFM_RESERVE(ctx, &g->begin, &g->begin_capacity, cells + 2);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &g->order, &g->order_capacity, num);
    if (status != PSFM_OK)
        return status;
    memset(g->begin, 0, (cells + 2) * sizeof *g->begin);
    for (uint32_t k = 0; k < num; ++k)
        if (psfm_view_has_ray(view, camera, k))
            ++g->begin[cell_of(g, view->keypoints[k]) + 2];
    for (size_t c = 0; c < cells; ++c)
        g->begin[c + 2] += g->begin[c + 1];
    for (uint32_t k = 0; k < num; ++k)
        if (psfm_view_has_ray(view, camera, k))
            g->order[g->begin[cell_of(g, view->keypoints[k]) + 1]++] = k;
    return PSFM_OK;
}

/* The only keypoint within NEAR standard deviations of a place, if no other is within CLEAR; NONE.
 */
static uint32_t find_keypoint(const search *s, const key_grid *g, const psfm_view *view,
                              const double xy[2]) {
    double near = NEAR * s->sigma_px, clear = CLEAR * s->sigma_px;
    uint32_t found = NONE, num = 0;
    uint32_t first_column = cell_along(xy[0] - clear, g->cell, g->columns);
    uint32_t last_column = cell_along(xy[0] + clear, g->cell, g->columns);
    uint32_t last_row = cell_along(xy[1] + clear, g->cell, g->rows);
    for (uint32_t row = cell_along(xy[1] - clear, g->cell, g->rows); row <= last_row; ++row) {
        const uint32_t *begin = g->begin + (size_t)row * g->columns;
        for (uint32_t i = begin[first_column]; i < begin[last_column + 1]; ++i) {
            const double *at = view->keypoints[g->order[i]];
            double distance = hypot(at[0] - xy[0], at[1] - xy[1]);
            num += distance <= clear;
            if (distance <= near)
                found = g->order[i];
        }
    }
    return num == 1 ? found : NONE;
}

static bool is_inside(const psfm_camera *camera, const double xy[2]) {
    return xy[0] >= 0.0 && xy[1] >= 0.0 && xy[0] <= (double)camera->width &&
           xy[1] <= (double)camera->height;
}

/* Looks for a point at its place, and at others beside it. */
static psfm_status seek_point(psfm_context *ctx, const search *s, const key_grid *g, uint32_t v,
                              uint32_t point, findings *f) {
    static const double side[ELSEWHERE][2] = {{1.0, 0.3}, {-0.3, 1.0}, {-1.0, -0.3}, {0.3, -1.0}};
    const psfm_view *view = &s->set->views[v];
    const psfm_camera *camera = &s->set->cameras[view->camera_idx];
    double D[3], Y[3], xy[2];
    psfm_sub3(s->structure->points[point], s->poses->center[v], D);
    psfm_mat3_mul_vec(s->poses->cam_from_world[v], D, Y);
    if (!psfm_camera_project(camera, Y, xy) || !is_inside(camera, xy))
        return PSFM_OK;
    ++f->num_sought;
    for (int k = 0; k < ELSEWHERE; ++k) {
        double beside[2] = {xy[0] + ASIDE * s->sigma_px * side[k][0],
                            xy[1] + ASIDE * s->sigma_px * side[k][1]};
        if (!is_inside(camera, beside))
            continue;
        ++f->num_beside;
        f->num_elsewhere += find_keypoint(s, g, view, beside) != NONE;
    }
    uint32_t keypoint = find_keypoint(s, g, view, xy);
    if (keypoint == NONE)
        return PSFM_OK;
    psfm_status status = PSFM_RESERVE(ctx, &f->found, &f->capacity, f->num + 1);
    if (status == PSFM_OK)
        f->found[f->num++] = (psfm_found_keypoint){point, v, keypoint};
    return status;
}

static size_t num_shared(const search *s, const psfm_match_pair *pair) {
    const uint32_t *of1 = s->links.point_of_keypoint + s->links.keypoint_begin[pair->view1];
    const uint32_t *of2 = s->links.point_of_keypoint + s->links.keypoint_begin[pair->view2];
    size_t shared = 0;
    for (size_t m = 0; m < pair->num_matches; ++m)
        shared += of1[pair->matches[m][0]] != NONE &&
                  of1[pair->matches[m][0]] == of2[pair->matches[m][1]];
    return shared;
}

/* Keypoints that chance finds at as many places as were looked at. One more than were found
 * elsewhere: few places say little. */
static double by_chance(const findings *f) {
    return (double)f->num_sought * (double)(f->num_elsewhere + 1) / (double)(f->num_beside + 1);
}

/* Seeks in view v what the views see that it shares points with. */
static psfm_status search_view(psfm_context *ctx, size_t index, int worker, void *user) {
    search *s = user;
    uint32_t v = (uint32_t)index, *seen = s->scratch[worker].seen;
    const psfm_view *view = &s->set->views[v];
    const uint32_t *pairs = psfm_adjacency_at(&s->links.pairs, v);
    const uint32_t *point_of = s->links.point_of_keypoint;
    key_grid *grid = &s->scratch[worker].grid;
    findings *f = &s->by_view[v];
    if (!psfm_has_pose(s->poses, v))
        return PSFM_OK;
    psfm_status status = fill_grid(ctx, view, &s->set->cameras[view->camera_idx], grid);
    for (size_t k = s->links.keypoint_begin[v]; k < s->links.keypoint_begin[v + 1]; ++k)
        if (point_of[k] != NONE)
            seen[point_of[k]] = v + 1;
    for (uint32_t i = 0; status == PSFM_OK && i < psfm_adjacency_degree(&s->links.pairs, v); ++i) {
        const psfm_match_pair *pair = &s->set->pairs[pairs[i]];
        uint32_t other = pair->view1 == v ? pair->view2 : pair->view1;
        if (!psfm_share_world(s->poses, v, other) || num_shared(s, pair) < MIN_SHARED)
            continue;
        for (size_t k = s->links.keypoint_begin[other];
             status == PSFM_OK && k < s->links.keypoint_begin[other + 1]; ++k) {
            if (point_of[k] == NONE || seen[point_of[k]] == v + 1)
                continue;
            seen[point_of[k]] = v + 1;
            status = seek_point(ctx, s, grid, v, point_of[k], f);
        }
    }
    f->is_fair = by_chance(f) <= CHANCE * (double)f->num;
    return status;
}

/* Standard deviation of a keypoint from its point, by coordinate. */
static psfm_status find_sigma(psfm_context *ctx, search *s) {
    const psfm_tracks *tracks = &s->structure->tracks;
    size_t num = 0,
           all = s->structure->num_points == 0 ? 0 : tracks->begin[s->structure->num_points];
    double *squares = NULL;
    psfm_status status = PSFM_ALLOC(ctx, all, &squares);
    for (size_t p = 0; status == PSFM_OK && p < s->structure->num_points; ++p) {
        size_t first = tracks->begin[p], end = tracks->begin[p + 1];
        double left = 1.0 - 1.5 / (double)(end - first);
        for (size_t k = first; end - first >= MIN_LENGTH && k < end; ++k) {
            const psfm_view *view = &s->set->views[tracks->view[k]];
            const double *at = view->keypoints[tracks->keypoint[k]];
            double D[3], Y[3], xy[2];
            psfm_sub3(s->structure->points[p], s->poses->center[tracks->view[k]], D);
            psfm_mat3_mul_vec(s->poses->cam_from_world[tracks->view[k]], D, Y);
            if (!psfm_camera_project(&s->set->cameras[view->camera_idx], Y, xy))
                continue;
            double x = xy[0] - at[0], y = xy[1] - at[1];
            squares[num++] = (x * x + y * y) / left;
        }
    }
    s->sigma_px = MIN_SIGMA;
    if (num > 0)
        s->sigma_px = fmax(sqrt(psfm_select(squares, num, num / 2) / (2.0 * M_LN2)), MIN_SIGMA);
    free(squares);
    return status;
}

static psfm_status begin_search(psfm_context *ctx, search *s, int num_workers) {
    psfm_status status;
    if ((status = find_sigma(ctx, s)) ||
        (status = psfm_point_views_init(ctx, s->set, s->structure, s->poses, &s->links)) ||
        (status = PSFM_ALLOC(ctx, s->set->num_views, &s->by_view)) ||
        (status = PSFM_ALLOC(ctx, (size_t)num_workers, &s->scratch)))
        return status;
    for (int w = 0; status == PSFM_OK && w < num_workers; ++w) {
        s->scratch[w].grid.cell = CLEAR * s->sigma_px;
        status = PSFM_ALLOC(ctx, s->structure->num_points, &s->scratch[w].seen);
    }
    return status;
}

static void end_search(search *s, int num_workers) {
    for (int w = 0; s->scratch != NULL && w < num_workers; ++w) {
        free(s->scratch[w].seen);
        free(s->scratch[w].grid.begin);
        free(s->scratch[w].grid.order);
    }
    for (size_t v = 0; s->by_view != NULL && v < s->set->num_views; ++v)
        free(s->by_view[v].found);
    free(s->scratch);
    free(s->by_view);
    psfm_point_views_free(&s->links);
}

/* The found keypoints of all views that chance does not explain, view by view. */
static psfm_status gather_found(psfm_context *ctx, const search *s, psfm_found_keypoint **keypoints,
                                size_t *num, psfm_track_completion_stats *stats) {
    size_t all = 0;
    for (size_t v = 0; v < s->set->num_views; ++v) {
        const findings *f = &s->by_view[v];
        stats->num_sought += f->num_sought;
        stats->num_found += f->num;
        stats->num_by_chance += by_chance(f);
        stats->num_views += f->num > 0 && !f->is_fair;
        all += f->is_fair ? f->num : 0;
    }
    psfm_status status = PSFM_ALLOC(ctx, all, keypoints);
    for (size_t v = 0; status == PSFM_OK && v < s->set->num_views; ++v) {
        const findings *f = &s->by_view[v];
        if (!f->is_fair || f->num == 0)
            continue;
        memcpy(*keypoints + *num, f->found, f->num * sizeof *f->found);
        const psfm_view *view = &s->set->views[v];
        for (size_t k = 0; k < f->num; ++k)
            psfm_view_need_ray(view, &s->set->cameras[view->camera_idx], f->found[k].keypoint);
        *num += f->num;
    }
    return status;
}

psfm_status psfm_tracks_complete(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_structure *structure, const psfm_poses *poses,
                                 uint32_t max_images, psfm_tracks *tracks,
                                 psfm_track_completion_stats *stats) {
    search s = {.set = set, .structure = structure, .poses = poses};
    psfm_track_completion_stats found = {0};
    psfm_found_keypoint *keypoints = NULL;
    size_t num = 0;
    int num_workers = psfm_parallel_workers(ctx, set->num_views);
    *tracks = (psfm_tracks){0};
    psfm_status status = begin_search(ctx, &s, num_workers);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, set->num_views, search_view, &s);
    if (status == PSFM_OK)
        status = gather_found(ctx, &s, &keypoints, &num, &found);
    found.sigma_px = s.sigma_px;
    end_search(&s, num_workers);
    if (status == PSFM_OK)
        status = psfm_points_merge_found(ctx, set, structure, poses, keypoints, num,
                                         NEAR * found.sigma_px, max_images, tracks, &found.merged);
    free(keypoints);
    if (status == PSFM_OK && stats != NULL)
        *stats = found;
    return status;
}

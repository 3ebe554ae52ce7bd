/* Alignment of tracks.
 *
 * Two patches of one pair agree to a tenth of a pixel, but a track that is chained from pairs
 * adds the errors of its links, and ends where the pairs end. With poses, a point X and the normal
 * n of the surface about it, the warp between any two of its images is known without a match:
 *   H_21 = R_21 + t_21 n1^T / d,   n1 = R_1 n,  d = n1 . R_1 (X - C_1).
 * So the image that shows the surface about X largest gives the one patch, and each other image
 * that should see it is aligned with that. Images that had no match take part as well: a court is
 * seen from all sides, though only neighbours were matched.
 *
 * The position in the first image is where the point is by definition; the noise of its patch,
 * which all the others share, counts as half of theirs. */
#include "refine/align_tracks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "linalg/mat3.h"
#include "linalg/order.h"
#include "photo/photo_order.h"
#include "refine/precise_keypoints.h"
#include "scene/cover.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(
        psfm_track_align_options, rounds, "rounds", 1, 0, 10,
        "how often points are sought in the photographs and the poses adjusted to them"),
    PSFM_OPTION_INT(psfm_track_align_options, per_image, "per-image", 1000, 1, 1000000,
                    "squares of an image in which points are sought, about one in each"),
    PSFM_OPTION_INT(psfm_track_align_options, max_views, "max-views", 40, 0, 10000,
                    "images in which a point is sought beside those that matched it"),
    PSFM_OPTION_DOUBLE(psfm_track_align_options, max_shift_px, "max-shift-px", 1.5, 0.1, 100.0,
                       "distance of a point from where the poses put it, in pixels"),
};
const psfm_option_table psfm_track_align_option_table = {"photo-track", rows,
                                                         sizeof rows / sizeof *rows};

#define MIN_COSINE 0.1 /* of the angle under which a surface is seen */

#define CHUNK 256 /* points that are planned together */

/* A point to be found in one image. */
typedef struct {
    uint32_t from, to; /* views */
    uint32_t point;
    uint32_t keypoint; /* of view `to`; UINT32_MAX: it has none yet */
    psfm_patch_match found;
} search;

typedef struct {
    search *items;
    size_t num, capacity;
} search_list;

/* A view that should show a point. */
typedef struct {
    uint32_t view;
    double area;
} candidate;

typedef struct {
    psfm_photo_cache *cache;
    const psfm_track_scene *scene;
    const psfm_patch_options *patch;
    const psfm_track_align_options *options;
    psfm_match_set *set;
    psfm_structure *structure;
    bool *chosen;        /* per point: to be sought */
    uint32_t *reference; /* per point: element of the tracks that gives the patch, or UINT32_MAX */
    search_list *chunks;
    size_t num_chunks;
    search_list all; /* by from, to, point */
    size_t *groups;  /* first search of each pair of views, and the end */
    size_t num_groups;
    size_t *order;                 /* of the groups */
    candidate *candidates;         /* per worker and view */
    psfm_patch_aligner **aligners; /* per worker */
    int num_workers;
} alignment;

/* Normal of the surface at a point; NULL if it is not known. */
static const double *find_normal(const alignment *a, size_t point) {
    int32_t plane = a->scene->planes->point_plane[point];
    return plane < 0 ? NULL : a->scene->planes->planes[plane].normal;
}

/* Pixels that a unit of the surface about X covers in a view; 0 if it is not seen, or from behind
 * or at a grazing angle. */
static double seen_area(const alignment *a, uint32_t v, const double X[3], const double n[3]) {
    const psfm_camera *camera = &a->scene->cameras[a->set->views[v].camera_idx];
    double D[3], ray[3], xy[2], J[6];
    psfm_sub3(X, a->scene->centers[v], D);
    double depth = psfm_norm3(D), cosine = -psfm_dot3(D, n) / depth;
    if (!(cosine > MIN_COSINE))
        return 0.0;
    psfm_mat3_mul_vec(a->scene->cam_from_world[v], D, ray);
    if (!psfm_camera_project_jacobian(camera, ray, xy, J) || !(xy[0] > 0.0 && xy[1] > 0.0) ||
        !(xy[0] < (double)camera->width && xy[1] < (double)camera->height))
        return 0.0;
    /* The map of the surface into the image is J restricted to it; J annihilates the ray, so that
     * its area factor is that across the ray times the cosine. */
    double minors[3] = {J[1] * J[5] - J[2] * J[4], J[2] * J[3] - J[0] * J[5],
                        J[0] * J[4] - J[1] * J[3]};
    return psfm_norm3(minors) * cosine;
}

static psfm_status add_search(psfm_context *ctx, search_list *list, const search *s) {
    psfm_status status = PSFM_RESERVE(ctx, &list->items, &list->capacity, list->num + 1);
    if (status == PSFM_OK)
        list->items[list->num++] = *s;
    return status;
}

static bool is_in_track(const psfm_tracks *t, size_t track, uint32_t view) {
    for (size_t k = t->begin[track]; k < t->begin[track + 1]; ++k)
        if (t->view[k] == view)
            return true;
    return false;
}

/* Views that should show the point but have no observation of it: those that show it largest. */
static psfm_status add_new_views(psfm_context *ctx, const alignment *a, size_t point,
                                 const double *n, candidate *candidates, search *s,
                                 search_list *list) {
    size_t num = 0;
    psfm_status status = PSFM_OK;
    for (uint32_t v = 0; v < a->set->num_views; ++v) {
        if (a->scene->component[v] != a->scene->component[s->from])
            continue;
        candidates[num] = (candidate){v, seen_area(a, v, a->structure->points[point], n)};
        num += candidates[num].area > 0.0 && !is_in_track(&a->structure->tracks, point, v);
    }
    s->keypoint = UINT32_MAX;
    for (int k = 0; status == PSFM_OK && num > 0 && k < a->options->max_views; ++k) {
        size_t best = 0;
        for (size_t i = 1; i < num; ++i)
            if (candidates[i].area > candidates[best].area)
                best = i;
        s->to = candidates[best].view;
        candidates[best] = candidates[--num];
        status = add_search(ctx, list, s);
    }
    return status;
}

/* The image that shows the point largest, and searches in all others. */
static psfm_status plan_point(psfm_context *ctx, alignment *a, size_t point, candidate *candidates,
                              search_list *list) {
    const psfm_tracks *t = &a->structure->tracks;
    const double *n = find_normal(a, point);
    size_t first = t->begin[point], last = t->begin[point + 1], best = last;
    double best_area = 0.0;
    psfm_status status = PSFM_OK;
    for (size_t k = first; a->chosen[point] && n != NULL && k < last; ++k) {
        double area = seen_area(a, t->view[k], a->structure->points[point], n);
        if (area > best_area) {
            best_area = area;
            best = k;
        }
    }
    a->reference[point] = best == last ? UINT32_MAX : (uint32_t)best;
    if (best == last)
        return PSFM_OK;
    search s = {.from = t->view[best], .point = (uint32_t)point};
    for (size_t k = first; status == PSFM_OK && k < last; ++k) {
        s.to = t->view[k];
        s.keypoint = t->keypoint[k];
        if (k != best)
            status = add_search(ctx, list, &s);
    }
    return status == PSFM_OK ? add_new_views(ctx, a, point, n, candidates, &s, list) : status;
}

static psfm_status plan_chunk(psfm_context *ctx, size_t index, int worker, void *user) {
    alignment *a = user;
    size_t end = (index + 1) * CHUNK;
    psfm_status status = PSFM_OK;
    for (size_t p = index * CHUNK; status == PSFM_OK && p < end && p < a->structure->num_points;
         ++p)
        status = plan_point(ctx, a, p, a->candidates + (size_t)worker * a->set->num_views,
                            &a->chunks[index]);
    return status;
}

static int compare_searches(const void *a, const void *b) {
    const search *s = a, *t = b;
    if (s->from != t->from)
        return s->from < t->from ? -1 : 1;
    if (s->to != t->to)
        return s->to < t->to ? -1 : 1;
    return s->point < t->point ? -1 : s->point > t->point;
}

/* All searches, those between the same two views side by side. */
static psfm_status plan(psfm_context *ctx, alignment *a) {
    psfm_status status;
    a->num_chunks = (a->structure->num_points + CHUNK - 1) / CHUNK;
    if ((status = psfm_points_cover(ctx, a->set, a->structure, (size_t)a->options->per_image,
                                    a->chosen)) ||
        (status = PSFM_ALLOC(ctx, a->num_chunks, &a->chunks)) ||
        (status = psfm_parallel_for(ctx, NULL, a->num_chunks, plan_chunk, a)))
        return status;
    for (size_t c = 0; c < a->num_chunks; ++c)
        a->all.num += a->chunks[c].num;
    if ((status = PSFM_ALLOC(ctx, a->all.num, &a->all.items)) ||
        (status = PSFM_ALLOC(ctx, a->all.num + 1, &a->groups)))
        return status;
    search *at = a->all.items;
    for (size_t c = 0; c < a->num_chunks; ++c) {
        if (a->chunks[c].num > 0)
            memcpy(at, a->chunks[c].items, a->chunks[c].num * sizeof *at);
        at += a->chunks[c].num;
    }
    if (a->all.num > 0)
        qsort(a->all.items, a->all.num, sizeof *a->all.items, compare_searches);
    for (size_t k = 0; k < a->all.num; ++k) {
        const search *s = &a->all.items[k];
        if (k == 0 || s[-1].from != s->from || s[-1].to != s->to)
            a->groups[a->num_groups++] = k;
    }
    a->groups[a->num_groups] = a->all.num;
    return PSFM_OK;
}

/* The warp between two views of the surface about a point, both ways. */
static bool surface_warp(const alignment *a, const search *s, double H_21[9], double H_12[9]) {
    const double *R1 = a->scene->cam_from_world[s->from], *R2 = a->scene->cam_from_world[s->to];
    const double *n = find_normal(a, s->point);
    double D[3], T[3], t_21[3], n1[3];
    psfm_sub3(a->structure->points[s->point], a->scene->centers[s->from], D);
    psfm_sub3(a->scene->centers[s->from], a->scene->centers[s->to], T);
    psfm_mat3_mul_vec(R2, T, t_21);
    psfm_mat3_mul_vec(R1, n, n1);
    double distance = psfm_dot3(n, D);
    psfm_mat3_mul_t(R2, R1, H_21);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            H_21[3 * r + c] += t_21[r] * n1[c] / distance;
    return psfm_mat3_inverse(H_21, H_12);
}

static void align_search(const alignment *a, psfm_patch_aligner *aligner,
                         const psfm_pyramid *const photos[2], search *s) {
    const psfm_view *from = &a->set->views[s->from], *to = &a->set->views[s->to];
    const psfm_patch_view view1 = {&a->scene->cameras[from->camera_idx], photos[0]};
    const psfm_patch_view view2 = {&a->scene->cameras[to->camera_idx], photos[1]};
    uint32_t keypoint = a->structure->tracks.keypoint[a->reference[s->point]];
    double H_21[9], H_12[9];
    s->found.outcome = PSFM_PATCH_OUTSIDE;
    if (surface_warp(a, s, H_21, H_12))
        psfm_patch_align(aligner, &view1, from->keypoints[keypoint], &view2, H_21, H_12,
                         a->options->max_shift_px, 0, &s->found);
}

static psfm_status align_group(psfm_context *ctx, size_t step, int worker, void *user) {
    alignment *a = user;
    size_t index = a->order[step];
    search *first = &a->all.items[a->groups[index]], *end = &a->all.items[a->groups[index + 1]];
    const uint32_t views[2] = {first->from, first->to};
    const psfm_pyramid *photos[2] = {NULL, NULL};
    psfm_status status = PSFM_OK;
    for (int k = 0; status == PSFM_OK && k < 2; ++k)
        status = psfm_photo_cache_get(ctx, a->cache, views[k], &photos[k]);
    bool both = status == PSFM_OK && photos[0] != NULL && photos[1] != NULL;
    for (search *s = first; s < end; ++s) {
        if (both)
            align_search(a, a->aligners[worker], photos, s);
        else
            s->found.outcome = PSFM_PATCH_OUTSIDE;
    }
    for (int k = 0; k < 2; ++k)
        if (photos[k] != NULL)
            psfm_photo_cache_release(a->cache, views[k]);
    return status;
}

/* What the found places make of the tracks. */
typedef struct {
    psfm_precise_keypoints *added; /* per view */
    double *sum_log;               /* per point, of the areas of the covariances */
    uint32_t *count, *count_new;   /* per point */
    psfm_tracks tracks;
} outcome;

static psfm_status begin_outcome(psfm_context *ctx, const alignment *a, outcome *o) {
    size_t num_points = a->structure->num_points;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, a->set->num_views, &o->added)) ||
        (status = PSFM_ALLOC(ctx, num_points, &o->sum_log)) ||
        (status = PSFM_ALLOC(ctx, num_points, &o->count)) ||
        (status = PSFM_ALLOC(ctx, num_points, &o->count_new)) ||
        (status = PSFM_ALLOC(ctx, num_points + 1, &o->tracks.begin)))
        return status;
    for (size_t k = 0; k < a->all.num; ++k) {
        const search *s = &a->all.items[k];
        const double *c = s->found.cov2;
        if (s->found.outcome != PSFM_PATCH_ALIGNED)
            continue;
        o->sum_log[s->point] += 0.5 * log(c[0] * c[2] - c[1] * c[1]);
        ++o->count[s->point];
        o->count_new[s->point] += s->keypoint == UINT32_MAX;
    }
    const size_t *begin = a->structure->tracks.begin;
    for (size_t p = 0; p < num_points; ++p)
        o->tracks.begin[p + 1] = o->tracks.begin[p] + begin[p + 1] - begin[p] + o->count_new[p];
    size_t total = o->tracks.begin[num_points];
    o->tracks.num_tracks = num_points;
    if ((status = PSFM_ALLOC(ctx, total, &o->tracks.view)) ||
        (status = PSFM_ALLOC(ctx, total, &o->tracks.keypoint)))
        return status;
    for (size_t p = 0; p < num_points; ++p) {
        size_t n = begin[p + 1] - begin[p], at = o->tracks.begin[p];
        memcpy(o->tracks.view + at, a->structure->tracks.view + begin[p],
               n * sizeof *o->tracks.view);
        memcpy(o->tracks.keypoint + at, a->structure->tracks.keypoint + begin[p],
               n * sizeof *o->tracks.keypoint);
        o->count_new[p] = (uint32_t)n; /* from here on: elements so far */
    }
    return PSFM_OK;
}

static void free_outcome(const alignment *a, outcome *o) {
    for (size_t v = 0; o->added != NULL && v < a->set->num_views; ++v)
        psfm_precise_keypoints_free(&o->added[v]);
    free(o->added);
    free(o->sum_log);
    free(o->count);
    free(o->count_new);
    psfm_tracks_free(&o->tracks);
}

/* Puts an element into its track, views ascending. */
static void insert_element(outcome *o, size_t point, uint32_t view, uint32_t keypoint) {
    size_t first = o->tracks.begin[point], k = first + o->count_new[point]++;
    for (; k > first && o->tracks.view[k - 1] > view; --k) {
        o->tracks.view[k] = o->tracks.view[k - 1];
        o->tracks.keypoint[k] = o->tracks.keypoint[k - 1];
    }
    o->tracks.view[k] = view;
    o->tracks.keypoint[k] = keypoint;
}

/* Takes the found places over into the set and the tracks. */
static psfm_status take_over(psfm_context *ctx, alignment *a, psfm_track_align_stats *stats) {
    static const psfm_precise_keypoints none = {0};
    outcome o = {0};
    psfm_status status = begin_outcome(ctx, a, &o);
    for (size_t v = 0; status == PSFM_OK && v < a->set->num_views; ++v) /* all know their info */
        status = psfm_view_append(ctx, &a->scene->cameras[a->set->views[v].camera_idx], &none,
                                  &a->set->views[v]);
    for (size_t p = 0; status == PSFM_OK && p < a->structure->num_points; ++p) {
        if (o.count[p] == 0)
            continue;
        double variance = 0.5 * exp(o.sum_log[p] / o.count[p]);
        const double cov[3] = {variance, 0.0, variance};
        uint32_t k = a->reference[p];
        psfm_view *view = &a->set->views[a->structure->tracks.view[k]];
        uint32_t keypoint = a->structure->tracks.keypoint[k];
        const double xy[2] = {view->keypoints[keypoint][0], view->keypoints[keypoint][1]};
        psfm_view_move(&a->scene->cameras[view->camera_idx], keypoint, xy, cov, view);
    }
    for (size_t k = 0; status == PSFM_OK && k < a->all.num; ++k) {
        const search *s = &a->all.items[k];
        psfm_view *view = &a->set->views[s->to];
        if (s->found.outcome != PSFM_PATCH_ALIGNED)
            continue;
        if (s->keypoint != UINT32_MAX) {
            psfm_view_move(&a->scene->cameras[view->camera_idx], s->keypoint, s->found.xy2,
                           s->found.cov2, view);
            ++stats->num_aligned;
            continue;
        }
        insert_element(&o, s->point, s->to, (uint32_t)(view->num_keypoints + o.added[s->to].num));
        status = psfm_precise_keypoints_add(ctx, &o.added[s->to], s->found.xy2, s->found.cov2);
        ++stats->num_new;
    }
    for (size_t v = 0; status == PSFM_OK && v < a->set->num_views; ++v)
        status = psfm_view_append(ctx, &a->scene->cameras[a->set->views[v].camera_idx], &o.added[v],
                                  &a->set->views[v]);
    if (status == PSFM_OK) {
        psfm_tracks old = a->structure->tracks;
        a->structure->tracks = o.tracks;
        o.tracks = old;
    }
    free_outcome(a, &o);
    return status;
}

static psfm_status summarise(psfm_context *ctx, const alignment *a, psfm_track_align_stats *stats) {
    double *shift = NULL;
    size_t n = 0;
    psfm_status status = PSFM_ALLOC(ctx, a->all.num, &shift);
    for (size_t k = 0; status == PSFM_OK && k < a->all.num; ++k) {
        ++stats->outcomes[a->all.items[k].found.outcome];
        if (a->all.items[k].found.outcome == PSFM_PATCH_ALIGNED)
            shift[n++] = a->all.items[k].found.shift_px;
    }
    for (size_t p = 0; p < a->structure->num_points; ++p)
        stats->num_points += a->reference[p] != UINT32_MAX;
    stats->num_tried = a->all.num;
    if (status == PSFM_OK)
        stats->median_shift_px = psfm_median(shift, n);
    free(shift);
    return status;
}

static psfm_status order_groups(psfm_context *ctx, alignment *a) {
    size_t n = a->num_groups;
    uint32_t *ends = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 2 * n, &ends);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &a->order);
    for (size_t g = 0; status == PSFM_OK && g < n; ++g) {
        ends[g] = a->all.items[a->groups[g]].from;
        ends[n + g] = a->all.items[a->groups[g]].to;
    }
    if (status == PSFM_OK)
        status = psfm_photo_order(ctx, a->cache, ends, ends + n, n, a->order);
    free(ends);
    return status;
}

static psfm_status run(psfm_context *ctx, alignment *a) {
    size_t num_points = a->structure->num_points, num_workers;
    psfm_status status;
    a->num_workers = psfm_parallel_workers(ctx, num_points + a->set->num_views);
    num_workers = (size_t)a->num_workers;
    if ((status = PSFM_ALLOC(ctx, num_points, &a->chosen)) ||
        (status = PSFM_ALLOC(ctx, num_points, &a->reference)) ||
        (status = PSFM_ALLOC(ctx, num_workers * a->set->num_views, &a->candidates)) ||
        (status = PSFM_ALLOC(ctx, num_workers, &a->aligners)))
        return status;
    for (int w = 0; w < a->num_workers; ++w)
        if ((status = psfm_patch_aligner_create(ctx, a->patch, &a->aligners[w])))
            return status;
    status = plan(ctx, a);
    if (status == PSFM_OK)
        status = order_groups(ctx, a);
    return status == PSFM_OK ? psfm_parallel_for(ctx, "align tracks", a->num_groups, align_group, a)
                             : status;
}

static void free_alignment(alignment *a) {
    for (int w = 0; a->aligners != NULL && w < a->num_workers; ++w)
        psfm_patch_aligner_destroy(&a->aligners[w]);
    for (size_t c = 0; a->chunks != NULL && c < a->num_chunks; ++c)
        free(a->chunks[c].items);
    free((void *)a->aligners);
    free(a->candidates);
    free(a->chunks);
    free(a->all.items);
    free(a->groups);
    free(a->order);
    free(a->chosen);
    free(a->reference);
}

psfm_status psfm_align_tracks(psfm_context *ctx, psfm_photo_cache *cache,
                              const psfm_track_scene *scene, const psfm_patch_options *patch,
                              const psfm_track_align_options *options, psfm_match_set *set,
                              psfm_structure *structure, psfm_track_align_stats *stats) {
    alignment a = {.cache = cache,
                   .scene = scene,
                   .patch = patch,
                   .options = options,
                   .set = set,
                   .structure = structure};
    *stats = (psfm_track_align_stats){0};
    psfm_status status = run(ctx, &a);
    if (status == PSFM_OK)
        status = summarise(ctx, &a, stats);
    if (status == PSFM_OK && a.all.num > 0)
        status = take_over(ctx, &a, stats);
    stats->done = status == PSFM_OK;
    free_alignment(&a);
    return status;
}

void psfm_align_tracks_describe(const psfm_track_align_stats *stats, char *text, size_t size) {
    snprintf(text, size,
             "aligned tracks: %zu points, %zu of %zu patches, %zu of them in images that had not "
             "matched the point, moved by %.2f px (median)",
             stats->num_points, stats->num_aligned + stats->num_new, stats->num_tried,
             stats->num_new, stats->median_shift_px);
}

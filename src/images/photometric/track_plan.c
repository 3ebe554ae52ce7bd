/* The plan of an alignment of tracks.
 *
 * Not every point is searched: those that together cover the images are chosen. The warp of
 * a patch wants the normal of the surface about the point. A point on a plane has the plane's; the
 * surface about any other is taken to face the cameras that matched it, by the mean of their
 * directions. To first order a wrong slope stretches a patch about its centre, which stays where it
 * is, so that this is nearly as good as a plane through the nearest points (docs/measurements.md)
 * and needs none. What is seen too differently does not correlate. Three images or more must have
 * matched such a point: no plane supports it.
 *
 * A point has one patch, in the image of its track that shows the surface about it largest: any
 * other would be enlarged there, and an enlarged patch has no more detail than it had before. The
 * measure is the area in pixels of a unit of the surface. With J = d(pixel)/d(ray) at the point's
 * ray, depth z and angle a between ray and normal it is |row 1 of J x row 2 of J| cos a, J taken at
 * the vector from the camera to the point, so that it holds the factor 1 / z^2.
 *
 * The point is sought in all other images of its track, and in images that should show it though
 * nothing was matched there, those that show it largest first. An image without a pose, or with
 * one in the frame of another component, is no place to look and no place to look from: what the
 * poses say of it is stale or means another world.
 *
 * Searches are sorted by their two images, so that a pair of photographs is read once. */
#include "images/photometric/track_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/mat3.h"

static const psfm_option rows[] = {
    PSFM_OPTION_INT(
        psfm_track_align_options, rounds, "rounds", 1, 0, 10,
        "how often points are sought in the photographs and the poses adjusted to them"),
    PSFM_OPTION_INT(psfm_track_align_options, per_image, "per-image", 600, 1, 1000000,
                    "squares of an image in which points are sought, about one in each"),
    PSFM_OPTION_INT(psfm_track_align_options, max_views, "max-views", 40, 0, 10000,
                    "images in which a point is sought beside those that matched it"),
    PSFM_OPTION_DOUBLE(psfm_track_align_options, max_shift_px, "max-shift-px", 1.5, 0.1, 100.0,
                       "distance of a point from where the poses put it, in pixels, or three "
                       "standard deviations of keypoints where that is more"),
    PSFM_OPTION_INT(psfm_track_align_options, radius, "radius", 8, 3, PSFM_PATCH_MAX_RADIUS,
                    "half the width of a patch of a track, in pixels of the coarser photograph"),
};
const psfm_option_table psfm_track_align_option_table = PSFM_OPTION_TABLE("photo-track", rows);

#define MIN_COSINE 0.1 /* of the angle under which a surface is seen */
#define CHUNK 256      /* points that are planned together */
/* Images of a point on no plane. Any two rays meet nearly, and what was matched wrongly looks
 * the same, so that its patches would be found and count for much. */
#define MIN_CONFIRMED 3

typedef struct {
    psfm_track_search *items;
    size_t num, capacity;
} search_list;

/* A view that should show a point. */
typedef struct {
    uint32_t view;
    double area;
} candidate;

typedef struct {
    const psfm_match_set *set;
    const psfm_structure *structure;
    const psfm_track_scene *scene;
    const psfm_track_align_options *options;
    bool *chosen; /* per point: to be sought */
    search_list *chunks;
    size_t num_chunks;
    candidate *candidates; /* per worker and view */
    psfm_track_plan *plan;
} planner;

/* Mean direction from a point to the cameras of its track; zero if these do not confirm it. */
static void find_facing(const planner *p, size_t point, double n[3]) {
    const psfm_tracks *t = &p->structure->tracks;
    memset(n, 0, 3 * sizeof *n);
    if (t->begin[point + 1] - t->begin[point] < MIN_CONFIRMED)
        return;
    for (size_t k = t->begin[point]; k < t->begin[point + 1]; ++k) {
        double D[3];
        if (!psfm_has_pose(p->scene->poses, t->view[k]))
            continue;
        psfm_sub3(p->scene->poses->center[t->view[k]], p->structure->points[point], D);
        const double length = psfm_norm3(D);
        for (int i = 0; length > 0.0 && i < 3; ++i)
            n[i] += D[i] / length;
    }
    const double length = psfm_norm3(n);
    if (length > 0.0)
        psfm_scale3(1.0 / length, n, n);
}

/* Normal of the surface about a point; zero if nothing tells. */
static void find_normal(const planner *p, size_t point, double n[3]) {
    const int32_t plane = p->scene->planes->point_plane[point];
    if (plane < 0)
        find_facing(p, point, n);
    else
        memcpy(n, p->scene->planes->planes[plane].normal, 3 * sizeof *n);
}

/* Pixels that a unit of the surface about X covers in a view; 0 if it is not seen, or from behind
 * or at a grazing angle. */
static double seen_area(const planner *p, uint32_t v, const double X[3], const double n[3]) {
    const psfm_camera *camera = &p->scene->cameras[p->set->views[v].camera_idx];
    double D[3], ray[3], xy[2], J[6];
    psfm_sub3(X, p->scene->poses->center[v], D);
    double depth = psfm_norm3(D), cosine = -psfm_dot3(D, n) / depth;
    if (!(cosine > MIN_COSINE))
        return 0.0;
    psfm_mat3_mul_vec(p->scene->poses->cam_from_world[v], D, ray);
    if (!psfm_camera_project_jacobian(camera, ray, xy, J) || !(xy[0] > 0.0 && xy[1] > 0.0) ||
        !(xy[0] < (double)camera->width && xy[1] < (double)camera->height))
        return 0.0;
    /* The map of the surface into the image is J restricted to it; J annihilates the ray, so that
     * its area factor is that across the ray times the cosine. */
    double minors[3] = {J[1] * J[5] - J[2] * J[4], J[2] * J[3] - J[0] * J[5],
                        J[0] * J[4] - J[1] * J[3]};
    return psfm_norm3(minors) * cosine;
}

static psfm_status add_search(psfm_context *ctx, search_list *list, const psfm_track_search *s) {
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
static psfm_status add_new_views(psfm_context *ctx, const planner *p, candidate *candidates,
                                 psfm_track_search *s, search_list *list) {
    const double *n = p->plan->normals[s->point];
    size_t num = 0;
    psfm_status status = PSFM_OK;
    for (uint32_t v = 0; v < p->set->num_views; ++v) {
        if (p->scene->poses->component[v] != p->scene->poses->component[s->from])
            continue;
        candidates[num] = (candidate){v, seen_area(p, v, p->structure->points[s->point], n)};
        num += candidates[num].area > 0.0 && !is_in_track(&p->structure->tracks, s->point, v);
    }
    s->keypoint = UINT32_MAX;
    for (int k = 0; status == PSFM_OK && num > 0 && k < p->options->max_views; ++k) {
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

/* The other views of the point's track. */
static psfm_status add_track_views(psfm_context *ctx, const planner *p, psfm_track_search *s,
                                   search_list *list) {
    const psfm_tracks *t = &p->structure->tracks;
    psfm_status status = PSFM_OK;
    for (size_t k = t->begin[s->point]; status == PSFM_OK && k < t->begin[s->point + 1]; ++k) {
        s->to = t->view[k];
        s->keypoint = t->keypoint[k];
        if (s->to != s->from &&
            p->scene->poses->component[s->to] == p->scene->poses->component[s->from])
            status = add_search(ctx, list, s);
    }
    return status;
}

/* The element of the point's track with a pose that shows it largest; UINT32_MAX if none does. */
static uint32_t find_reference(const planner *p, size_t point) {
    const psfm_tracks *t = &p->structure->tracks;
    const double *n = p->plan->normals[point];
    size_t best = UINT32_MAX;
    double best_area = 0.0;
    for (size_t k = t->begin[point]; k < t->begin[point + 1]; ++k) {
        if (!psfm_has_pose(p->scene->poses, t->view[k]))
            continue;
        double area = seen_area(p, t->view[k], p->structure->points[point], n);
        if (area > best_area) {
            best_area = area;
            best = k;
        }
    }
    return (uint32_t)best;
}

static psfm_status plan_point(psfm_context *ctx, const planner *p, size_t point,
                              candidate *candidates, search_list *list) {
    uint32_t reference = UINT32_MAX;
    if (p->chosen[point]) {
        find_normal(p, point, p->plan->normals[point]);
        reference = find_reference(p, point);
    }
    p->plan->reference[point] = reference;
    if (reference == UINT32_MAX)
        return PSFM_OK;
    psfm_track_search s = {.from = p->structure->tracks.view[reference], .point = (uint32_t)point};
    psfm_status status = add_track_views(ctx, p, &s, list);
    return status == PSFM_OK ? add_new_views(ctx, p, candidates, &s, list) : status;
}

static psfm_status plan_chunk(psfm_context *ctx, size_t index, int worker, void *user) {
    const planner *p = user;
    candidate *candidates = p->candidates + (size_t)worker * p->set->num_views;
    size_t end = (index + 1) * CHUNK;
    psfm_status status = PSFM_OK;
    for (size_t k = index * CHUNK; status == PSFM_OK && k < end && k < p->structure->num_points;
         ++k)
        status = plan_point(ctx, p, k, candidates, &p->chunks[index]);
    return status;
}

/* Sorts searches by one of their views, those of equal views in their order; `begin` has a place
 * for each view and one more. */
static void sort_by_view(const psfm_track_search *const *in, size_t num, bool by_from,
                         size_t num_views, size_t *begin, const psfm_track_search **out) {
    memset(begin, 0, (num_views + 1) * sizeof *begin);
    for (size_t k = 0; k < num; ++k)
        ++begin[(by_from ? in[k]->from : in[k]->to) + 1];
    for (size_t v = 0; v < num_views; ++v)
        begin[v + 1] += begin[v];
    for (size_t k = 0; k < num; ++k)
        out[begin[by_from ? in[k]->from : in[k]->to]++] = in[k];
}

/* The searches of all chunks as one list, sorted: by `to`, then by `from`. Within a chunk and from
 * one to the next points ascend. */
static psfm_status collect_searches(psfm_context *ctx, const planner *p) {
    psfm_track_plan *plan = p->plan;
    const psfm_track_search **order = NULL, **sorted = NULL;
    size_t total = 0, num = 0, *begin = NULL, num_views = p->set->num_views;
    psfm_status status;
    for (size_t c = 0; c < p->num_chunks; ++c)
        total += p->chunks[c].num;
    if (!(status = PSFM_ALLOC(ctx, total, &plan->searches)) &&
        !(status = PSFM_ALLOC(ctx, total, &order)) && !(status = PSFM_ALLOC(ctx, total, &sorted)) &&
        !(status = PSFM_ALLOC(ctx, num_views + 1, &begin))) {
        for (size_t c = 0; c < p->num_chunks; ++c)
            for (size_t k = 0; k < p->chunks[c].num; ++k)
                order[num++] = &p->chunks[c].items[k];
        sort_by_view(order, total, false, num_views, begin, sorted);
        sort_by_view(sorted, total, true, num_views, begin, order);
        for (size_t k = 0; k < total; ++k)
            plan->searches[k] = *order[k];
        plan->num_searches = total;
    }
    free((void *)order);
    free((void *)sorted);
    free(begin);
    return status;
}

static psfm_status find_groups(psfm_context *ctx, psfm_track_plan *plan) {
    psfm_status status = PSFM_ALLOC(ctx, plan->num_searches + 1, &plan->groups);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < plan->num_searches; ++k) {
        const psfm_track_search *s = &plan->searches[k];
        if (k == 0 || s[-1].from != s->from || s[-1].to != s->to)
            plan->groups[plan->num_groups++] = k;
    }
    plan->groups[plan->num_groups] = plan->num_searches;
    return PSFM_OK;
}

static psfm_status make_plan(psfm_context *ctx, planner *p) {
    size_t num_points = p->structure->num_points, num_workers;
    psfm_status status;
    p->num_chunks = (num_points + CHUNK - 1) / CHUNK;
    num_workers = (size_t)psfm_parallel_workers(ctx, p->num_chunks);
    if ((status = PSFM_ALLOC(ctx, num_points, &p->chosen)) ||
        (status = PSFM_ALLOC(ctx, num_points, &p->plan->reference)) ||
        (status = PSFM_ALLOC(ctx, num_points, &p->plan->normals)) ||
        (status = PSFM_ALLOC(ctx, p->num_chunks, &p->chunks)) ||
        (status = PSFM_ALLOC(ctx, num_workers * p->set->num_views, &p->candidates)) ||
        (status = psfm_points_cover(ctx, p->set, p->structure, (size_t)p->options->per_image,
                                    p->chosen)) ||
        (status = psfm_parallel_for(ctx, NULL, p->num_chunks, plan_chunk, p)) ||
        (status = collect_searches(ctx, p)))
        return status;
    return find_groups(ctx, p->plan);
}

psfm_status psfm_track_plan_make(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_structure *structure, const psfm_track_scene *scene,
                                 const psfm_track_align_options *options, psfm_track_plan *plan) {
    planner p = {
        .set = set, .structure = structure, .scene = scene, .options = options, .plan = plan};
    *plan = (psfm_track_plan){0};
    psfm_status status = make_plan(ctx, &p);
    for (size_t c = 0; p.chunks != NULL && c < p.num_chunks; ++c)
        free(p.chunks[c].items);
    free(p.chunks);
    free(p.candidates);
    free(p.chosen);
    if (status != PSFM_OK)
        psfm_track_plan_free(plan);
    return status;
}

void psfm_track_plan_free(psfm_track_plan *plan) {
    free(plan->reference);
    free(plan->normals);
    free(plan->searches);
    free(plan->groups);
    *plan = (psfm_track_plan){0};
}

/* ---- covering pairs ---- */

/* Points that together cover the images: a greedy choice over squares, longest tracks first,
 * sorted by counting. O(observations). */

/* One image's squares. */
typedef struct {
    double side; /* pixels */
    size_t columns, rows;
    bool *taken;
} squares;

static psfm_status make_squares(psfm_context *ctx, const psfm_camera *camera, size_t per_image,
                                squares *out) {
    double area = (double)camera->width * (double)camera->height;
    out->side = fmax(sqrt(area / (double)per_image), 1.0);
    out->columns = (size_t)ceil((double)camera->width / out->side);
    out->rows = (size_t)ceil((double)camera->height / out->side);
    return PSFM_ALLOC(ctx, out->columns * out->rows, &out->taken);
}

/* The square of a pixel; those outside the image belong to its rim. */
static bool *find_square(const squares *s, const double xy[2]) {
    double column = fmin(fmax(floor(xy[0] / s->side), 0.0), (double)(s->columns - 1));
    double row = fmin(fmax(floor(xy[1] / s->side), 0.0), (double)(s->rows - 1));
    return &s->taken[(size_t)row * s->columns + (size_t)column];
}

static size_t track_length(const psfm_tracks *t, size_t track) {
    return t->begin[track + 1] - t->begin[track];
}

/* Tracks by length, longest first, in their order among equals; a counting sort. */
static psfm_status sort_by_length(psfm_context *ctx, const psfm_tracks *t, size_t *order) {
    size_t longest = 0, *begin = NULL;
    for (size_t p = 0; p < t->num_tracks; ++p)
        if (track_length(t, p) > longest)
            longest = track_length(t, p);
    psfm_status status = PSFM_ALLOC(ctx, longest + 2, &begin);
    if (status != PSFM_OK)
        return status;
    for (size_t p = 0; p < t->num_tracks; ++p)
        ++begin[longest - track_length(t, p) + 1];
    for (size_t k = 0; k <= longest; ++k)
        begin[k + 1] += begin[k];
    for (size_t p = 0; p < t->num_tracks; ++p)
        order[begin[longest - track_length(t, p)]++] = p;
    free(begin);
    return PSFM_OK;
}

/* Takes the squares of a point if at least half of them are free. */
static bool choose_point(const psfm_match_set *set, const psfm_tracks *t, size_t point,
                         const squares *views) {
    size_t num_free = 0, first = t->begin[point], last = t->begin[point + 1];
    for (size_t k = first; k < last; ++k)
        num_free +=
            !*find_square(&views[t->view[k]], set->views[t->view[k]].keypoints[t->keypoint[k]]);
    if (2 * num_free < last - first)
        return false;
    for (size_t k = first; k < last; ++k)
        *find_square(&views[t->view[k]], set->views[t->view[k]].keypoints[t->keypoint[k]]) = true;
    return true;
}

psfm_status psfm_points_cover(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_structure *structure, size_t per_image, bool *chosen) {
    squares *views = NULL;
    size_t *order = NULL;
    const psfm_tracks *t = &structure->tracks;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, structure->num_points, &order);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        status = make_squares(ctx, &set->cameras[set->views[v].camera_idx], per_image, &views[v]);
    if (status == PSFM_OK && structure->num_points > 0)
        status = sort_by_length(ctx, t, order);
    for (size_t k = 0; status == PSFM_OK && k < structure->num_points; ++k)
        chosen[order[k]] = choose_point(set, t, order[k], views);
    for (size_t v = 0; views != NULL && v < set->num_views; ++v)
        free(views[v].taken);
    free(views);
    free(order);
    return status;
}

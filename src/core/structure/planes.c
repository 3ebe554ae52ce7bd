/* Physical planes from labelled points, for each component apart: their coordinates have nothing to
 * do with each other, and planes that coincide there by accident are two.
 *
 * Planes are fitted by flat_set.c. Two are one if their normals agree and the points of the
 * smaller lie on the larger within its spread; this is tried for all pairs, the largest first.
 * Points further off than a few spreads leave. */
#include "core/structure/planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/linalg/angle.h"
#include "core/linalg/convex_hull.h"
#include "core/linalg/vec3.h"
#include "core/structure/fit_plane.h"

enum { MIN_POINTS = 10 }; /* of a plane */

#define MERGE_DEG 5.0 /* planes whose normals differ by less may be one */
#define MAX_OFF_SIGMAS \
    4.0 /* points within so many robust standard deviations of a plane are on it */

typedef psfm_flat_set candidate;

static double plane_offset(const candidate *c, const double X[3]) {
    return psfm_dot3(c->normal, X) - c->distance;
}

/* What the components share, and the planes found so far. */
typedef struct {
    const psfm_labelled_points *points;
    const psfm_poses *poses;
    uint32_t
        *slot; /* per label: 1 + its candidate in the component at hand; 0 between components */
    psfm_scene_planes *out;
    size_t capacity; /* of out->planes */
} fitting;

/* The points of one component: indices of `points`. */
typedef struct {
    const uint32_t *index;
    size_t num;
    uint32_t component;
} component_points;

/* Whether point p has a label at all. */
static bool is_labelled(const psfm_labelled_points *points, uint32_t p) {
    return points->label[p] >= 0 && (uint32_t)points->label[p] < points->num_labels;
}

/* Collects the points of each label that the part has. `candidates` has room for all labels. */
static psfm_status collect_labels(psfm_context *ctx, const fitting *f, const component_points *own,
                                  candidate *candidates, uint32_t *num_candidates) {
    const int32_t *label = f->points->label;
    uint32_t *slot = f->slot;
    psfm_status status = PSFM_OK;
    uint32_t num = 0;
    for (size_t k = 0; k < own->num; ++k) {
        uint32_t p = own->index[k];
        if (!is_labelled(f->points, p))
            continue;
        if (slot[label[p]] == 0)
            slot[label[p]] = ++num;
        ++candidates[slot[label[p]] - 1].num;
    }
    for (uint32_t c = 0; status == PSFM_OK && c < num; ++c) {
        status = PSFM_ALLOC(ctx, candidates[c].num, &candidates[c].member);
        candidates[c].num = 0;
    }
    *num_candidates = num;
    for (size_t k = 0; status == PSFM_OK && k < own->num; ++k) {
        uint32_t p = own->index[k];
        if (!is_labelled(f->points, p))
            continue;
        candidate *c = &candidates[slot[label[p]] - 1];
        c->member[c->num++] = p;
    }
    for (size_t k = 0; k < own->num; ++k)
        if (is_labelled(f->points, own->index[k]))
            slot[label[own->index[k]]] = 0;
    return status;
}

/* Larger sets first; empty and curved ones last. */
static int by_size(const void *a, const void *b) {
    const candidate *p = a, *q = b;
    if (p->flat != q->flat)
        return p->flat ? -1 : 1;
    if (p->num != q->num)
        return p->num > q->num ? -1 : 1;
    uint32_t x = p->num > 0 ? p->member[0] : 0, y = q->num > 0 ? q->member[0] : 0;
    return x < y ? -1 : x > y;
}

static bool are_one(const double (*points)[3], const candidate *large, const candidate *small) {
    double angle = psfm_degrees(psfm_angle3(large->normal, small->normal));
    if (fmin(angle, 180.0 - angle) > MERGE_DEG)
        return false;
    double reach = MAX_OFF_SIGMAS * fmax(large->sigma, small->sigma);
    size_t inside = 0;
    for (size_t k = 0; k < small->num; ++k)
        inside += fabs(plane_offset(large, points[small->member[k]])) <= reach;
    return 2 * inside > small->num;
}

static psfm_status merge_into(psfm_context *ctx, candidate *large, candidate *small) {
    size_t capacity = large->num;
    psfm_status status = PSFM_RESERVE(ctx, &large->member, &capacity, large->num + small->num);
    if (status != PSFM_OK)
        return status;
    memcpy(large->member + large->num, small->member, small->num * sizeof *small->member);
    large->num += small->num;
    small->num = 0;
    small->flat = false;
    return PSFM_OK;
}

static psfm_status merge_all(psfm_context *ctx, const double (*points)[3], candidate *c,
                             uint32_t num) {
    psfm_status status = PSFM_OK;
    for (uint32_t a = 0; status == PSFM_OK && a < num && c[a].flat; ++a) {
        bool grown = false;
        for (uint32_t b = a + 1; status == PSFM_OK && b < num; ++b) {
            if (!c[b].flat || !are_one(points, &c[a], &c[b]))
                continue;
            status = merge_into(ctx, &c[a], &c[b]);
            grown = true;
        }
        if (status == PSFM_OK && grown)
            status = psfm_flat_set_fit(ctx, points, MIN_POINTS, MERGE_DEG, &c[a]);
    }
    return status;
}

/* Drops the members that are off the plane, and fits it once more to those that stay: the L1 fit
 * leans to the side of the outliers a little. */
static void trim_candidate(const double (*points)[3], double max_off_sigmas, candidate *c) {
    size_t kept = 0;
    for (size_t k = 0; k < c->num; ++k)
        if (fabs(plane_offset(c, points[c->member[k]])) <= fmax(max_off_sigmas * c->sigma, 1e-12))
            c->member[kept++] = c->member[k];
    c->num = kept;
    if (kept >= 3 && !c->curved)
        psfm_flat_set_refit(points, c);
}

/* Turns the normal to the side of most cameras of the component. */
static void face_cameras(const psfm_poses *poses, uint32_t component, candidate *c) {
    size_t in_front = 0, num = 0;
    for (uint32_t v = 0; v < poses->num_views; ++v) {
        if (poses->component[v] != component)
            continue;
        in_front += plane_offset(c, poses->center[v]) > 0.0;
        ++num;
    }
    if (2 * in_front < num) {
        psfm_scale3(-1.0, c->normal, c->normal);
        c->distance = -c->distance;
    }
}

/* Two unit vectors u, v with u x v = n. */
static void plane_axes(const double n[3], double u[3], double v[3]) {
    int k = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                    : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    double axis[3] = {k == 0, k == 1, k == 2};
    psfm_cross3(axis, n, u);
    psfm_normalize3(u);
    psfm_cross3(n, u, v);
}

psfm_status psfm_scene_plane_outline(psfm_context *ctx, const double (*xyz)[3],
                                     const uint32_t *member, size_t num, psfm_scene_plane *plane) {
    double(*xy)[2] = NULL, u[3], v[3];
    uint32_t *corners = NULL;
    free(plane->polygon);
    plane->polygon = NULL;
    plane->num_corners = 0;
    plane->num_points = (uint32_t)num;
    psfm_status status = PSFM_ALLOC(ctx, num, &xy);
    if (status != PSFM_OK)
        return status;
    plane_axes(plane->normal, u, v);
    for (size_t k = 0; k < num; ++k) {
        xy[k][0] = psfm_dot3(u, xyz[member[k]]);
        xy[k][1] = psfm_dot3(v, xyz[member[k]]);
    }
    uint32_t num_corners = 0;
    status = psfm_convex_hull(ctx, num, (const double(*)[2])xy, &corners, &num_corners);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_corners, &plane->polygon);
    if (status != PSFM_OK)
        goto cleanup;
    for (uint32_t k = 0; k < num_corners; ++k) {
        double *corner = plane->polygon[k];
        psfm_scale3(plane->distance, plane->normal, corner);
        psfm_axpy3(corner, xy[corners[k]][0], u, corner);
        psfm_axpy3(corner, xy[corners[k]][1], v, corner);
    }
    plane->num_corners = num_corners;
    plane->area = psfm_polygon_area((const double(*)[2])xy, corners, num_corners);

cleanup:
    free(xy);
    free(corners);
    return status;
}

/* Appends a candidate of the component to the planes found; point_plane is set later. */
static psfm_status add_plane(psfm_context *ctx, const candidate *c, uint32_t component,
                             fitting *f) {
    psfm_scene_planes *out = f->out;
    psfm_status status = PSFM_RESERVE(ctx, &out->planes, &f->capacity, (size_t)out->num_planes + 1);
    if (status != PSFM_OK)
        return status;
    psfm_scene_plane *plane = &out->planes[out->num_planes];
    *plane = (psfm_scene_plane){.distance = c->distance, .sigma = c->sigma, .component = component};
    memcpy(plane->normal, c->normal, sizeof plane->normal);
    for (size_t k = 0; k < c->num; ++k)
        out->point_plane[c->member[k]] = (int32_t)out->num_planes;
    ++out->num_planes;
    return psfm_scene_plane_outline(ctx, f->points->xyz, c->member, c->num, plane);
}

/* Candidates that are fitted each for itself. */
typedef struct {
    const double (*xyz)[3];
    candidate *candidates;
} fit_job;

static psfm_status fit_candidate(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const fit_job *job = user;
    return psfm_flat_set_fit(ctx, job->xyz, MIN_POINTS, MERGE_DEG, &job->candidates[index]);
}

/* Planes of one component. `c` are its `num` candidates. */
static psfm_status fit_part(psfm_context *ctx, const component_points *own, candidate *c,
                            uint32_t num, fitting *f) {
    const double(*xyz)[3] = f->points->xyz;
    fit_job job = {xyz, c};
    psfm_status status = psfm_parallel_for(ctx, NULL, num, fit_candidate, &job);
    if (status == PSFM_OK) {
        qsort(c, num, sizeof *c, by_size);
        status = merge_all(ctx, xyz, c, num);
    }
    for (uint32_t k = 0; status == PSFM_OK && k < num; ++k)
        if (c[k].flat)
            trim_candidate(xyz, MAX_OFF_SIGMAS, &c[k]);
    if (status == PSFM_OK)
        qsort(c, num, sizeof *c, by_size);
    for (uint32_t k = 0; status == PSFM_OK && k < num && c[k].flat; ++k) {
        if (c[k].num < MIN_POINTS)
            continue;
        face_cameras(f->poses, own->component, &c[k]);
        status = add_plane(ctx, &c[k], own->component, f);
    }
    return status;
}

/* A plane and where it was before it was put in order. */
typedef struct {
    psfm_scene_plane plane;
    uint32_t index;
} ranked;

static int by_points(const void *a, const void *b) {
    const ranked *p = a, *q = b;
    if (p->plane.num_points != q->plane.num_points)
        return p->plane.num_points > q->plane.num_points ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

psfm_status psfm_scene_planes_sort(psfm_context *ctx, size_t num_points,
                                   psfm_scene_planes *planes) {
    ranked *order = NULL;
    int32_t *rank = NULL;
    uint32_t n = planes->num_planes;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &order)) || (status = PSFM_ALLOC(ctx, n, &rank)))
        goto cleanup;
    for (uint32_t k = 0; k < n; ++k)
        order[k] = (ranked){planes->planes[k], k};
    qsort(order, n, sizeof *order, by_points);
    for (uint32_t k = 0; k < n; ++k) {
        planes->planes[k] = order[k].plane;
        rank[order[k].index] = (int32_t)k;
    }
    for (size_t p = 0; p < num_points; ++p)
        if (planes->point_plane[p] >= 0)
            planes->point_plane[p] = rank[planes->point_plane[p]];

cleanup:
    free(order);
    free(rank);
    return status;
}

/* Lists the points by component, the order within one kept: those of component c are
 * index[begin[c]] .. index[begin[c + 1] - 1]. Both are malloc'ed. */
static psfm_status sort_points(psfm_context *ctx, const psfm_labelled_points *points,
                               uint32_t *num_components, size_t **begin, uint32_t **index) {
    uint32_t num = 0;
    for (size_t p = 0; p < points->num; ++p)
        num = points->component[p] >= num ? points->component[p] + 1 : num;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, (size_t)num + 2, begin)) ||
        (status = PSFM_ALLOC(ctx, points->num, index)))
        return status;
    for (size_t p = 0; p < points->num; ++p)
        ++(*begin)[points->component[p] + 2];
    for (uint32_t c = 2; c < num + 2; ++c)
        (*begin)[c] += (*begin)[c - 1];
    for (size_t p = 0; p < points->num; ++p)
        (*index)[(*begin)[points->component[p] + 1]++] = (uint32_t)p;
    *num_components = num;
    return PSFM_OK;
}

psfm_status psfm_scene_planes_fit(psfm_context *ctx, const psfm_labelled_points *points,
                                  const psfm_poses *poses, psfm_scene_planes *out) {
    candidate *c = NULL;
    uint32_t *index = NULL, num_components = 0;
    size_t *begin = NULL;
    psfm_scene_planes made = {0};
    fitting f = {.points = points, .poses = poses, .out = &made};
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, points->num_labels, &c)) ||
        (status = PSFM_ALLOC(ctx, points->num_labels, &f.slot)) ||
        (status = PSFM_ALLOC(ctx, points->num, &made.point_plane)) ||
        (status = sort_points(ctx, points, &num_components, &begin, &index)))
        goto cleanup;
    for (size_t p = 0; p < points->num; ++p)
        made.point_plane[p] = -1;
    for (uint32_t k = 0; status == PSFM_OK && k < num_components; ++k) {
        component_points own = {index + begin[k], begin[k + 1] - begin[k], k};
        uint32_t num = 0;
        status = collect_labels(ctx, &f, &own, c, &num);
        if (status == PSFM_OK)
            status = fit_part(ctx, &own, c, num, &f);
        for (uint32_t m = 0; m < num; ++m) {
            free(c[m].member);
            c[m] = (candidate){0};
        }
    }
    if (status == PSFM_OK)
        status = psfm_scene_planes_sort(ctx, points->num, &made);

cleanup:
    free(c);
    free(f.slot);
    free(begin);
    free(index);
    if (status != PSFM_OK)
        psfm_scene_planes_free(&made);
    *out = made;
    return status;
}

void psfm_scene_planes_free(psfm_scene_planes *planes) {
    for (uint32_t k = 0; planes->planes != NULL && k < planes->num_planes; ++k)
        free(planes->planes[k].polygon);
    free(planes->planes);
    free(planes->point_plane);
    *planes = (psfm_scene_planes){0};
}

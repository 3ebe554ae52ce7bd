/* What takes part in the adjustment, in which order, and what fixes the coordinate frame.
 *
 * Images with too few observations and points with fewer than two drop out, and drop others in
 * turn, until nothing changes. The rest falls into connected components. In each of them seven
 * degrees of freedom are not observable (where, which way, how large); they are taken away by
 * holding one image and the distance of another one from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/union_find.h"
#include "core/bundle/bundle_internal.h"
#include "core/linalg/mat3.h"

#define NONE PSFM_BUNDLE_NONE
#define MIN_PLANE_POINTS 4 /* three define a plane and say nothing about it */

/* Which images, points and observations of the problem are in use. */
typedef struct {
    bool *image, *point, *obs;
    uint32_t *image_count, *point_count;
} selection;

static void free_selection(selection *s) {
    free(s->image);
    free(s->point);
    free(s->obs);
    free(s->image_count);
    free(s->point_count);
}

static psfm_status alloc_selection(psfm_context *ctx, const psfm_bundle_problem *p, selection *s) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_images, &s->image)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_points, &s->point)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_observations, &s->obs)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_images, &s->image_count)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, p->num_points, &s->point_count);
}

static bool is_fixed(const psfm_bundle_problem *p, size_t image) {
    return p->image_fixed != NULL && p->image_fixed[image];
}

static bool is_point_fixed(const psfm_bundle_problem *p, size_t point) {
    return p->point_fixed != NULL && p->point_fixed[point];
}

/* Drops what has too few observations until nothing changes. */
static void select_observations(const psfm_bundle *b, selection *s) {
    const psfm_bundle_problem *p = b->problem;
    memset(s->image, true, p->num_images * sizeof *s->image);
    memset(s->point, true, p->num_points * sizeof *s->point);
    for (bool changed = true; changed;) {
        changed = false;
        memset(s->image_count, 0, p->num_images * sizeof *s->image_count);
        memset(s->point_count, 0, p->num_points * sizeof *s->point_count);
        for (size_t o = 0; o < p->num_observations; ++o) {
            s->obs[o] = s->image[p->obs_image[o]] && s->point[p->obs_point[o]];
            s->image_count[p->obs_image[o]] += s->obs[o];
            s->point_count[p->obs_point[o]] += s->obs[o];
        }
        for (size_t k = 0; k < p->num_images; ++k) {
            bool few = !is_fixed(p, k) && s->image_count[k] < (uint32_t)b->options.min_observations;
            changed = changed || (few && s->image[k]);
            s->image[k] = s->image[k] && !few;
        }
        for (size_t k = 0; k < p->num_points; ++k) {
            bool few = s->point_count[k] < (is_point_fixed(p, k) ? 1 : 2);
            changed = changed || (few && s->point[k]);
            s->point[k] = s->point[k] && !few;
        }
    }
}

/* Counts, allocates and fills the observations by (point, image): a stable counting sort by image,
 * then one by point. Points come in the order in which the images see them, so that those of one
 * image are near each other in memory. */
static psfm_status sort_observations(psfm_context *ctx, psfm_bundle *b, const selection *s) {
    const psfm_bundle_problem *p = b->problem;
    uint32_t *by_image = NULL, *point_index = NULL;
    psfm_status status;
    for (size_t o = 0; o < p->num_observations; ++o)
        b->num_obs += s->obs[o];
    for (size_t k = 0; k < p->num_points; ++k)
        b->num_points += s->point[k];
    size_t num_obs = b->num_obs, num_points = b->num_points;
    if ((status = PSFM_ALLOC(ctx, num_obs, &by_image)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_points, &point_index)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_obs, &b->obs_source)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_obs, &b->obs_image)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_obs, &b->obs_point)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_obs, &b->image_obs)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points + 2, &b->point_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_images + 2, &b->image_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points, &b->point_source)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points, &b->point_fixed)) != PSFM_OK)
        goto cleanup;
    /* Both begin arrays are filled one place late, so that dealing out moves them into place. */
    uint32_t *image_place = b->image_begin + 1, *point_place = b->point_begin + 1, next = 0;
    for (size_t k = 0; k < p->num_images; ++k)
        image_place[k + 1] = image_place[k] + s->image_count[k];
    for (size_t o = 0; o < p->num_observations; ++o)
        if (s->obs[o])
            by_image[image_place[p->obs_image[o]]++] = (uint32_t)o;
    memset(point_index, 0xff, p->num_points * sizeof *point_index);
    for (size_t k = 0; k < num_obs; ++k) {
        uint32_t point = p->obs_point[by_image[k]];
        if (point_index[point] != NONE)
            continue;
        b->point_source[next] = point;
        b->point_fixed[next] = is_point_fixed(p, point);
        point_place[next + 1] = point_place[next] + s->point_count[point];
        point_index[point] = next++;
    }
    for (size_t k = 0; k < num_obs; ++k) {
        uint32_t source = by_image[k], point = point_index[p->obs_point[source]];
        uint32_t o = point_place[point]++;
        b->obs_source[o] = source;
        b->obs_image[o] = p->obs_image[source];
        b->obs_point[o] = point;
    }
    for (size_t k = p->num_images; k > 0; --k) /* rewind for the last deal */
        image_place[k] = image_place[k - 1];
    image_place[0] = 0;
    for (uint32_t o = 0; o < num_obs; ++o)
        b->image_obs[image_place[b->obs_image[o]]++] = o;

cleanup:
    free(by_image);
    free(point_index);
    return status;
}

static psfm_status refuse_doubles(psfm_context *ctx, const psfm_bundle *b) {
    for (uint32_t o = 1; o < b->num_obs; ++o)
        if (b->obs_point[o] == b->obs_point[o - 1] && b->obs_image[o] == b->obs_image[o - 1])
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "image %u of the bundle observes point %u twice", b->obs_image[o],
                             b->point_source[b->obs_point[o]]);
    return PSFM_OK;
}

/* Planes with enough points, their points and centroids. */
static psfm_status select_planes(psfm_context *ctx, psfm_bundle *b) {
    const psfm_bundle_problem *p = b->problem;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, b->num_points, &b->point_plane)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, b->num_points, &b->plane_points)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_planes + 2, &b->plane_begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_planes, &b->plane_anchor)) != PSFM_OK)
        return status;
    memset(b->point_plane, 0xff, b->num_points * sizeof *b->point_plane);
    if (b->options.planes == PSFM_PLANES_FREE || p->point_plane == NULL)
        return PSFM_OK;
    uint32_t *place = b->plane_begin + 1;
    for (uint32_t k = 0; k < b->num_points; ++k) {
        int32_t plane = p->point_plane[b->point_source[k]];
        if (plane >= 0)
            ++place[plane + 1];
    }
    for (size_t k = 0; k < p->num_planes; ++k) {
        uint32_t count = place[k + 1] >= MIN_PLANE_POINTS ? place[k + 1] : 0;
        place[k + 1] = place[k] + count;
    }
    for (uint32_t k = 0; k < b->num_points; ++k) {
        int32_t plane = p->point_plane[b->point_source[k]];
        if (plane < 0 || b->plane_begin[plane + 1] == b->plane_begin[plane + 2])
            continue;
        b->point_plane[k] = (uint32_t)plane;
        psfm_axpy3(b->plane_anchor[plane], 1.0, p->points[b->point_source[k]],
                   b->plane_anchor[plane]);
    }
    for (uint32_t k = 0; k < b->num_points; ++k)
        if (b->point_plane[k] != NONE)
            b->plane_points[place[b->point_plane[k]]++] = k;
    for (size_t k = 0; k < p->num_planes; ++k) {
        uint32_t count = b->plane_begin[k + 1] - b->plane_begin[k];
        psfm_scale3(1.0 / fmax(count, 1.0), b->plane_anchor[k], b->plane_anchor[k]);
    }
    return PSFM_OK;
}

/* Images that see fixed points are of one component; the first of them, or NONE. */
static uint32_t unite_known(const psfm_bundle *b, uint32_t *parent) {
    uint32_t first = NONE;
    for (uint32_t o = 0; o < b->num_obs; ++o) {
        if (!b->point_fixed[b->obs_point[o]])
            continue;
        if (first == NONE)
            first = b->obs_image[o];
        psfm_sets_unite(parent, first, b->obs_image[o]);
    }
    return first;
}

/* Images that see a common point, or points of a common plane, are of one component. Returns an
 * image of the component that fixed points hold, or NONE. */
static uint32_t find_components(const psfm_bundle *b, uint32_t *parent) {
    psfm_sets_init(parent, (uint32_t)b->problem->num_images);
    uint32_t known = unite_known(b, parent);
    for (uint32_t o = 1; o < b->num_obs; ++o)
        if (b->obs_point[o] == b->obs_point[o - 1])
            psfm_sets_unite(parent, b->obs_image[o], b->obs_image[o - 1]);
    for (size_t k = 0; k < b->problem->num_planes; ++k)
        for (uint32_t i = b->plane_begin[k] + 1; i < b->plane_begin[k + 1]; ++i)
            psfm_sets_unite(parent, b->obs_image[b->point_begin[b->plane_points[i]]],
                            b->obs_image[b->point_begin[b->plane_points[i - 1]]]);
    for (uint32_t i = 0; i < b->problem->num_images; ++i)
        parent[i] = psfm_sets_find(parent, i);
    return known;
}

static uint32_t num_seen(const psfm_bundle *b, uint32_t image) {
    return b->image_begin[image + 1] - b->image_begin[image];
}

/* Fixes the scale of a component by its image farthest from `datum`. */
static void fix_scale(psfm_bundle *b, const uint32_t *component, uint32_t datum) {
    const psfm_bundle_problem *p = b->problem;
    uint32_t farthest = NONE;
    double distance = 0.0;
    for (uint32_t i = 0; i < p->num_images; ++i) {
        double D[3];
        if (component[i] != component[datum] || b->image_state[i] == PSFM_IMAGE_LEFT_OUT)
            continue;
        psfm_sub3(p->centers[i], p->centers[datum], D);
        double length = psfm_norm3(D);
        if (length > 0.0 && b->image_state[i] == PSFM_IMAGE_FIXED)
            return; /* two known centres hold the scale */
        if (length > distance) {
            distance = length;
            farthest = i;
        }
    }
    if (farthest != NONE) {
        b->scale_anchor[farthest] = datum;
        b->scale_distance[farthest] = distance;
    }
}

static bool is_better_datum(const psfm_bundle *b, uint32_t image, uint32_t than) {
    if (than == NONE)
        return true;
    bool fixed = b->image_state[image] == PSFM_IMAGE_FIXED;
    bool than_fixed = b->image_state[than] == PSFM_IMAGE_FIXED;
    return fixed != than_fixed ? fixed : num_seen(b, image) > num_seen(b, than);
}

static psfm_status fix_gauge(psfm_context *ctx, psfm_bundle *b, const selection *s) {
    size_t n = b->problem->num_images;
    uint32_t *component = NULL, *datum = NULL;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &component)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &datum)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &b->image_state)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &b->scale_anchor)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &b->scale_distance)) != PSFM_OK)
        goto cleanup;
    uint32_t known = find_components(b, component);
    for (uint32_t i = 0; i < n; ++i) {
        b->image_state[i] = is_fixed(b->problem, i) ? PSFM_IMAGE_FIXED
                            : s->image[i]           ? PSFM_IMAGE_ADJUSTED
                                                    : PSFM_IMAGE_LEFT_OUT;
        b->scale_anchor[i] = datum[i] = NONE;
    }
    for (uint32_t i = 0; i < n; ++i)
        if (num_seen(b, i) > 0 && (known == NONE || component[i] != component[known]) &&
            is_better_datum(b, i, datum[component[i]]))
            datum[component[i]] = i;
    for (uint32_t i = 0; i < n; ++i) {
        if (datum[i] == NONE)
            continue;
        fix_scale(b, component, datum[i]);
        if (b->image_state[datum[i]] == PSFM_IMAGE_ADJUSTED)
            b->image_state[datum[i]] = PSFM_IMAGE_DATUM;
    }

cleanup:
    free(component);
    free(datum);
    return status;
}

static psfm_status alloc_values(psfm_context *ctx, const psfm_bundle *b, psfm_bundle_values *v) {
    const psfm_bundle_problem *p = b->problem;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, p->num_images, &v->R)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_images, &v->c)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, b->num_points, &v->X)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_cameras, &v->cameras)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_planes, &v->planes)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, p->num_planes, &v->plane_frame)) != PSFM_OK)
        return status;
    memcpy(v->R, p->cam_from_world, p->num_images * sizeof *v->R);
    memcpy(v->c, p->centers, p->num_images * sizeof *v->c);
    memcpy(v->cameras, p->cameras, p->num_cameras * sizeof *v->cameras);
    for (int d = 0; d < 2 && p->shape != NULL; ++d)
        v->shape[d] = p->shape->value[d];
    for (size_t k = 0; k < p->num_planes; ++k) {
        v->planes[k] = p->planes[k];
        psfm_normalize3(v->planes[k].normal);
        psfm_bundle_plane_frame(v->planes[k].normal, v->plane_frame[k]);
    }
    for (uint32_t k = 0; k < b->num_points; ++k) {
        memcpy(v->X[k], p->points[b->point_source[k]], sizeof *v->X);
        if (b->options.planes == PSFM_PLANES_HARD && b->point_plane[k] != NONE) {
            const psfm_bundle_plane *plane = &v->planes[b->point_plane[k]];
            double off = psfm_dot3(plane->normal, v->X[k]) - plane->distance;
            psfm_axpy3(v->X[k], -off, plane->normal, v->X[k]);
        }
    }
    return PSFM_OK;
}

static psfm_status alloc_rows(psfm_context *ctx, psfm_bundle *b) {
    size_t n = b->pattern.scalar_begin[b->pattern.num_blocks];
    size_t camera_stride = 2 * (size_t)b->max_free_params;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, b->num_obs, &b->rows)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, b->num_obs * camera_stride, &b->camera_rows)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, b->num_points, &b->systems)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &b->rhs)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, n, &b->step)) != PSFM_OK)
        return status;
    if (psfm_bundle_has_shape(b) &&
        ((status = PSFM_ALLOC(ctx, 2 * n, &b->border)) != PSFM_OK ||
         (status = PSFM_ALLOC(ctx, 2 * n, &b->solved_border)) != PSFM_OK))
        return status;
    return PSFM_ALLOC(ctx, 2 * psfm_bundle_num_point_tasks(b), &b->partial);
}

psfm_status psfm_bundle_setup(psfm_context *ctx, const psfm_bundle_problem *problem,
                              const psfm_bundle_options *options, psfm_bundle *b) {
    selection s = {0};
    *b = (psfm_bundle){.problem = problem};
    psfm_options_init(&psfm_bundle_option_table, &b->options);
    if (options != NULL)
        b->options = *options;
    psfm_status status;
    if ((status = psfm_options_check(ctx, &psfm_bundle_option_table, &b->options)) != PSFM_OK ||
        (status = psfm_bundle_check(ctx, problem)) != PSFM_OK ||
        (status = alloc_selection(ctx, problem, &s)) != PSFM_OK)
        goto cleanup;
    select_observations(b, &s);
    if ((status = sort_observations(ctx, b, &s)) != PSFM_OK ||
        (status = refuse_doubles(ctx, b)) != PSFM_OK ||
        (status = select_planes(ctx, b)) != PSFM_OK ||
        (status = fix_gauge(ctx, b, &s)) != PSFM_OK ||
        (status = psfm_bundle_select_intrinsics(ctx, b)) != PSFM_OK ||
        (status = alloc_values(ctx, b, &b->now)) != PSFM_OK ||
        (status = alloc_values(ctx, b, &b->trial)) != PSFM_OK ||
        (status = psfm_bundle_weigh_planes(ctx, b)) != PSFM_OK ||
        (status = psfm_bundle_make_pattern(ctx, b)) != PSFM_OK)
        goto cleanup;
    status = alloc_rows(ctx, b);

cleanup:
    free_selection(&s);
    if (status != PSFM_OK)
        psfm_bundle_teardown(b);
    return status;
}

static void free_values(psfm_bundle_values *v) {
    free(v->R);
    free(v->c);
    free(v->X);
    free(v->cameras);
    free(v->planes);
    free(v->plane_frame);
}

void psfm_bundle_teardown(psfm_bundle *b) {
    void *owned[] = {b->point_fixed,    b->obs_source,   b->obs_image,
                     b->obs_point,      b->point_begin,  b->point_source,
                     b->point_plane,    b->image_begin,  b->image_obs,
                     b->plane_begin,    b->plane_points, b->plane_anchor,
                     b->obs_px2,        b->image_state,  b->scale_anchor,
                     b->scale_distance, b->image_block,  b->camera_block,
                     b->plane_block,    b->block_source, b->camera_images_begin,
                     b->camera_images,  b->free_params,  b->num_free_params,
                     b->prior_value,    b->prior_weight, b->rows,
                     b->camera_rows,    b->systems,      b->rhs,
                     b->step,           b->partial,      b->border,
                     b->solved_border};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k)
        free(owned[k]);
    free_values(&b->now);
    free_values(&b->trial);
    psfm_block_pattern_free(&b->pattern);
    psfm_block_spd_destroy(&b->spd);
    psfm_bundle_cg_destroy(&b->cg);
    psfm_bundle_tree_destroy(&b->tree);
    *b = (psfm_bundle){0};
}

/* The frame of each component: its dominant plane becomes z = 0 with the cameras above, the longer
 * side of its outline x, the middle of the outline the origin. Without a plane the middle of the
 * cameras is the origin and the rotation stays. The scale comes from the median distance of the
 * cameras, or from a known distance between two pixels' points on the plane. */
#include "world/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "core/linalg/mat3.h"
#include "core/linalg/order_statistics.h"

psfm_status psfm_parse_image_point(psfm_context *ctx, const char *text, char **image,
                                   double xy[2]) {
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    *image = NULL;
    if (colon != NULL && colon > text) {
        xy[0] = psfm_strtod(colon + 1, &end);
        bool comma = end != colon + 1 && *end == ',';
        if (comma) {
            const char *second = end + 1;
            xy[1] = psfm_strtod(second, &end);
            if (end != second && *end == '\0' && isfinite(xy[0]) && isfinite(xy[1])) {
                psfm_status status = psfm_strdup(ctx, text, image);
                if (status == PSFM_OK)
                    (*image)[colon - text] = '\0';
                return status;
            }
        }
    }
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "'%s' is not IMAGE:x,y", text);
}

/* The parts of one component. */
typedef struct {
    const psfm_match_set *set;
    psfm_pose_solution *s;
    psfm_refined *refined;
    uint32_t component;
    psfm_scene_plane *plane; /* its dominant one, NULL if it has none */
} part;

static bool has_view(const part *p, size_t v) {
    return p->s->poses.component[v] == p->component;
}

/* The plane with most points of the component; planes are by decreasing points. */
static psfm_scene_plane *dominant_plane(const part *p) {
    psfm_scene_planes *planes = &p->refined->planes;
    for (uint32_t k = 0; k < planes->num_planes; ++k)
        if (planes->planes[k].component == p->component)
            return &planes->planes[k];
    return NULL;
}

void psfm_frame_of_plane(const psfm_scene_plane *plane, psfm_sim3 *frame) {
    double origin[3] = {0}, scatter[9] = {0}, w[3], V[9], x[3], y[3];
    const double *z = plane->normal;
    for (uint32_t k = 0; k < plane->num_corners; ++k)
        psfm_axpy3(origin, 1.0, plane->polygon[k], origin);
    psfm_scale3(1.0 / fmax(plane->num_corners, 1.0), origin, origin);
    for (uint32_t k = 0; k < plane->num_corners; ++k) {
        double d[3];
        psfm_sub3(plane->polygon[k], origin, d);
        for (int e = 0; e < 9; ++e)
            scatter[e] += d[e / 3] * d[e % 3];
    }
    psfm_mat3_eigen_symmetric(scatter, w, V);
    for (int k = 0; k < 3; ++k)
        x[k] = V[3 * k + 2];
    psfm_axpy3(x, -psfm_dot3(x, z), z, x);
    psfm_normalize3(x);
    psfm_cross3(z, x, y);
    frame->scale = 1.0;
    memcpy(frame->R, x, sizeof x);
    memcpy(frame->R + 3, y, sizeof y);
    memcpy(frame->R + 6, z, 3 * sizeof *z);
    psfm_mat3_mul_vec(frame->R, origin, frame->t);
    psfm_scale3(-1.0, frame->t, frame->t);
}

/* Median distance of the component's cameras from the plane z = 0, or from the origin. */
static psfm_status camera_distance(psfm_context *ctx, const part *p, const psfm_sim3 *frame,
                                   double *distance) {
    double *values = NULL;
    size_t num = 0;
    psfm_status status = PSFM_ALLOC(ctx, p->set->num_views, &values);
    for (size_t v = 0; status == PSFM_OK && v < p->set->num_views; ++v) {
        double moved[3];
        if (!has_view(p, v))
            continue;
        psfm_sim3_apply(frame, p->s->poses.center[v], moved);
        values[num++] = p->plane != NULL ? fabs(moved[2]) : psfm_norm3(moved);
    }
    *distance = status == PSFM_OK ? psfm_median(values, num) : 0.0;
    free(values);
    return status;
}

/* The frame of a component, before its scale is known: that of its plane, or its cameras' middle.
 */
static void make_upright(const part *p, psfm_sim3 *frame) {
    double origin[3] = {0}, num = 0.0;
    if (p->plane != NULL) {
        psfm_frame_of_plane(p->plane, frame);
        return;
    }
    for (size_t v = 0; v < p->set->num_views; ++v) {
        if (has_view(p, v)) {
            psfm_axpy3(origin, 1.0, p->s->poses.center[v], origin);
            num += 1.0;
        }
    }
    frame->scale = 1.0;
    psfm_mat3_identity(frame->R);
    psfm_scale3(-1.0 / fmax(num, 1.0), origin, frame->t);
}

static void move_sigmas(const psfm_sim3 *f, psfm_refined_image *image) {
    double half[9];
    psfm_mat3_mul_t(image->center_covariance, f->R, half);
    psfm_mat3_mul(f->R, half, image->center_covariance);
    psfm_mat3_mul_t(image->mixed_covariance, f->R, half);
    for (int k = 0; k < 9; ++k) {
        image->center_covariance[k] *= f->scale * f->scale;
        image->mixed_covariance[k] = f->scale * half[k];
    }
    image->center_sigma *= f->scale;
}

void psfm_component_move(const psfm_sim3 *f, uint32_t component, psfm_pose_solution *s,
                         psfm_refined *refined) {
    psfm_structure *st = &refined->structure;
    for (uint32_t v = 0; v < s->num_nodes; ++v) {
        double center[3], R[9];
        if (s->poses.component[v] != component)
            continue;
        psfm_sim3_apply(f, s->poses.center[v], center);
        memcpy(s->poses.center[v], center, sizeof center);
        psfm_mat3_mul_t(s->poses.cam_from_world[v], f->R, R);
        memcpy(s->poses.cam_from_world[v], R, sizeof R);
        if (refined->images != NULL)
            move_sigmas(f, &refined->images[v]);
    }
    for (size_t k = 0; k < st->num_points; ++k) {
        double X[3];
        if (st->component[k] != component)
            continue;
        psfm_sim3_apply(f, st->points[k], X);
        memcpy(st->points[k], X, sizeof X);
    }
    for (uint32_t k = 0; k < refined->planes.num_planes; ++k)
        if (refined->planes.planes[k].component == component)
            psfm_scene_plane_move(&refined->planes.planes[k], f);
}

/* Where the ray of a pixel meets the dominant plane, in the frame. */
static psfm_status meet_plane(psfm_context *ctx, const part *p, const psfm_sim3 *f,
                              const char *name, const double xy[2], double X[3]) {
    for (size_t v = 0; v < p->set->num_views; ++v) {
        const psfm_view *view = &p->set->views[v];
        double ray[3], direction[3], world[3], center[3];
        if (strcmp(view->name, name) != 0 || !has_view(p, v))
            continue;
        if (!psfm_camera_unproject(&p->set->cameras[view->camera_idx], xy, ray))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%s has no ray at (%g, %g)", name, xy[0],
                             xy[1]);
        psfm_mat3_tmul_vec(p->s->poses.cam_from_world[v], ray, world);
        psfm_mat3_mul_vec(f->R, world, direction);
        psfm_sim3_apply(f, p->s->poses.center[v], center);
        if (!(direction[2] < 0.0))
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                             "the pixel (%g, %g) of %s does not look at the dominant plane", xy[0],
                             xy[1], name);
        psfm_axpy3(center, -center[2] / direction[2], direction, X);
        return PSFM_OK;
    }
    return psfm_fail(ctx, PSFM_ERR_DATA, "%s has no pose in the model that the distance is for",
                     name);
}

/* Component of the image that a known distance starts in; UINT32_MAX if it has no pose. */
static uint32_t component_of_image(const psfm_match_set *set, const psfm_pose_solution *s,
                                   const char *name) {
    for (size_t v = 0; v < set->num_views; ++v)
        if (strcmp(set->views[v].name, name) == 0)
            return s->poses.component[v];
    return UINT32_MAX;
}

static psfm_status find_scale(psfm_context *ctx, const part *p, const psfm_frame_options *options,
                              psfm_sim3 *f) {
    const psfm_known_distance *known = &options->distance;
    double now = 0.0, wanted = options->scale > 0.0 ? options->scale : 1.0;
    psfm_status status;
    if (known->image1 != NULL && component_of_image(p->set, p->s, known->image1) == p->component) {
        double A[3], B[3], d[3];
        if (p->plane == NULL)
            return psfm_fail(ctx, PSFM_ERR_DATA,
                             "a known distance needs a plane, and none was found");
        if ((status = meet_plane(ctx, p, f, known->image1, known->xy1, A)) ||
            (status = meet_plane(ctx, p, f, known->image2, known->xy2, B)))
            return status;
        psfm_sub3(A, B, d);
        now = psfm_norm3(d);
        wanted = known->metres;
    } else {
        status = camera_distance(ctx, p, f, &now);
        if (status != PSFM_OK)
            return status;
    }
    if (!(now > 0.0) || !isfinite(now))
        return PSFM_OK; /* no extent to scale by */
    f->scale = wanted / now;
    psfm_scale3(f->scale, f->t, f->t);
    return PSFM_OK;
}

psfm_status psfm_frame_set(psfm_context *ctx, const psfm_match_set *set,
                           const psfm_frame_options *options, uint32_t done,
                           psfm_pose_solution *solution, psfm_refined *refined) {
    psfm_status status = PSFM_OK;
    const char *image = options->distance.image1;
    if (image != NULL && component_of_image(set, solution, image) == UINT32_MAX)
        return psfm_fail(ctx, PSFM_ERR_DATA, "the known distance starts in %s, which has no pose",
                         image);
    for (uint32_t c = 0; status == PSFM_OK && c < solution->num_components; ++c) {
        if (c == done)
            continue;
        part p = {set, solution, refined, c, NULL};
        psfm_sim3 frame;
        p.plane = dominant_plane(&p);
        make_upright(&p, &frame);
        status = find_scale(ctx, &p, options, &frame);
        if (status == PSFM_OK)
            psfm_component_move(&frame, c, solution, refined);
    }
    return status;
}

/* ---- moving a model ---- */

/* Models and planes under a similarity y = s R x + t. A pose becomes R_cam R^T with the moved
 * centre, whose translation has the new unit; a plane n . X = d becomes (R n) . Y = s d + (R n) .
 * t. */

static void move_image(psfm_model_image *image, const psfm_sim3 *s) {
    double R[9], moved[9], center[3], at[3];
    psfm_rotation_from_quat(image->cam_from_world_q, R);
    psfm_model_image_center(image, center);
    psfm_sim3_apply(s, center, at);
    psfm_mat3_mul_t(R, s->R, moved);
    psfm_rotation_to_quat(moved, image->cam_from_world_q);
    psfm_mat3_mul_vec(moved, at, image->cam_from_world_t);
    psfm_scale3(-1.0, image->cam_from_world_t, image->cam_from_world_t);
}

void psfm_model_move(psfm_model *model, const psfm_sim3 *to_from) {
    for (size_t k = 0; k < model->num_images; ++k)
        move_image(&model->images[k], to_from);
    for (size_t k = 0; k < model->num_points; ++k) {
        double X[3];
        psfm_sim3_apply(to_from, model->points[k].xyz, X);
        memcpy(model->points[k].xyz, X, sizeof X);
    }
}

void psfm_scene_plane_move(psfm_scene_plane *plane, const psfm_sim3 *to_from) {
    double n[3];
    psfm_mat3_mul_vec(to_from->R, plane->normal, n);
    memcpy(plane->normal, n, sizeof n);
    plane->distance = to_from->scale * plane->distance + psfm_dot3(n, to_from->t);
    plane->sigma *= to_from->scale;
    plane->area *= to_from->scale * to_from->scale;
    for (uint32_t k = 0; k < plane->num_corners; ++k) {
        double corner[3];
        psfm_sim3_apply(to_from, plane->polygon[k], corner);
        memcpy(plane->polygon[k], corner, sizeof corner);
    }
}

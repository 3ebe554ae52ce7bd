/* Synthetic pairs of views with ground truth, for the tests and benchmarks of the two-view layer.
 * Cameras are given by two functions, so that any camera model can be used; a pinhole is built
 * in. */
#ifndef PSFM_TESTS_TWO_VIEW_SCENE_H
#define PSFM_TESTS_TWO_VIEW_SCENE_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/matches/match_set.h"

#define SCENE_MAX_PLANES 4

typedef struct {
    double width, height, focal; /* pixels; focal and centre are the pinhole's only */
    const void *camera;          /* handed to the functions; NULL means pinhole */
    bool (*project)(const void *camera, const double ray[3], double xy[2], double jacobian[6]);
    bool (*unproject)(const void *camera, const double xy[2], double ray[3]);
} scene_camera;

typedef struct {
    scene_camera camera;
    size_t num_matches;
    double outliers;    /* share of the matches: two random points */
    double off_plane;   /* share of the true matches that lie on no plane */
    double noise_px;    /* standard deviation per coordinate, both images */
    int num_planes;     /* 0: all true matches are off plane */
    double baseline[2]; /* range of |t| in units of the distance of the first plane's middle */
    double max_tilt;    /* of a plane against the viewing direction, radians */
    double max_roll;    /* of camera 2 about its viewing direction, radians */
    double sphere; /* radius of a sphere round (0, 0, 1) that off-plane points lie on; 0: none */
} scene_options;

typedef struct {
    double R_21[9], t_21[3];
    double n1[SCENE_MAX_PLANES][3], d1[SCENE_MAX_PLANES]; /* n1 . X1 = d1 > 0 */
    double H_21[SCENE_MAX_PLANES][9];                     /* R + t n^T / d, not normalised */
    int num_planes;
    psfm_correspondences c;
    int *plane; /* per match; -1 off plane but true, -2 wrong */
    double (*xy1)[2], (*xy2)[2];
    double size[2];
} scene;

static inline scene_options scene_defaults(void) {
    return (scene_options){.camera = {1024, 768, 1280, NULL, NULL, NULL},
                           .num_matches = 500,
                           .num_planes = 1,
                           .baseline = {0.1, 1.0},
                           .max_tilt = 1.0,
                           .max_roll = 0.5};
}

static inline bool scene_project(const scene_camera *cam, const double ray[3], double xy[2],
                                 double jacobian[6]) {
    if (cam->project != NULL)
        return cam->project(cam->camera, ray, xy, jacobian);
    if (!(ray[2] > 0.0))
        return false;
    double f = cam->focal / ray[2];
    xy[0] = 0.5 * cam->width + f * ray[0];
    xy[1] = 0.5 * cam->height + f * ray[1];
    const double J[6] = {f, 0, -f * ray[0] / ray[2], 0, f, -f * ray[1] / ray[2]};
    memcpy(jacobian, J, sizeof J);
    return true;
}

static inline bool scene_unproject(const scene_camera *cam, const double xy[2], double ray[3]) {
    if (cam->unproject != NULL)
        return cam->unproject(cam->camera, xy, ray);
    ray[0] = (xy[0] - 0.5 * cam->width) / cam->focal;
    ray[1] = (xy[1] - 0.5 * cam->height) / cam->focal;
    ray[2] = 1.0;
    psfm_normalize3(ray);
    return true;
}

static inline bool scene_inside(const scene_camera *cam, const double xy[2]) {
    return xy[0] >= 0.0 && xy[0] < cam->width && xy[1] >= 0.0 && xy[1] < cam->height;
}

static inline void scene_random_pixel(const scene_camera *cam, psfm_rng *rng, double xy[2]) {
    xy[0] = psfm_rng_range(rng, 0.0, cam->width);
    xy[1] = psfm_rng_range(rng, 0.0, cam->height);
}

/* A unit vector at most `angle` away from `axis`, uniform on the cap. */
static inline void scene_cap(psfm_rng *rng, const double axis[3], double angle, double out[3]) {
    do {
        psfm_rng_direction(rng, out);
    } while (psfm_angle3(out, axis) > angle);
}

/* Camera 2 at c looking at the point `target`, rolled. */
static inline void scene_look_at(psfm_rng *rng, const double c[3], const double target[3],
                                 double max_roll, double R[9]) {
    double z[3], roll = psfm_rng_range(rng, -max_roll, max_roll);
    double down[3] = {sin(roll), cos(roll), 0};
    psfm_sub3(target, c, z);
    psfm_normalize3(z);
    psfm_cross3(down, z, R);
    psfm_normalize3(R);
    psfm_cross3(z, R, R + 3);
    memcpy(R + 6, z, sizeof z);
}

/* Planes through points near the first plane's middle (0, 0, 1), and a second camera at a random
 * place that looks at it. */
static inline void scene_draw_geometry(const scene_options *o, psfm_rng *rng, scene *s) {
    const double axis[3] = {0, 0, 1};
    s->num_planes = o->num_planes;
    double c2[3], target[3] = {psfm_rng_range(rng, -0.1, 0.1), psfm_rng_range(rng, -0.1, 0.1), 1};
    do {
        psfm_rng_direction(rng, c2);
        psfm_scale3(psfm_rng_range(rng, o->baseline[0], o->baseline[1]), c2, c2);
    } while (c2[2] > 0.5);
    scene_look_at(rng, c2, target, o->max_roll, s->R_21);
    psfm_mat3_mul_vec(s->R_21, c2, s->t_21);
    psfm_scale3(-1.0, s->t_21, s->t_21);
    for (int p = 0; p < o->num_planes; ++p) {
        double depth = p == 0 ? 1.0 : psfm_rng_range(rng, 0.7, 1.4);
        double *n = s->n1[p];
        scene_cap(rng, axis, o->max_tilt, n);
        s->d1[p] = depth * n[2];
        for (int k = 0; k < 9; ++k)
            s->H_21[p][k] = s->R_21[k] + s->t_21[k / 3] * n[k % 3] / s->d1[p];
    }
}

/* Adds noise and fills match i; false if a point left the image or its camera's range. */
static inline bool scene_observe(const scene_options *o, psfm_rng *rng, scene *s, size_t i,
                                 const double xy1[2], const double xy2[2]) {
    double dummy[2];
    for (int k = 0; k < 2; ++k) {
        s->xy1[i][k] = xy1[k] + o->noise_px * psfm_rng_normal(rng);
        s->xy2[i][k] = xy2[k] + o->noise_px * psfm_rng_normal(rng);
    }
    s->c.match_idx[i] = (uint32_t)i;
    return scene_inside(&o->camera, s->xy1[i]) && scene_inside(&o->camera, s->xy2[i]) &&
           scene_unproject(&o->camera, s->xy1[i], s->c.ray1[i]) &&
           scene_unproject(&o->camera, s->xy2[i], s->c.ray2[i]) &&
           scene_project(&o->camera, s->c.ray1[i], dummy, s->c.px1[i]) &&
           scene_project(&o->camera, s->c.ray2[i], dummy, s->c.px2[i]);
}

/* Depth of a unit ray at the front of the sphere; 0 if it passes by. */
static inline double scene_sphere_depth(double radius, const double ray[3]) {
    double inside = ray[2] * ray[2] - 1.0 + radius * radius;
    return inside > 0.0 ? ray[2] - sqrt(inside) : 0.0;
}

/* Whether camera 2 sees the side of the sphere on which X1 lies. */
static inline bool scene_faces_camera2(const scene *s, const double X1[3]) {
    double c2[3], to_camera[3], normal[3] = {X1[0], X1[1], X1[2] - 1.0};
    psfm_mat3_tmul_vec(s->R_21, s->t_21, c2);
    psfm_scale3(-1.0, c2, c2);
    psfm_sub3(c2, X1, to_camera);
    return psfm_dot3(normal, to_camera) > 0.0;
}

/* A true match of plane p, or off plane for p < 0. Plane p > 0 or of several has its own vertical
 * strip of image 1, so that planes are patches and not transparent. */
static inline bool scene_true_match(const scene_options *o, psfm_rng *rng, scene *s, size_t i,
                                    int p) {
    double xy1[2], xy2[2], ray[3], X2[3], J[6];
    scene_random_pixel(&o->camera, rng, xy1);
    if (p >= 0)
        xy1[0] = (xy1[0] + p * o->camera.width) / o->num_planes;
    if (!scene_unproject(&o->camera, xy1, ray))
        return false;
    double depth = p >= 0 ? s->d1[p] / psfm_dot3(s->n1[p], ray) : psfm_rng_range(rng, 0.5, 2.0);
    if (p < 0 && o->sphere > 0.0)
        depth = scene_sphere_depth(o->sphere, ray);
    if (!(depth > 0.05 && depth < 20.0))
        return false;
    psfm_scale3(depth, ray, ray);
    if (p < 0 && o->sphere > 0.0 && !scene_faces_camera2(s, ray))
        return false;
    psfm_mat3_mul_vec(s->R_21, ray, X2);
    psfm_axpy3(X2, 1.0, s->t_21, X2);
    /* both cameras see the same side of the plane */
    double d2 = 1.0;
    if (p >= 0) {
        double n2[3];
        psfm_mat3_mul_vec(s->R_21, s->n1[p], n2);
        d2 = s->d1[p] + psfm_dot3(n2, s->t_21);
    }
    return d2 > 0.0 && scene_project(&o->camera, X2, xy2, J) && scene_inside(&o->camera, xy2) &&
           scene_observe(o, rng, s, i, xy1, xy2);
}

static inline bool scene_wrong_match(const scene_options *o, psfm_rng *rng, scene *s, size_t i) {
    double xy1[2], xy2[2];
    scene_random_pixel(&o->camera, rng, xy1);
    scene_random_pixel(&o->camera, rng, xy2);
    return scene_observe(o, rng, s, i, xy1, xy2);
}

/* Fills all matches of a drawn geometry; false if too little of it is seen by both cameras. */
static inline bool scene_draw_matches(const scene_options *o, psfm_rng *rng, scene *s) {
    size_t num_wrong = (size_t)(o->outliers * (double)o->num_matches + 0.5);
    size_t num_true = o->num_matches - num_wrong, tries = 0;
    size_t num_off =
        o->num_planes == 0 ? num_true : (size_t)(o->off_plane * (double)num_true + 0.5);
    for (size_t i = 0; i < o->num_matches;) {
        if (++tries > 20 * o->num_matches)
            return false;
        int p = i < num_off ? -1 : i >= num_true ? -2 : (int)(i % (size_t)o->num_planes);
        bool ok = p == -2 ? scene_wrong_match(o, rng, s, i) : scene_true_match(o, rng, s, i, p);
        if (ok)
            s->plane[i++] = p;
    }
    return true;
}

static inline void scene_swap(void *array, size_t size, size_t i, size_t j) {
    char row[64], *a = (char *)array + i * size, *b = (char *)array + j * size;
    memcpy(row, a, size);
    memcpy(a, b, size);
    memcpy(b, row, size);
}

/* Swaps rows so that kinds of matches are mixed. */
static inline void scene_shuffle(psfm_rng *rng, scene *s) {
    for (size_t i = s->c.num; i > 1; --i) {
        size_t j = psfm_rng_below(rng, i);
        scene_swap(s->plane, sizeof *s->plane, i - 1, j);
        scene_swap(s->c.ray1, sizeof *s->c.ray1, i - 1, j);
        scene_swap(s->c.ray2, sizeof *s->c.ray2, i - 1, j);
        scene_swap(s->c.px1, sizeof *s->c.px1, i - 1, j);
        scene_swap(s->c.px2, sizeof *s->c.px2, i - 1, j);
        scene_swap(s->xy1, sizeof *s->xy1, i - 1, j);
        scene_swap(s->xy2, sizeof *s->xy2, i - 1, j);
    }
}

/* A random pair; every draw comes from the seed. Free with scene_free. */
static inline scene scene_make(const scene_options *o, uint64_t seed) {
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_TEST, 17, 4);
    size_t n = o->num_matches;
    scene s;
    memset(&s, 0, sizeof s);
    s.c.num = n;
    s.c.ray1 = malloc((n + 1) * sizeof *s.c.ray1);
    s.c.ray2 = malloc((n + 1) * sizeof *s.c.ray2);
    s.c.px1 = malloc((n + 1) * sizeof *s.c.px1);
    s.c.px2 = malloc((n + 1) * sizeof *s.c.px2);
    s.c.match_idx = malloc((n + 1) * sizeof *s.c.match_idx);
    s.plane = malloc((n + 1) * sizeof *s.plane);
    s.xy1 = malloc((n + 1) * sizeof *s.xy1);
    s.xy2 = malloc((n + 1) * sizeof *s.xy2);
    s.size[0] = o->camera.width;
    s.size[1] = o->camera.height;
    do {
        scene_draw_geometry(o, &rng, &s);
    } while (!scene_draw_matches(o, &rng, &s));
    scene_shuffle(&rng, &s);
    return s;
}

static inline void scene_free(scene *s) {
    free(s->c.ray1);
    free(s->c.ray2);
    free(s->c.px1);
    free(s->c.px2);
    free(s->c.match_idx);
    free(s->plane);
    free(s->xy1);
    free(s->xy2);
    memset(s, 0, sizeof *s);
}

#endif

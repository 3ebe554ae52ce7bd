/* Two halves with independent errors, each with half of the information, differ by twice the
 * standard deviation of the whole. Adjacent points share what the lens, the print or the light do
 * to them: a random split would put that error into both halves, and it would cancel. */
#include "core/refine/bundle_copy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define SQUARES 8 /* of the chessboard along the longer side of an image */

void psfm_bundle_copy_free(psfm_bundle_copy *copy) {
    free(copy->cameras);
    free(copy->priors);
    free(copy->cam_from_world);
    free(copy->centers);
    free(copy->points);
    free(copy->planes);
    free(copy->obs_image);
    free(copy->obs_point);
    free(copy->obs_xy);
    free(copy->obs_sqrt_info);
    *copy = (psfm_bundle_copy){0};
}

/* The colour of an observation's square. */
static psfm_bundle_part colour_of(const psfm_bundle_problem *problem, size_t observation) {
    const psfm_camera *camera =
        &problem->cameras[problem->image_camera[problem->obs_image[observation]]];
    double side = (double)(camera->width > camera->height ? camera->width : camera->height);
    double square = fmax(side, 1.0) / SQUARES;
    const double *xy = problem->obs_xy[observation];
    int field = (int)floor(xy[0] / square) + (int)floor(xy[1] / square);
    return (field & 1) == 0 ? PSFM_BUNDLE_HALF_A : PSFM_BUNDLE_HALF_B;
}

static psfm_status allocate_values(psfm_context *ctx, const psfm_bundle_problem *from,
                                   psfm_bundle_copy *copy) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, from->num_cameras, &copy->cameras)) ||
        (status = PSFM_ALLOC(ctx, from->num_cameras, &copy->priors)) ||
        (status = PSFM_ALLOC(ctx, from->num_images, &copy->cam_from_world)) ||
        (status = PSFM_ALLOC(ctx, from->num_images, &copy->centers)) ||
        (status = PSFM_ALLOC(ctx, from->num_points, &copy->points)))
        return status;
    return PSFM_ALLOC(ctx, from->num_planes, &copy->planes);
}

static void copy_values(const psfm_bundle_problem *from, psfm_bundle_copy *copy) {
    memcpy(copy->cameras, from->cameras, from->num_cameras * sizeof *from->cameras);
    if (from->camera_priors != NULL)
        memcpy(copy->priors, from->camera_priors, from->num_cameras * sizeof *copy->priors);
    memcpy(copy->cam_from_world, from->cam_from_world,
           from->num_images * sizeof *copy->cam_from_world);
    memcpy(copy->centers, from->centers, from->num_images * sizeof *copy->centers);
    if (from->num_points > 0)
        memcpy(copy->points, from->points, from->num_points * sizeof *copy->points);
    if (from->num_planes > 0)
        memcpy(copy->planes, from->planes, from->num_planes * sizeof *copy->planes);
    if (from->shape != NULL)
        copy->shape = *from->shape;
}

static psfm_status allocate_observations(psfm_context *ctx, const psfm_bundle_problem *from,
                                         psfm_bundle_copy *copy) {
    size_t n = from->num_observations;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &copy->obs_image)) ||
        (status = PSFM_ALLOC(ctx, n, &copy->obs_point)) ||
        (status = PSFM_ALLOC(ctx, n, &copy->obs_xy)))
        return status;
    return from->obs_sqrt_info == NULL ? PSFM_OK : PSFM_ALLOC(ctx, n, &copy->obs_sqrt_info);
}

/* The part that each point is of: the colour of the square that it is first seen in. */
static psfm_status colour_points(psfm_context *ctx, const psfm_bundle_problem *from,
                                 psfm_bundle_part **colour) {
    psfm_status status = PSFM_ALLOC(ctx, from->num_points, colour);
    for (size_t p = 0; status == PSFM_OK && p < from->num_points; ++p)
        (*colour)[p] = PSFM_BUNDLE_ALL;
    for (size_t k = 0; status == PSFM_OK && k < from->num_observations; ++k) {
        psfm_bundle_part *own = &(*colour)[from->obs_point[k]];
        if (*own == PSFM_BUNDLE_ALL)
            *own = colour_of(from, k);
    }
    return status;
}

/* The part that each image is of: those of one camera in turn. */
static psfm_status deal_images(psfm_context *ctx, const psfm_bundle_problem *from,
                               psfm_bundle_part **part) {
    bool *is_odd = NULL; /* per camera: its next image */
    psfm_status status = PSFM_ALLOC(ctx, from->num_images, part);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, from->num_cameras, &is_odd);
    for (size_t v = 0; status == PSFM_OK && v < from->num_images; ++v) {
        bool *next = &is_odd[from->image_camera[v]];
        (*part)[v] = *next ? PSFM_BUNDLE_ODD_IMAGES : PSFM_BUNDLE_EVEN_IMAGES;
        *next = !*next;
    }
    free(is_odd);
    return status;
}

static void copy_observation(const psfm_bundle_problem *from, size_t k, size_t n,
                             psfm_bundle_copy *copy) {
    copy->obs_image[n] = from->obs_image[k];
    copy->obs_point[n] = from->obs_point[k];
    memcpy(copy->obs_xy[n], from->obs_xy[k], sizeof *copy->obs_xy);
    if (from->obs_sqrt_info != NULL)
        memcpy(copy->obs_sqrt_info[n], from->obs_sqrt_info[k], sizeof *copy->obs_sqrt_info);
}

/* Copies the observations of the points, or of the images, of this part. */
static psfm_status copy_half(psfm_context *ctx, const psfm_bundle_problem *from,
                             psfm_bundle_part part, psfm_bundle_copy *copy) {
    const bool by_image = part >= PSFM_BUNDLE_EVEN_IMAGES;
    const uint32_t *owner = by_image ? from->obs_image : from->obs_point;
    psfm_bundle_part *part_of = NULL;
    size_t n = 0;
    psfm_status status = allocate_observations(ctx, from, copy);
    if (status == PSFM_OK)
        status = by_image ? deal_images(ctx, from, &part_of) : colour_points(ctx, from, &part_of);
    for (size_t k = 0; status == PSFM_OK && k < from->num_observations; ++k)
        if (part_of[owner[k]] == part)
            copy_observation(from, k, n++, copy);
    psfm_bundle_problem *p = &copy->problem;
    p->num_observations = n;
    p->obs_image = copy->obs_image;
    p->obs_point = copy->obs_point;
    p->obs_xy = (const double(*)[2])copy->obs_xy;
    p->obs_sqrt_info = (const double(*)[3])copy->obs_sqrt_info;
    free(part_of);
    return status;
}

psfm_status psfm_bundle_copy_make(psfm_context *ctx, const psfm_bundle_problem *from,
                                  psfm_bundle_part part, psfm_bundle_copy *copy) {
    *copy = (psfm_bundle_copy){.problem = *from};
    psfm_status status = allocate_values(ctx, from, copy);
    if (status != PSFM_OK)
        return status;
    copy_values(from, copy);
    psfm_bundle_problem *p = &copy->problem;
    p->cameras = copy->cameras;
    p->camera_priors = from->camera_priors == NULL ? NULL : copy->priors;
    p->cam_from_world = copy->cam_from_world;
    p->centers = copy->centers;
    p->points = copy->points;
    p->planes = copy->planes;
    p->shape = from->shape == NULL ? NULL : &copy->shape;
    return part == PSFM_BUNDLE_ALL ? PSFM_OK : copy_half(ctx, from, part, copy);
}

/* A photograph that was refused may have too few lines for a search, and yet enough for a fit once
 * matches say where to look. */
#include "court/posed_registration.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/path.h"
#include "core/linalg/angle.h"
#include "core/linalg/mat3.h"

#define MIN_LINES 2   /* distinct ones, of both directions mostly */
#define MAX_TURN 1.0  /* degrees between the fit and the pose */
#define MAX_AWAY 0.02 /* sizes of the drawing between their centres */

typedef struct {
    const psfm_match_set *set;
    const psfm_poses *poses;
    uint32_t component;
    psfm_court_evidence *evidence;
} posed_work;

/* Whether a fit is where it began, and lines confirm it there. */
static bool is_confirmed(const posed_work *w, uint32_t v, const psfm_court_pose *fit) {
    const psfm_court_evidence *e = w->evidence;
    double away[3];
    psfm_sub3(fit->center, w->poses->center[v], away);
    double turn = psfm_degrees(psfm_rotation_angle(fit->R, w->poses->cam_from_world[v]));
    return fit->part_hit != NULL && fit->num_lines >= MIN_LINES && fit->score > 0.0 &&
           fit->hit >= e->options.min_hit && turn < MAX_TURN &&
           psfm_norm3(away) < MAX_AWAY * psfm_drawing_size(e->drawing);
}

static psfm_status fit_photograph(psfm_context *ctx, posed_work *w, uint32_t v,
                                  const psfm_image *image) {
    psfm_court_evidence *e = w->evidence;
    const psfm_camera *camera = &w->set->cameras[w->set->views[v].camera_idx];
    psfm_court_pose start = {.camera = *camera}, found = {0};
    psfm_court_view view;
    memcpy(start.R, w->poses->cam_from_world[v], sizeof start.R);
    memcpy(start.center, w->poses->center[v], sizeof start.center);
    if ((uint64_t)image->width != camera->width || (uint64_t)image->height != camera->height)
        return PSFM_OK;
    psfm_status status =
        psfm_court_view_init(ctx, image, camera, PSFM_FOCAL_FIXED, &e->options, &view);
    if (status == PSFM_OK)
        status = psfm_court_refit(ctx, &view, e->drawing, &e->options, &start, &found);
    if (status == PSFM_OK && is_confirmed(w, v, &found)) {
        psfm_court_pose old = e->poses[v];
        found.verdict = PSFM_COURT_POSED;
        e->poses[v] = found;
        e->agrees[v] = true;
        e->quarters[v] = 0;
        found = old;
    }
    psfm_court_pose_free(&found);
    psfm_court_view_free(&view);
    return status;
}

static psfm_status fit_view(psfm_context *ctx, size_t v, int worker, void *user) {
    posed_work *w = user;
    psfm_image image = {0};
    char *path = NULL;
    (void)worker;
    if (w->poses->component[v] != w->component || w->evidence->agrees[v])
        return PSFM_OK;
    psfm_status status =
        psfm_photo_path(ctx, w->evidence->photo_folder, w->set->views[v].name, &path);
    if (status == PSFM_OK)
        status = psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &image);
    free(path);
    if (psfm_is_bad_file(status)) {
        psfm_image_free(&image);
        return PSFM_OK;
    }
    if (status == PSFM_OK)
        status = fit_photograph(ctx, w, (uint32_t)v, &image);
    psfm_image_free(&image);
    return status;
}

psfm_status psfm_court_fit_posed(psfm_context *ctx, const psfm_match_set *set,
                                 const psfm_poses *poses, uint32_t component,
                                 psfm_court_evidence *evidence, uint32_t *num) {
    posed_work w = {set, poses, component, evidence};
    psfm_status status = psfm_parallel_for(ctx, "lines", evidence->num_views, fit_view, &w);
    *num = 0;
    for (uint32_t v = 0; v < evidence->num_views; ++v)
        *num += evidence->poses[v].verdict == PSFM_COURT_POSED;
    return status;
}

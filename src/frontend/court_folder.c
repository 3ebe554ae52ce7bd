/* Cameras are looked up before the work begins, so that a missing one stops it at once; the size of
 * a photograph is compared with its camera when it is read. */
#include "frontend/court_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/path.h"
#include "court/overlay.h"
#include "images/image/exif.h"
#include "images/image/image_codec.h"
#include "images/image/image_list.h"

#define JPEG_QUALITY 90

typedef struct {
    const char *folder;
    const psfm_court_target *target;
    const psfm_court_folder_options *options;
    psfm_image_list files;
    psfm_camera *cameras; /* per photograph; NULL: from EXIF data */
    psfm_court_results *results;
} folder_work;

/* ---- before the work ---- */

static psfm_status find_cameras(psfm_context *ctx, folder_work *w) {
    psfm_intrinsics intrinsics = {0};
    psfm_intrinsics_options given = w->options->intrinsics;
    given.sharing = PSFM_SHARE_AUTO;
    psfm_status status = psfm_intrinsics_open(ctx, &given, &intrinsics);
    if (status == PSFM_OK && intrinsics.kind != PSFM_INTRINSICS_PHOTOGRAPHS)
        status = PSFM_ALLOC(ctx, w->files.num, &w->cameras);
    for (size_t k = 0; w->cameras != NULL && k < w->files.num && status == PSFM_OK; ++k) {
        char *source = NULL, *path = NULL;
        psfm_photo_facts facts = {.name = w->files.names[k]};
        status = psfm_path_join(ctx, w->folder, facts.name, &path);
        /* one that cannot be read is told of when its turn comes */
        if (status == PSFM_OK && !psfm_image_file_size(path, &facts.width, &facts.height))
            facts.width = facts.height = 0;
        if (status == PSFM_OK)
            status = psfm_intrinsics_find(ctx, &intrinsics, &facts, &w->cameras[k], &source);
        free(path);
        free(source);
    }
    psfm_intrinsics_free(&intrinsics);
    return status;
}

/* ---- one photograph ---- */

/* A photograph that is open, with what is known of its camera. */
typedef struct {
    size_t idx;
    const char *path;
    psfm_image image;
    psfm_camera camera;
    psfm_photo_camera known;
} photograph;

static psfm_status choose_camera(psfm_context *ctx, const folder_work *w, photograph *p) {
    psfm_exif exif = {0};
    psfm_status status = PSFM_OK;
    const psfm_image *image = &p->image;
    psfm_camera *camera = &p->camera;
    p->known = (psfm_photo_camera){camera,
                                   w->options->search_focal ? PSFM_FOCAL_SEARCH : PSFM_FOCAL_FIXED};
    if (w->cameras != NULL) {
        *camera = w->cameras[p->idx];
        if (camera->width == (uint64_t)image->width && camera->height == (uint64_t)image->height)
            return PSFM_OK;
        return psfm_fail(ctx, PSFM_ERR_DATA, "it has %d x %d pixels, its camera %llu x %llu",
                         image->width, image->height, (unsigned long long)camera->width,
                         (unsigned long long)camera->height);
    }
    if (!w->options->search_focal)
        status = psfm_exif_read(ctx, p->path, image->width, image->height, &exif);
    p->known.focal = PSFM_FOCAL_REFINE;
    *camera = (psfm_camera){.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                            .width = (uint64_t)image->width,
                            .height = (uint64_t)image->height,
                            .params = {exif.focal_px, 0.5 * image->width, 0.5 * image->height}};
    if (!exif.has_focal)
        p->known = (psfm_photo_camera){NULL, PSFM_FOCAL_SEARCH};
    return status;
}

/* The photograph with the drawing over it, under its own name. */
static psfm_status write_overlay(psfm_context *ctx, const folder_work *w,
                                 const psfm_court_result *result, psfm_image *image) {
    char *path = NULL, *folder = NULL;
    psfm_drawing drawing = {0};
    size_t size = strlen(w->options->overlay_folder) + strlen(result->name) + 8;
    psfm_status status = PSFM_ALLOC(ctx, size, &path);
    if (status != PSFM_OK)
        return status;
    snprintf(path, size, "%s/%s%s", w->options->overlay_folder, result->name,
             psfm_image_has_ending(result->name, true) ? "" : ".jpg");
    status = psfm_strdup(ctx, path, &folder);
    if (status == PSFM_OK) {
        *strrchr(folder, '/') = '\0';
        status = psfm_make_folders(ctx, folder);
    }
    if (status == PSFM_OK)
        status = psfm_drawing_copy(ctx, &w->target->drawing, &drawing);
    if (status == PSFM_OK) {
        psfm_drawing_resize(&drawing, result->pose.size);
        psfm_court_overlay(&drawing, &result->pose, image);
        status = psfm_image_write(ctx, image, JPEG_QUALITY, path);
    }
    psfm_drawing_free(&drawing);
    free(folder);
    free(path);
    return status;
}

/* Reads a photograph and finds its camera; what is wrong with either is the result's problem. */
static psfm_status open_photograph(psfm_context *ctx, const folder_work *w, photograph *p) {
    psfm_status status = psfm_image_read(ctx, p->path, PSFM_IMAGE_GRAY_AND_RGB, &p->image);
    if (status == PSFM_OK)
        status = choose_camera(ctx, w, p);
    if (status == PSFM_OK || status == PSFM_ERR_MEMORY)
        return status;
    return psfm_strdup(ctx, psfm_context_message(ctx), &w->results->items[p->idx].problem);
}

static psfm_status register_photograph(psfm_context *ctx, size_t k, int worker, void *user) {
    folder_work *w = user;
    psfm_court_result *result = &w->results->items[k];
    photograph p = {.idx = k};
    char *path = NULL;
    (void)worker;
    psfm_status status = psfm_strdup(ctx, w->files.names[k], &result->name);
    if (status == PSFM_OK)
        status = psfm_path_join(ctx, w->folder, result->name, &path);
    p.path = path;
    if (status == PSFM_OK)
        status = open_photograph(ctx, w, &p);
    if (status == PSFM_OK && result->problem == NULL) {
        status = psfm_court_target_register(ctx, w->target, &p.image, p.known, &w->options->court,
                                            &result->pose);
        if (status == PSFM_OK && result->pose.part_hit != NULL &&
            w->options->overlay_folder != NULL)
            status = write_overlay(ctx, w, result, &p.image);
    }
    psfm_image_free(&p.image);
    free(path);
    return status;
}

/* ---- all of them ---- */

psfm_status psfm_court_folder_register(psfm_context *ctx, const char *folder,
                                       const psfm_court_target *target,
                                       const psfm_court_folder_options *options,
                                       psfm_court_results *results) {
    folder_work w = {.folder = folder, .target = target, .options = options, .results = results};
    *results = (psfm_court_results){0};
    psfm_status status = psfm_image_list_folder(ctx, folder, &w.files);
    if (status == PSFM_OK && w.files.num == 0)
        status = psfm_fail(ctx, PSFM_ERR_DATA, "%s: no " PSFM_IMAGE_FORMATS " files in it", folder);
    if (status == PSFM_OK)
        status = find_cameras(ctx, &w);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, w.files.num, &results->items);
    if (status == PSFM_OK) {
        results->num = w.files.num;
        status = psfm_parallel_for(ctx, "court", w.files.num, register_photograph, &w);
    }
    for (size_t k = 0; k < results->num; ++k)
        results->num_accepted += results->items[k].problem == NULL &&
                                 results->items[k].pose.verdict == PSFM_COURT_ACCEPTED;
    free(w.cameras);
    psfm_image_list_free(&w.files);
    return status;
}

void psfm_court_results_free(psfm_court_results *results) {
    for (size_t k = 0; k < results->num; ++k) {
        free(results->items[k].name);
        free(results->items[k].problem);
        psfm_court_pose_free(&results->items[k].pose);
    }
    free(results->items);
    *results = (psfm_court_results){0};
}

/* Reading a photograph of twelve megapixels takes the codec 35 ms at any size: its bits are read
 * one after the other. So colours and thumbnails are of one reading. */
#include "pipeline/last_look.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "world/color_points.h"

typedef struct {
    const psfm_match_set *set;
    uint32_t *by_name;
    psfm_thumbnails *thumbnails;
} gallery;

/* The place of a name among those of the set. */
static bool find_name(const gallery *g, const char *name, size_t *place) {
    size_t begin = 0, end = g->set->num_views;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        const int order = strcmp(g->set->views[g->by_name[middle]].name, name);
        if (order == 0) {
            *place = middle;
            return true;
        }
        begin = order < 0 ? middle + 1 : begin;
        end = order < 0 ? end : middle;
    }
    return false;
}

static psfm_status keep_thumbnail(psfm_context *ctx, const char *name, const psfm_image *photograph,
                                  void *user) {
    const gallery *g = user;
    size_t place;
    return find_name(g, name, &place)
               ? psfm_thumbnails_add(ctx, g->thumbnails, place, photograph, name)
               : PSFM_OK;
}

psfm_status psfm_last_look(psfm_context *ctx, const char *folder, const psfm_match_set *set,
                           psfm_model *models, size_t num_models, psfm_thumbnails *thumbnails) {
    gallery g = {.set = set, .thumbnails = thumbnails};
    const psfm_photo_watcher watcher = {keep_thumbnail, &g};
    psfm_status status = psfm_match_set_by_name(ctx, set, &g.by_name);
    for (size_t k = 0; status == PSFM_OK && k < num_models; ++k)
        status = psfm_color_points(ctx, folder, PSFM_THUMBNAIL_SOURCE,
                                   thumbnails != NULL ? &watcher : NULL, &models[k]);
    free(g.by_name);
    return status;
}

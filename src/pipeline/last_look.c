/* Reading a photograph of twelve megapixels takes the codec 35 ms at any size: its bits are read
 * one after the other. So colours and thumbnails are of one reading. */
#include "pipeline/last_look.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name_index.h"
#include "world/color_points.h"

typedef struct {
    psfm_name_index places; /* of the views' names, in their order */
    psfm_thumbnails *thumbnails;
} gallery;

static psfm_status keep_thumbnail(psfm_context *ctx, const char *name, const psfm_image *photograph,
                                  void *user) {
    const gallery *g = user;
    size_t place;
    return psfm_name_index_find(&g->places, name, strlen(name), &place)
               ? psfm_thumbnails_add(ctx, g->thumbnails, place, photograph, name)
               : PSFM_OK;
}

/* Names by their place among those of all views. */
static psfm_status index_names(psfm_context *ctx, const psfm_match_set *set,
                               psfm_name_index *places) {
    uint32_t *by_name = NULL;
    const char **names = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, set, &by_name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &names);
    for (size_t k = 0; status == PSFM_OK && k < set->num_views; ++k)
        names[k] = set->views[by_name[k]].name;
    if (status == PSFM_OK)
        status = psfm_name_index_init(ctx, names, set->num_views, places);
    free(by_name);
    free((void *)names);
    return status;
}

psfm_status psfm_last_look(psfm_context *ctx, const char *folder, const psfm_match_set *set,
                           psfm_model *models, size_t num_models, psfm_thumbnails *thumbnails) {
    gallery g = {.thumbnails = thumbnails};
    const psfm_photo_watcher watcher = {keep_thumbnail, &g};
    psfm_status status = thumbnails != NULL ? index_names(ctx, set, &g.places) : PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < num_models; ++k)
        status = psfm_color_points(ctx, folder, PSFM_THUMBNAIL_SOURCE,
                                   thumbnails != NULL ? &watcher : NULL, &models[k]);
    psfm_name_index_free(&g.places);
    return status;
}

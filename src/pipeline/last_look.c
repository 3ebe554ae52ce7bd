/* Reading a photograph of twelve megapixels takes the codec 35 ms at any size: its bits are read
 * one after the other. So colours and thumbnails are of one reading. It does not depend on where
 * the points are, so threads do it whenever they have nothing else to do; small photographs then
 * wait in memory for the points, as many as there is room for. */
#include "pipeline/last_look.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name_index.h"
#include "base/parallel.h"
#include "world/color_points.h"

/* Of photographs that wait: those of some fifty cameras. Less where memory is short. */
#define MAX_BYTES ((size_t)64 << 20)
#define SHARE_OF_MEMORY 64

typedef struct {
    psfm_small_photo photo; /* empty: not there */
    bool is_claimed;        /* by whoever reads it, ahead or at the end */
    bool is_being_read;     /* ahead */
} waiting_photo;

struct psfm_last_look {
    char *folder;
    char **names; /* in their order */
    size_t num;
    psfm_name_index places;      /* of the names */
    psfm_thumbnails *thumbnails; /* NULL: not wanted */
    pthread_mutex_t lock;        /* of what follows */
    pthread_cond_t was_read;     /* some photograph, or it could not be */
    waiting_photo *photos;       /* per name */
    size_t num_bytes, max_bytes;
    psfm_job *job;
};

/* ---- in the background ---- */

static size_t size_of(const psfm_image *image) {
    return 3 * (size_t)image->width * (size_t)image->height;
}

/* Whether a photograph is to be read ahead, which it is from now on: there is room for it, and
 * nobody else reads it. */
static bool claim(psfm_last_look *look, size_t index) {
    waiting_photo *waiting = &look->photos[index];
    pthread_mutex_lock(&look->lock);
    const bool is_ours = !waiting->is_claimed && look->num_bytes < look->max_bytes;
    if (is_ours)
        waiting->is_claimed = waiting->is_being_read = true;
    pthread_mutex_unlock(&look->lock);
    return is_ours;
}

/* Keeps the colours of a photograph that was read, if it was and there is room for it. Where there
 * is none, nothing more is read ahead. */
static void keep(psfm_last_look *look, size_t index, psfm_small_photo *photo) {
    const size_t size = photo->image.rgb != NULL ? size_of(&photo->image) : 0;
    free(photo->image.gray);
    photo->image.gray = NULL;
    pthread_mutex_lock(&look->lock);
    const bool fits = size <= look->max_bytes - look->num_bytes;
    if (fits)
        look->photos[index].photo = *photo;
    look->photos[index].is_being_read = false;
    look->num_bytes = fits ? look->num_bytes + size : look->max_bytes;
    pthread_cond_broadcast(&look->was_read);
    pthread_mutex_unlock(&look->lock);
    if (!fits)
        psfm_image_free(&photo->image);
}

/* One that cannot be read, for whatever reason, is left to the end, which says so. */
static psfm_status read_ahead(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    psfm_last_look *look = user;
    psfm_small_photo photo = {0};
    if (!claim(look, index))
        return PSFM_OK;
    psfm_status status =
        psfm_small_photo_read(ctx, look->folder, look->names[index], PSFM_THUMBNAIL_SOURCE, &photo);
    if (status == PSFM_OK && look->thumbnails != NULL)
        status =
            psfm_thumbnails_add(ctx, look->thumbnails, index, &photo.image, look->names[index]);
    if (status != PSFM_OK) {
        psfm_image_free(&photo.image);
        photo = (psfm_small_photo){0};
    }
    keep(look, index, &photo);
    return PSFM_OK;
}

static psfm_status take_names(psfm_context *ctx, const psfm_match_set *set, psfm_last_look *look) {
    uint32_t *by_name = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, set, &by_name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &look->names);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &look->photos);
    if (status == PSFM_OK)
        look->num = set->num_views;
    for (size_t k = 0; status == PSFM_OK && k < look->num; ++k)
        status = psfm_strdup(ctx, set->views[by_name[k]].name, &look->names[k]);
    if (status == PSFM_OK)
        status =
            psfm_name_index_init(ctx, (const char *const *)look->names, look->num, &look->places);
    free(by_name);
    return status;
}

psfm_status psfm_last_look_begin(psfm_context *ctx, const char *folder, const psfm_match_set *set,
                                 psfm_thumbnails *thumbnails, psfm_last_look **out) {
    const size_t share = psfm_context_memory(ctx) / SHARE_OF_MEMORY;
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    psfm_last_look *look = *out;
    pthread_mutex_init(&look->lock, NULL);
    pthread_cond_init(&look->was_read, NULL);
    look->thumbnails = thumbnails;
    look->max_bytes = share < MAX_BYTES ? share : MAX_BYTES;
    status = psfm_strdup(ctx, folder, &look->folder);
    if (status == PSFM_OK)
        status = take_names(ctx, set, look);
    if (status == PSFM_OK)
        status = psfm_job_begin(ctx, look->num, read_ahead, look, &look->job);
    if (status != PSFM_OK)
        psfm_last_look_drop(out);
    return status;
}

static bool find(const psfm_last_look *look, const char *name, size_t *place) {
    return psfm_name_index_find(&look->places, name, strlen(name), place);
}

bool psfm_last_look_is_at(const psfm_last_look *look, const psfm_match_set *set) {
    size_t place;
    bool is_same = look->num == set->num_views;
    for (size_t v = 0; is_same && v < set->num_views; ++v)
        is_same = find(look, set->views[v].name, &place);
    return is_same;
}

/* ---- at the end ---- */

/* Waits for a photograph that is being read; one that is not there is the caller's to read. */
static bool take_photo(const char *name, void *user, psfm_small_photo *out) {
    psfm_last_look *look = user;
    size_t place;
    if (!find(look, name, &place))
        return false;
    waiting_photo *waiting = &look->photos[place];
    pthread_mutex_lock(&look->lock);
    while (waiting->is_being_read)
        pthread_cond_wait(&look->was_read, &look->lock);
    *out = waiting->photo;
    *waiting = (waiting_photo){.is_claimed = true};
    pthread_mutex_unlock(&look->lock);
    return out->image.rgb != NULL;
}

static psfm_status keep_thumbnail(psfm_context *ctx, const char *name, const psfm_image *photograph,
                                  void *user) {
    const psfm_last_look *look = user;
    size_t place;
    return look->thumbnails != NULL && find(look, name, &place)
               ? psfm_thumbnails_add(ctx, look->thumbnails, place, photograph, name)
               : PSFM_OK;
}

psfm_status psfm_last_look_finish(psfm_context *ctx, psfm_last_look **look, psfm_model *models,
                                  size_t num_models) {
    const psfm_photo_keeper keeper = {take_photo, keep_thumbnail, *look};
    psfm_status status = PSFM_OK;
    psfm_job_close((*look)->job);
    for (size_t k = 0; status == PSFM_OK && k < num_models; ++k)
        status =
            psfm_color_points(ctx, (*look)->folder, PSFM_THUMBNAIL_SOURCE, &keeper, &models[k]);
    psfm_last_look_drop(look);
    return status;
}

void psfm_last_look_drop(psfm_last_look **look) {
    psfm_last_look *l = *look;
    if (l == NULL)
        return;
    (void)psfm_job_stop(NULL, &l->job);
    for (size_t k = 0; k < l->num; ++k) {
        free(l->names[k]);
        psfm_image_free(&l->photos[k].photo.image);
    }
    psfm_name_index_free(&l->places);
    pthread_cond_destroy(&l->was_read);
    pthread_mutex_destroy(&l->lock);
    free(l->names);
    free(l->photos);
    free(l->folder);
    free(l);
    *look = NULL;
}

/* Reading a photograph of twelve megapixels takes the codec 35 ms at any size: its bits are read
 * one after the other. So colours and thumbnails are of one reading. It does not depend on where
 * the points are, so threads do it whenever they have nothing else to do; small photographs then
 * wait in memory for the points, as many as there is room for. */
#include "sfm/prefetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/name_index.h"
#include "core/base/parallel.h"
#include "report/report.h"
#include "world/color_points.h"

/* Of photographs that wait: those of some fifty cameras. Less where memory is short. */
#define MAX_BYTES ((size_t)64 << 20)
#define SHARE_OF_MEMORY 64

typedef struct {
    psfm_small_photo photo; /* empty: not there */
    bool is_claimed;        /* by whoever reads it, ahead or at the end */
    bool is_being_read;     /* ahead */
} waiting_photo;

struct psfm_prefetch {
    char *folder;
    char **names; /* in their order */
    size_t num;
    psfm_name_index places; /* of the names */
    bool wants_thumbnails;
    psfm_thumbnails thumbnails;
    pthread_mutex_t lock;    /* of what follows */
    pthread_cond_t was_read; /* some photograph, or it could not be */
    waiting_photo *photos;   /* per name */
    size_t num_bytes, max_bytes;
    psfm_job *job;
};

/* ---- in the background ---- */

static size_t size_of(const psfm_image *image) {
    return 3 * (size_t)image->width * (size_t)image->height;
}

/* Whether a photograph is to be read ahead, which it is from now on: there is room for it, and
 * no other thread reads it. */
static bool claim_photo(psfm_prefetch *p, size_t index) {
    waiting_photo *waiting = &p->photos[index];
    pthread_mutex_lock(&p->lock);
    const bool is_ours = !waiting->is_claimed && p->num_bytes < p->max_bytes;
    if (is_ours)
        waiting->is_claimed = waiting->is_being_read = true;
    pthread_mutex_unlock(&p->lock);
    return is_ours;
}

/* Keeps the colours of a photograph that was read, if it was and there is room for it. Where there
 * is none, nothing more is read ahead. */
static void keep_photo(psfm_prefetch *p, size_t index, psfm_small_photo *photo) {
    const size_t size = photo->image.rgb != NULL ? size_of(&photo->image) : 0;
    free(photo->image.gray);
    photo->image.gray = NULL;
    pthread_mutex_lock(&p->lock);
    const bool fits = size <= p->max_bytes - p->num_bytes;
    if (fits)
        p->photos[index].photo = *photo;
    p->photos[index].is_being_read = false;
    p->num_bytes = fits ? p->num_bytes + size : p->max_bytes;
    pthread_cond_broadcast(&p->was_read);
    pthread_mutex_unlock(&p->lock);
    if (!fits)
        psfm_image_free(&photo->image);
}

/* One that cannot be read, for whatever reason, is left to the end, which says so. */
static psfm_status read_ahead(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    psfm_prefetch *p = user;
    psfm_small_photo photo = {0};
    if (!claim_photo(p, index))
        return PSFM_OK;
    psfm_status status =
        psfm_small_photo_read(ctx, p->folder, p->names[index], PSFM_THUMBNAIL_SOURCE, &photo);
    if (status == PSFM_OK && p->wants_thumbnails)
        status = psfm_thumbnails_add(ctx, &p->thumbnails, index, &photo.image, p->names[index]);
    if (status != PSFM_OK) {
        psfm_image_free(&photo.image);
        photo = (psfm_small_photo){0};
    }
    keep_photo(p, index, &photo);
    return PSFM_OK;
}

static psfm_status take_names(psfm_context *ctx, const psfm_match_set *set, psfm_prefetch *p) {
    uint32_t *by_name = NULL;
    psfm_status status = psfm_match_set_by_name(ctx, set, &by_name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &p->names);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &p->photos);
    if (status == PSFM_OK)
        p->num = set->num_views;
    for (size_t k = 0; status == PSFM_OK && k < p->num; ++k)
        status = psfm_strdup(ctx, set->views[by_name[k]].name, &p->names[k]);
    if (status == PSFM_OK)
        status = psfm_name_index_init(ctx, (const char *const *)p->names, p->num, &p->places);
    free(by_name);
    return status;
}

psfm_status psfm_prefetch_begin(psfm_context *ctx, const char *folder, const psfm_match_set *set,
                                bool wants_thumbnails, psfm_prefetch **out) {
    const size_t share = psfm_context_memory(ctx) / SHARE_OF_MEMORY;
    psfm_status status = PSFM_ALLOC(ctx, 1, out);
    if (status != PSFM_OK)
        return status;
    psfm_prefetch *p = *out;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->was_read, NULL);
    p->wants_thumbnails = wants_thumbnails;
    p->max_bytes = share < MAX_BYTES ? share : MAX_BYTES;
    status = psfm_strdup(ctx, folder, &p->folder);
    if (status == PSFM_OK)
        status = take_names(ctx, set, p);
    if (status == PSFM_OK && wants_thumbnails)
        status = psfm_report_begin_thumbnails(ctx, set->num_views, &p->thumbnails);
    if (status == PSFM_OK)
        status = psfm_job_begin(ctx, p->num, read_ahead, p, &p->job);
    if (status != PSFM_OK)
        psfm_prefetch_destroy(out);
    return status;
}

static bool find_place(const psfm_prefetch *p, const char *name, size_t *place) {
    return psfm_name_index_find(&p->places, name, strlen(name), place);
}

bool psfm_prefetch_is_of(const psfm_prefetch *p, const psfm_match_set *set) {
    size_t place;
    bool is_same = p->num == set->num_views;
    for (size_t v = 0; is_same && v < set->num_views; ++v)
        is_same = find_place(p, set->views[v].name, &place);
    return is_same;
}

/* ---- at the end ---- */

typedef struct {
    psfm_prefetch *prefetch;
    const psfm_model *model;
    psfm_image_colors *colors; /* per image of the model */
    char **problems;           /* why there are none; NULL: there are */
} coloring;

/* Waits for a photograph that is being read; false if it is not there. */
static bool take_photo(psfm_prefetch *p, size_t place, psfm_small_photo *out) {
    waiting_photo *waiting = &p->photos[place];
    pthread_mutex_lock(&p->lock);
    while (waiting->is_being_read)
        pthread_cond_wait(&p->was_read, &p->lock);
    *out = waiting->photo;
    *waiting = (waiting_photo){.is_claimed = true};
    pthread_mutex_unlock(&p->lock);
    return out->image.rgb != NULL;
}

/* The photograph of this name, read now if it was not ahead. */
static psfm_status get_photo(psfm_context *ctx, psfm_prefetch *p, const char *name,
                             psfm_small_photo *out) {
    size_t place;
    const bool is_known = find_place(p, name, &place);
    if (is_known && take_photo(p, place, out))
        return PSFM_OK;
    psfm_status status = psfm_small_photo_read(ctx, p->folder, name, PSFM_THUMBNAIL_SOURCE, out);
    return status == PSFM_OK && p->wants_thumbnails && is_known
               ? psfm_thumbnails_add(ctx, &p->thumbnails, place, &out->image, name)
               : status;
}

static psfm_status look_at_photo(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)worker;
    const coloring *all = user;
    const psfm_model_image *image = &all->model->images[index];
    psfm_small_photo photo = {0};
    psfm_status status = get_photo(ctx, all->prefetch, image->name, &photo);
    if (status == PSFM_OK)
        status = psfm_image_colors_take(ctx, image, &photo, &all->colors[index]);
    else if (status == PSFM_ERR_IO || status == PSFM_ERR_FORMAT)
        status = psfm_strdup(ctx, psfm_context_message(ctx), &all->problems[index]);
    psfm_image_free(&photo.image);
    return status;
}

/* One task a photograph; a point that no photograph shows keeps its colour. */
static psfm_status color_model(psfm_context *ctx, psfm_prefetch *p, psfm_model *model) {
    coloring all = {.prefetch = p, .model = model};
    const size_t num = model->num_points > 0 ? model->num_images : 0;
    psfm_status status = PSFM_ALLOC(ctx, num, &all.colors);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &all.problems);
    if (status == PSFM_OK && num > 0)
        status = psfm_parallel_for(ctx, "colours", num, look_at_photo, &all);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        if (all.problems[k] != NULL)
            psfm_log(ctx, PSFM_LOG_WARNING, "no colours from %s", all.problems[k]);
    if (status == PSFM_OK)
        psfm_color_points(all.colors, model);
    for (size_t k = 0; k < num; ++k) {
        if (all.colors != NULL)
            psfm_image_colors_free(&all.colors[k]);
        if (all.problems != NULL)
            free(all.problems[k]);
    }
    free(all.colors);
    free((void *)all.problems);
    return status;
}

psfm_status psfm_prefetch_colour(psfm_context *ctx, psfm_prefetch *p, psfm_model *models,
                                 size_t num_models) {
    psfm_status status = PSFM_OK;
    psfm_job_close(p->job);
    for (size_t k = 0; status == PSFM_OK && k < num_models; ++k)
        status = color_model(ctx, p, &models[k]);
    (void)psfm_job_stop(NULL, &p->job);
    return status;
}

psfm_thumbnails *psfm_prefetch_thumbnails(psfm_prefetch *p) {
    return &p->thumbnails;
}

void psfm_prefetch_destroy(psfm_prefetch **prefetch) {
    psfm_prefetch *p = *prefetch;
    if (p == NULL)
        return;
    (void)psfm_job_stop(NULL, &p->job);
    for (size_t k = 0; k < p->num; ++k) {
        free(p->names[k]);
        psfm_image_free(&p->photos[k].photo.image);
    }
    psfm_name_index_free(&p->places);
    pthread_cond_destroy(&p->was_read);
    pthread_mutex_destroy(&p->lock);
    free(p->names);
    free(p->photos);
    psfm_thumbnails_free(&p->thumbnails);
    free(p->folder);
    free(p);
    *prefetch = NULL;
}

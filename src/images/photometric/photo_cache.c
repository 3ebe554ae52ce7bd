/* Photographs in memory, within a budget: least recently used ones that nobody holds are
 * forgotten. A photograph is read outside the lock by the first thread that asks; others wait for
 * that one only. One that cannot be read is remembered with its reason and not tried again. */
#include "images/photometric/photo_cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/path.h"

typedef struct {
    psfm_pyramid photo;
    bool loaded, loading;
    uint32_t users;
    uint64_t last_use;
    char *problem;
} slot;

struct psfm_photo_cache {
    const psfm_match_set *set;
    const char *folder;
    size_t max_bytes, num_bytes;
    uint64_t clock;
    slot *slots; /* per view */
    pthread_mutex_t lock;
    pthread_cond_t loaded;
};

psfm_status psfm_photo_cache_create(psfm_context *ctx, const psfm_match_set *set,
                                    const char *folder, size_t max_bytes,
                                    psfm_photo_cache **cache) {
    psfm_photo_cache *c = NULL;
    *cache = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &c);
    if (status != PSFM_OK)
        return status;
    status = PSFM_ALLOC(ctx, set->num_views, &c->slots);
    if (status != PSFM_OK) {
        free(c);
        return status;
    }
    c->set = set;
    c->folder = folder;
    c->max_bytes = max_bytes;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->loaded, NULL);
    *cache = c;
    return PSFM_OK;
}

/* Forgets what was not used for longest until there is room. The lock is held. */
static void make_room(psfm_photo_cache *c) {
    while (c->num_bytes > c->max_bytes) {
        slot *oldest = NULL;
        for (size_t v = 0; v < c->set->num_views; ++v) {
            slot *s = &c->slots[v];
            if (s->loaded && s->photo.memory != NULL && s->users == 0 &&
                (oldest == NULL || s->last_use < oldest->last_use))
                oldest = s;
        }
        if (oldest == NULL)
            return;
        c->num_bytes -= oldest->photo.num_bytes;
        psfm_pyramid_free(&oldest->photo);
        oldest->loaded = false;
    }
}

static psfm_status read_photo(psfm_context *ctx, const psfm_photo_cache *c, uint32_t view,
                              psfm_pyramid *photo, char **problem) {
    const psfm_view *v = &c->set->views[view];
    const psfm_camera *camera = &c->set->cameras[v->camera_idx];
    char *path = NULL;
    psfm_status status = psfm_photo_path(ctx, c->folder, v->name, &path);
    if (status == PSFM_OK)
        status = psfm_pyramid_read(ctx, path, camera->width, camera->height, photo);
    free(path);
    if (status == PSFM_OK || status == PSFM_ERR_MEMORY)
        return status;
    return psfm_strdup(ctx, psfm_context_message(ctx), problem);
}

psfm_status psfm_photo_cache_get(psfm_context *ctx, psfm_photo_cache *c, uint32_t view,
                                 const psfm_pyramid **photo) {
    slot *s = &c->slots[view];
    psfm_status status = PSFM_OK;
    *photo = NULL;
    pthread_mutex_lock(&c->lock);
    while (s->loading)
        pthread_cond_wait(&c->loaded, &c->lock);
    if (!s->loaded && s->problem == NULL) {
        psfm_pyramid read = {0};
        char *problem = NULL;
        s->loading = true;
        pthread_mutex_unlock(&c->lock);
        status = read_photo(ctx, c, view, &read, &problem);
        pthread_mutex_lock(&c->lock);
        s->loading = false;
        s->loaded = status == PSFM_OK && problem == NULL;
        s->photo = read;
        s->problem = problem;
        c->num_bytes += read.num_bytes;
        pthread_cond_broadcast(&c->loaded);
    }
    if (s->loaded) {
        ++s->users;
        s->last_use = ++c->clock;
        *photo = &s->photo;
        make_room(c);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

void psfm_photo_cache_release(psfm_photo_cache *c, uint32_t view) {
    pthread_mutex_lock(&c->lock);
    --c->slots[view].users;
    make_room(c);
    pthread_mutex_unlock(&c->lock);
}

size_t psfm_photo_cache_room(const psfm_photo_cache *c) {
    size_t largest = 1;
    for (size_t k = 0; k < c->set->num_cameras; ++k) {
        /* a byte a pixel, a third more for the coarser levels */
        size_t bytes = (size_t)c->set->cameras[k].width * (size_t)c->set->cameras[k].height / 3 * 4;
        largest = bytes > largest ? bytes : largest;
    }
    return c->max_bytes / largest;
}

const char *psfm_photo_cache_folder(const psfm_photo_cache *c) {
    return c->folder;
}

size_t psfm_photo_cache_limit(const psfm_photo_cache *c) {
    return c->max_bytes;
}

const char *psfm_photo_cache_problem(const psfm_photo_cache *c, uint32_t view) {
    return c->slots[view].problem;
}

void psfm_photo_cache_destroy(psfm_photo_cache **cache) {
    psfm_photo_cache *c = *cache;
    if (c == NULL)
        return;
    for (size_t v = 0; v < c->set->num_views; ++v) {
        psfm_pyramid_free(&c->slots[v].photo);
        free(c->slots[v].problem);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->loaded);
    free(c->slots);
    free(c);
    *cache = NULL;
}

/* ---- an order that keeps to the cache ---- */

/* The order of pairs for a cache: views in blocks of half its size, pairs sorted by their blocks
 * (blocking, as for matrix products). */

typedef struct {
    size_t block1, block2;
    uint32_t view1, view2;
    size_t index;
} place;

static int compare_places(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->block1 != q->block1)
        return p->block1 < q->block1 ? -1 : 1;
    if (p->block2 != q->block2)
        return p->block2 < q->block2 ? -1 : 1;
    if (p->view1 != q->view1)
        return p->view1 < q->view1 ? -1 : 1;
    if (p->view2 != q->view2)
        return p->view2 < q->view2 ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

psfm_status psfm_photo_order(psfm_context *ctx, const psfm_photo_cache *cache,
                             const uint32_t *view1, const uint32_t *view2, size_t num,
                             size_t *order) {
    size_t size = psfm_photo_cache_room(cache) / 2;
    place *places = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &places);
    if (status != PSFM_OK)
        return status;
    size = size > 0 ? size : 1;
    for (size_t k = 0; k < num; ++k)
        places[k] = (place){view1[k] / size, view2[k] / size, view1[k], view2[k], k};
    if (num > 0)
        qsort(places, num, sizeof *places, compare_places);
    for (size_t k = 0; k < num; ++k)
        order[k] = places[k].index;
    free(places);
    return PSFM_OK;
}

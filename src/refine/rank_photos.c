/* Photographs on a rank. The cache of photographs knows a match set; here it is one of names and
 * cameras alone, a camera for each view, that fills as views are told. That a file is the first
 * rank's is checked once, by the first task that wants it, so that a failure is that task's; some
 * are compared before, because a rank that sees another folder may never get a task. */
#include "refine/rank_photos.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "intake/file_print.h"

typedef struct {
    size_t num_views, max_bytes, num_compared;
    psfm_patch_options patch;
} facts;

struct psfm_rank_photos {
    char *folder;
    psfm_match_set set;   /* views without a name are not known */
    uint64_t *prints;     /* of the files, where the first rank is */
    bool *is_checked;     /* the file here has that print */
    pthread_mutex_t lock; /* of is_checked */
    psfm_photo_cache *cache;
    psfm_patch_aligner **aligners; /* per worker */
    int num_workers;
};

psfm_status psfm_rank_photos_pack(psfm_context *ctx, const psfm_photo_cache *cache,
                                  size_t num_views, const psfm_patch_options *patch,
                                  const psfm_photo_print *compared, size_t num_compared,
                                  psfm_packet *packet) {
    const facts f = {num_views, psfm_photo_cache_limit(cache), num_compared, *patch};
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack(&p, &f, sizeof f);
    psfm_pack_text(&p, psfm_photo_cache_folder(cache));
    for (size_t k = 0; k < num_compared; ++k) {
        psfm_pack_text(&p, compared[k].name);
        psfm_pack(&p, &compared[k].print, sizeof compared[k].print);
    }
    return p.status;
}

/* Refuses a file that is not the first rank's. */
static psfm_status check_file(psfm_context *ctx, const psfm_rank_photos *p, const char *name,
                              uint64_t print) {
    uint64_t here = 0;
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, p->folder, name, &path);
    if (status == PSFM_OK)
        status = psfm_file_print(ctx, path, &here);
    if (status == PSFM_OK && here != print)
        status = psfm_file_differs(ctx, p->folder, name, "photograph");
    free(path);
    return status;
}

static psfm_status compare_files(psfm_context *ctx, const psfm_rank_photos *p, size_t num,
                                 psfm_packet_reader *reader) {
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    for (size_t k = 0; u.status == PSFM_OK && k < num; ++k) {
        char *name = NULL;
        uint64_t print = 0;
        psfm_unpack_text(&u, &name);
        psfm_unpack(&u, &print, sizeof print);
        if (u.status == PSFM_OK)
            u.status = check_file(ctx, p, name, print);
        free(name);
    }
    return u.status;
}

static psfm_status make_views(psfm_context *ctx, psfm_rank_photos *p, size_t num) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num, &p->set.cameras)) ||
        (status = PSFM_ALLOC(ctx, num, &p->set.views)) ||
        (status = PSFM_ALLOC(ctx, num, &p->prints)) ||
        (status = PSFM_ALLOC(ctx, num, &p->is_checked)))
        return status;
    p->set.num_cameras = p->set.num_views = num;
    for (size_t v = 0; v < num; ++v)
        p->set.views[v].camera_idx = (uint32_t)v;
    return PSFM_OK;
}

static psfm_status make_aligners(psfm_context *ctx, psfm_rank_photos *p,
                                 const psfm_patch_options *patch, int num) {
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num, &p->aligners);
    p->num_workers = status == PSFM_OK ? num : 0;
    for (int w = 0; status == PSFM_OK && w < num; ++w)
        status = psfm_patch_aligner_create(ctx, patch, &p->aligners[w]);
    return status;
}

psfm_status psfm_rank_photos_open(psfm_context *ctx, psfm_packet_reader *reader, int num_workers,
                                  psfm_rank_photos **photos) {
    facts f = {0};
    psfm_rank_photos *p = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &p);
    if (status != PSFM_OK)
        return status;
    pthread_mutex_init(&p->lock, NULL);
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    psfm_unpack(&u, &f, sizeof f);
    psfm_unpack_text(&u, &p->folder);
    const size_t most = psfm_context_memory(ctx) / 4;
    status = u.status;
    if (status == PSFM_OK)
        status = compare_files(ctx, p, f.num_compared, reader);
    if (status == PSFM_OK)
        status = make_views(ctx, p, f.num_views);
    if (status == PSFM_OK)
        status = make_aligners(ctx, p, &f.patch, num_workers);
    if (status == PSFM_OK)
        status = psfm_photo_cache_create(ctx, &p->set, p->folder,
                                         f.max_bytes < most ? f.max_bytes : most, &p->cache);
    *photos = p;
    if (status != PSFM_OK)
        psfm_rank_photos_close(photos);
    return status;
}

void psfm_rank_photos_close(psfm_rank_photos **photos) {
    psfm_rank_photos *p = *photos;
    if (p == NULL)
        return;
    psfm_photo_cache_destroy(&p->cache);
    for (int w = 0; w < p->num_workers; ++w)
        psfm_patch_aligner_destroy(&p->aligners[w]);
    free((void *)p->aligners);
    psfm_match_set_free(&p->set);
    free(p->prints);
    free(p->is_checked);
    free(p->folder);
    pthread_mutex_destroy(&p->lock);
    free(p);
    *photos = NULL;
}

/* ---- views ---- */

psfm_status psfm_rank_photos_pack_view(psfm_context *ctx, const psfm_photo_print *photo,
                                       const psfm_camera *camera, psfm_packet *packet) {
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack_text(&p, photo->name);
    psfm_pack(&p, camera, sizeof *camera);
    psfm_pack(&p, &photo->print, sizeof photo->print);
    return p.status;
}

psfm_status psfm_rank_photos_take_view(psfm_context *ctx, psfm_rank_photos *p, uint32_t view,
                                       psfm_packet_reader *reader) {
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    psfm_unpack_text(&u, &p->set.views[view].name);
    psfm_unpack(&u, &p->set.cameras[view], sizeof *p->set.cameras);
    psfm_unpack(&u, &p->prints[view], sizeof *p->prints);
    return u.status;
}

void psfm_rank_photos_forget(psfm_rank_photos *p) {
    for (size_t v = 0; v < p->set.num_views; ++v) {
        free(p->set.views[v].name);
        p->set.views[v].name = NULL;
    }
}

/* ---- photographs ---- */

static psfm_status check_once(psfm_context *ctx, psfm_rank_photos *p, uint32_t view) {
    pthread_mutex_lock(&p->lock);
    bool is_checked = p->is_checked[view];
    pthread_mutex_unlock(&p->lock);
    if (is_checked)
        return PSFM_OK;
    psfm_status status = check_file(ctx, p, p->set.views[view].name, p->prints[view]);
    pthread_mutex_lock(&p->lock);
    p->is_checked[view] = status == PSFM_OK;
    pthread_mutex_unlock(&p->lock);
    return status;
}

psfm_status psfm_rank_photos_get(psfm_context *ctx, psfm_rank_photos *p, uint32_t view,
                                 const psfm_pyramid **photo) {
    *photo = NULL;
    if (view >= p->set.num_views || p->set.views[view].name == NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "a task names view %u, which is not known", view);
    psfm_status status = check_once(ctx, p, view);
    return status == PSFM_OK ? psfm_photo_cache_get(ctx, p->cache, view, photo) : status;
}

void psfm_rank_photos_release(psfm_rank_photos *p, uint32_t view) {
    psfm_photo_cache_release(p->cache, view);
}

psfm_status psfm_rank_photos_get_pair(psfm_context *ctx, psfm_rank_photos *p,
                                      const uint32_t views[2], const psfm_pyramid *pair[2],
                                      bool *both) {
    psfm_status status = PSFM_OK;
    pair[0] = pair[1] = NULL;
    for (int s = 0; status == PSFM_OK && s < 2; ++s)
        status = psfm_rank_photos_get(ctx, p, views[s], &pair[s]);
    *both = status == PSFM_OK && pair[0] != NULL && pair[1] != NULL;
    for (int s = 0; s < 2; ++s)
        if (!*both && pair[s] != NULL)
            psfm_rank_photos_release(p, views[s]);
    return status;
}

void psfm_rank_photos_release_pair(psfm_rank_photos *p, const uint32_t views[2]) {
    for (int s = 0; s < 2; ++s)
        psfm_rank_photos_release(p, views[s]);
}

const char *psfm_rank_photos_problem(const psfm_rank_photos *p, uint32_t view) {
    return psfm_photo_cache_problem(p->cache, view);
}

const psfm_camera *psfm_rank_photos_camera(const psfm_rank_photos *p, uint32_t view) {
    return &p->set.cameras[view];
}

psfm_patch_aligner *psfm_rank_photos_aligner(const psfm_rank_photos *p, int worker) {
    return p->aligners[worker];
}

size_t psfm_rank_photos_num_views(const psfm_rank_photos *p) {
    return p->set.num_views;
}

/* Photographs for tasks. The cache of photographs knows a match set; on another rank than the first
 * it is one of names and cameras alone, a camera for each view, that fills as views come. That a
 * file is the first rank's is looked at when its view comes, and said by the tasks that want it;
 * some are compared before, because a rank that sees another folder may never get a task. */
#include "images/photometric/photo_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file_fingerprint.h"
#include "core/base/path.h"
#include "core/matches/canonical_order.h"

/* ---- between ranks ---- */

void psfm_photo_view_move(psfm_transfer *t, void *value) {
    psfm_photo_view *view = value;
    psfm_move(t, view, sizeof *view);
    psfm_move_text(t, &view->name);
    psfm_move_array(t, &view->corners, &view->num_corners, sizeof *view->corners);
}

static void free_view(psfm_photo_view *view) {
    free((char *)view->name);
    free(view->corners);
    *view = (psfm_photo_view){0};
}

void psfm_photo_setup_move(psfm_transfer *t, void *value) {
    psfm_photo_setup *setup = value;
    psfm_move(t, setup, sizeof *setup);
    psfm_move_text(t, &setup->folder);
    for (size_t k = 0; k < setup->num_compared; ++k)
        psfm_photo_view_move(t, &setup->compared[k]);
    if (t->is_reading)
        setup->photos = NULL;
}

void psfm_photo_setup_free(void *value) {
    psfm_photo_setup *setup = value;
    for (size_t k = 0; k < setup->num_compared; ++k)
        free_view(&setup->compared[k]);
    free((char *)setup->folder);
}

/* Fails with PSFM_ERR_DATA if this rank sees another file than the first. */
static psfm_status compare_file(psfm_context *ctx, const psfm_photo_setup *setup,
                                const psfm_photo_view *view) {
    char *path = NULL;
    psfm_status status = psfm_path_join(ctx, setup->folder, view->name, &path);
    if (status == PSFM_OK)
        status = psfm_file_compare(ctx, path, "photograph", view->print);
    free(path);
    return status;
}

/* ---- any rank's side ---- */

static bool is_first_rank(const psfm_photo_state *s) {
    return s->setup->photos != NULL;
}

void psfm_photo_state_forget(void *state) {
    psfm_photo_state *s = state;
    for (size_t v = 0; !is_first_rank(s) && v < s->setup->num_views; ++v)
        free_view(&s->views[v]);
}

void psfm_photo_state_close(void *state) {
    psfm_photo_state *s = state;
    if (s->views != NULL)
        psfm_photo_state_forget(s);
    if (!is_first_rank(s))
        psfm_photo_cache_destroy(&s->photos);
    for (int w = 0; s->aligners != NULL && w < s->num_aligners; ++w)
        psfm_patch_aligner_destroy(&s->aligners[w]);
    free((void *)s->aligners);
    free(s->own.cameras);
    free(s->own.views);
    free(s->views);
    free(s);
}

static psfm_status make_cache(psfm_context *ctx, psfm_photo_state *s) {
    const size_t num = s->setup->num_views, most = psfm_context_memory(ctx) / 4;
    psfm_status status = PSFM_ALLOC(ctx, num, &s->own.cameras);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num, &s->own.views);
    s->own.num_cameras = s->own.num_views = num;
    for (size_t v = 0; status == PSFM_OK && v < num; ++v)
        s->own.views[v].camera_idx = (uint32_t)v;
    if (status == PSFM_OK)
        status = psfm_photo_cache_create(
            ctx, &s->own, s->setup->folder,
            s->setup->cache_bytes < most ? s->setup->cache_bytes : most, &s->photos);
    return status;
}

static psfm_status open_state(psfm_context *ctx, psfm_photo_state *s) {
    psfm_status status = PSFM_ALLOC(ctx, s->setup->num_views, &s->views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, (size_t)s->num_aligners, &s->aligners);
    for (int w = 0; status == PSFM_OK && w < s->num_aligners; ++w)
        status = psfm_patch_aligner_create(ctx, &s->setup->patch, &s->aligners[w]);
    if (status != PSFM_OK || is_first_rank(s))
        return status;
    for (size_t k = 0; status == PSFM_OK && k < s->setup->num_compared; ++k)
        status = compare_file(ctx, s->setup, &s->setup->compared[k]);
    return status == PSFM_OK ? make_cache(ctx, s) : status;
}

psfm_status psfm_photo_state_open(psfm_context *ctx, void *value, int *num_workers, void **state) {
    psfm_photo_setup *setup = value;
    psfm_photo_state *s = NULL;
    psfm_status status = PSFM_ALLOC(ctx, 1, &s);
    if (status != PSFM_OK)
        return status;
    *s = (psfm_photo_state){.photos = setup->photos, .setup = setup, .num_aligners = *num_workers};
    status = open_state(ctx, s);
    if (status == PSFM_OK)
        *state = s;
    else
        psfm_photo_state_close(s);
    return status;
}

psfm_status psfm_photo_state_take(psfm_context *ctx, void *state, uint32_t v, void *content) {
    psfm_photo_state *s = state;
    psfm_photo_view *view = &s->views[v];
    *view = *(psfm_photo_view *)content;
    if (is_first_rank(s))
        return PSFM_OK;
    s->own.views[v].name = (char *)view->name;
    s->own.cameras[v] = view->camera;
    psfm_status status = compare_file(ctx, s->setup, view);
    view->differs = status == PSFM_ERR_DATA;
    return view->differs ? PSFM_OK : status;
}

psfm_status psfm_photos_get(psfm_context *ctx, const psfm_photo_state *s, const uint32_t *views,
                            size_t num, const psfm_pyramid **photos, bool *all) {
    psfm_status status = PSFM_OK;
    *all = true;
    photos[0] = photos[num - 1] = NULL;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        if (s->views[views[k]].differs)
            status = compare_file(ctx, s->setup, &s->views[views[k]]);
        if (status == PSFM_OK)
            status = psfm_photo_cache_get(ctx, s->photos, views[k], &photos[k]);
        *all = *all && photos[k] != NULL;
    }
    for (size_t k = 0; !*all && k < num; ++k)
        if (photos[k] != NULL)
            psfm_photos_release(s, &views[k], 1);
    return status;
}

void psfm_photos_release(const psfm_photo_state *s, const uint32_t *views, size_t num) {
    for (size_t k = 0; k < num; ++k)
        psfm_photo_cache_release(s->photos, views[k]);
}

/* ---- the first rank's side ---- */

static psfm_status find_print(psfm_context *ctx, const psfm_photo_setup *setup, uint32_t v,
                              psfm_photo_view *view) {
    uint64_t *print = &setup->prints[v];
    char *path = NULL;
    psfm_status status = PSFM_OK;
    if (*print == 0)
        status = psfm_path_join(ctx, setup->folder, view->name, &path);
    if (path != NULL)
        status = psfm_file_print(ctx, path, print);
    view->print = *print;
    free(path);
    return status;
}

static psfm_status load_view(psfm_context *ctx, const psfm_task_list *list, uint32_t v,
                             void *content, size_t *memory) {
    const psfm_photo_setup *setup = list->setup;
    const psfm_view *from = &setup->set->views[v];
    psfm_photo_view *view = content;
    view->name = from->name;
    view->camera = setup->cameras[from->camera_idx];
    if (setup->corners != NULL) {
        view->stream = psfm_view_stream(from);
        view->corners = setup->corners[v].corners;
        view->num_corners = setup->corners[v].num;
    }
    if (setup->poses != NULL) {
        memcpy(view->cam_from_world, setup->poses->cam_from_world[v], sizeof view->cam_from_world);
        memcpy(view->center, setup->poses->center[v], sizeof view->center);
    }
    *memory = sizeof *view + view->num_corners * sizeof *view->corners;
    return setup->prints == NULL ? PSFM_OK : find_print(ctx, setup, v, view);
}

/* Some of the photographs, spread over all the work, the first and the last included. */
static psfm_status choose_compared(psfm_context *ctx, psfm_photo_setup *setup,
                                   const psfm_task_list *list) {
    const size_t all = list->num * list->parts_each;
    const size_t num = all < PSFM_NUM_COMPARED_VIEWS ? all : PSFM_NUM_COMPARED_VIEWS;
    psfm_status status = PSFM_ALLOC(ctx, setup->num_views, &setup->prints);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        const uint32_t v = list->parts[k == 0 ? 0 : k * (all - 1) / (num - 1)];
        psfm_photo_view *view = &setup->compared[setup->num_compared++];
        view->name = setup->set->views[v].name;
        status = find_print(ctx, setup, v, view);
    }
    return status;
}

psfm_status psfm_photo_tasks_run(psfm_context *ctx, psfm_photo_setup *setup, psfm_task_list *list) {
    psfm_status status = PSFM_OK;
    setup->folder = psfm_photo_cache_folder(setup->photos);
    setup->cache_bytes = psfm_photo_cache_limit(setup->photos);
    setup->num_views = list->num_parts = setup->set->num_views;
    setup->num_compared = 0;
    list->setup = setup;
    list->load_part = load_view;
    if (psfm_context_link(ctx) != NULL)
        status = choose_compared(ctx, setup, list);
    if (status == PSFM_OK)
        status = psfm_tasks_run(ctx, list);
    free(setup->prints);
    setup->prints = NULL;
    return status;
}

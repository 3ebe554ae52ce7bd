/* Work on photographs as tasks. Whoever gets a row of tasks reads their photographs once, because
 * the pieces of work come in blocks of views (photo/photo_order.h). */
#include "refine/photo_work.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "intake/file_print.h"

/* Tasks for each thread of all ranks, at least, if there is enough to do. */
#define TASKS_PER_THREAD 8
/* Photographs that are compared before the work begins. */
#define NUM_COMPARED 16

typedef struct {
    const psfm_photo_work *work;
    size_t *begin; /* first piece of each task, and the end */
    size_t num_tasks;
    psfm_photo_print *prints; /* of the views' files; without a name: not there yet */
} spreading;

/* ---- cutting ---- */

static size_t weight_of(const psfm_photo_work *work, size_t piece) {
    return work->weights == NULL ? 1 : work->weights[piece];
}

static psfm_status cut(psfm_context *ctx, spreading *s) {
    const psfm_photo_work *work = s->work;
    size_t total = 0, weight = 0;
    psfm_status status = PSFM_ALLOC(ctx, work->num + 1, &s->begin);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < work->num; ++k)
        total += weight_of(work, k);
    const size_t share = total / (TASKS_PER_THREAD * psfm_tasks_width(ctx)) + 1,
                 most = share < work->task_weight ? share : work->task_weight;
    for (size_t k = 0; k < work->num; ++k) {
        weight += weight_of(work, k);
        if (weight >= most || k + 1 == work->num) {
            s->begin[++s->num_tasks] = k + 1;
            weight = 0;
        }
    }
    return PSFM_OK;
}

/* ---- the list ---- */

static psfm_status describe(psfm_context *ctx, size_t index, void *user, psfm_packet *input) {
    const spreading *s = user;
    psfm_status status = PSFM_OK;
    for (size_t k = s->begin[index]; status == PSFM_OK && k < s->begin[index + 1]; ++k)
        status = s->work->pack(ctx, k, s->work->user, input);
    return status;
}

static void name_parts(size_t index, void *user, const uint32_t **parts, size_t *num) {
    const spreading *s = user;
    const size_t each = s->work->views_each;
    *parts = s->work->views + each * s->begin[index];
    *num = each * (s->begin[index + 1] - s->begin[index]);
}

static psfm_status find_print(psfm_context *ctx, spreading *s, uint32_t view) {
    const char *name = s->work->set->views[view].name;
    psfm_photo_print *print = &s->prints[view];
    char *path = NULL;
    if (print->name != NULL)
        return PSFM_OK;
    psfm_status status = psfm_path_join(ctx, psfm_photo_cache_folder(s->work->photos), name, &path);
    if (status == PSFM_OK)
        status = psfm_file_print(ctx, path, &print->print);
    if (status == PSFM_OK)
        print->name = name;
    free(path);
    return status;
}

static psfm_status pack_part(psfm_context *ctx, uint32_t view, void *user, psfm_packet *content,
                             size_t *memory) {
    spreading *s = user;
    const psfm_photo_work *work = s->work;
    const psfm_view *v = &work->set->views[view];
    psfm_status status = find_print(ctx, s, view);
    if (status == PSFM_OK)
        status = psfm_rank_photos_pack_view(ctx, &s->prints[view], &work->cameras[v->camera_idx],
                                            content);
    if (status == PSFM_OK && work->pack_view != NULL)
        status = work->pack_view(ctx, view, work->user, content);
    *memory = content->size;
    return status;
}

static psfm_status take(psfm_context *ctx, size_t index, void *user, psfm_packet_reader *result) {
    const spreading *s = user;
    const psfm_photo_work *work = s->work;
    psfm_status status = PSFM_OK;
    for (size_t k = s->begin[index]; status == PSFM_OK && k < s->begin[index + 1]; ++k)
        status = work->take(ctx, k, work->user, result);
    return status == PSFM_OK && work->stage != NULL
               ? psfm_progress(ctx, work->stage, s->begin[index + 1], work->num)
               : status;
}

/* Some of the photographs, spread over all the work, the first and the last included. */
static psfm_status pack_setup(psfm_context *ctx, spreading *s, psfm_packet *setup) {
    const psfm_photo_work *work = s->work;
    const size_t all = work->num * work->views_each, num = all < NUM_COMPARED ? all : NUM_COMPARED;
    psfm_photo_print compared[NUM_COMPARED];
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        const uint32_t view = work->views[num < 2 ? 0 : k * (all - 1) / (num - 1)];
        status = find_print(ctx, s, view);
        compared[k] = s->prints[view];
    }
    if (status == PSFM_OK)
        status = psfm_rank_photos_pack(ctx, work->photos, work->set->num_views, work->patch,
                                       compared, num, setup);
    return status == PSFM_OK ? psfm_packet_put(ctx, setup, work->setup, work->setup_size) : status;
}

static psfm_status run(psfm_context *ctx, spreading *s) {
    const psfm_photo_work *work = s->work;
    psfm_packet setup = {0};
    const psfm_task_list list = {.kind = work->kind,
                                 .num = s->num_tasks,
                                 .setup = &setup,
                                 .describe = describe,
                                 .num_parts = work->set->num_views,
                                 .name_parts = name_parts,
                                 .pack_part = pack_part,
                                 .commit = take,
                                 .user = s};
    psfm_status status = pack_setup(ctx, s, &setup);
    if (status == PSFM_OK && work->stage != NULL)
        status = psfm_progress(ctx, work->stage, 0, work->num);
    if (status == PSFM_OK)
        status = psfm_tasks_run(ctx, &list);
    psfm_packet_free(&setup);
    return status;
}

psfm_status psfm_photo_work_spread(psfm_context *ctx, const psfm_photo_work *work) {
    spreading s = {.work = work};
    psfm_status status = cut(ctx, &s);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, work->set->num_views, &s.prints);
    if (status == PSFM_OK)
        status = run(ctx, &s);
    free(s.begin);
    free(s.prints);
    return status;
}

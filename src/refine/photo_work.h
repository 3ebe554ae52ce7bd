/* Work on photographs, spread over the ranks of a run: the first rank's side. */
#ifndef PSFM_REFINE_PHOTO_WORK_H
#define PSFM_REFINE_PHOTO_WORK_H

#include "refine/rank_photos.h"
#include "tasks/tasks.h"

/* Pieces of work 0 .. num - 1, such as pairs, in an order that reads photographs seldom. Some that
 * follow each other make a task; the views are its parts. */
typedef struct {
    const psfm_task_kind *kind;
    const char *stage; /* whose progress is told; NULL: none */
    const psfm_photo_cache *photos;
    const psfm_match_set *set;
    const psfm_camera *cameras; /* of the set's views */
    const psfm_patch_options *patch;
    const void *setup; /* what the kind reads beside the photographs */
    size_t setup_size;
    size_t num;
    const uint32_t *views; /* of all pieces, one piece after the other */
    size_t views_each;     /* of a piece */
    const size_t *weights; /* of the pieces; NULL: 1 each */
    size_t task_weight;    /* of a task, about, where there is enough for all ranks */
    psfm_status (*pack)(psfm_context *ctx, size_t piece, void *user, psfm_packet *input);
    psfm_status (*take)(psfm_context *ctx, size_t piece, void *user, psfm_packet_reader *result);
    /* What a rank has to know of a view beside name and camera; NULL: nothing. */
    psfm_status (*pack_view)(psfm_context *ctx, uint32_t view, void *user, psfm_packet *content);
    void *user;
} psfm_photo_work;

/* Does all of it on the ranks of the context's link; results are taken in order. */
psfm_status psfm_photo_work_spread(psfm_context *ctx, const psfm_photo_work *work);

#endif

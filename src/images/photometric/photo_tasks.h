/* Tasks that look at photographs, on any rank: what they have in common.
 *
 * A rank reads the photographs by itself, from a folder that all ranks share; the first one has
 * them in its cache already. Its views are the parts of the tasks. */
#ifndef PSFM_PHOTOMETRIC_PHOTO_TASKS_H
#define PSFM_PHOTOMETRIC_PHOTO_TASKS_H

#include "core/structure/poses.h"
#include "core/tasks/tasks.h"
#include "images/photometric/pair_input.h"
#include "images/photometric/photo_cache.h"

/* A view. Another rank than the first owns its texts and corners. */
typedef struct {
    const char *name;
    uint64_t print; /* of the file where the first rank is (core/base/file_fingerprint.h), if others
                       ask */
    bool differs;   /* this rank sees another file */
    psfm_camera camera;
    uint64_t stream;                     /* of pairs: for the random draws */
    psfm_corner *corners;                /* of pairs */
    size_t num_corners;                  /* 0 where they are not needed */
    double cam_from_world[9], center[3]; /* of tracks */
} psfm_photo_view;

/* Photographs that are compared before the work begins. */
#define PSFM_NUM_COMPARED_VIEWS 16

/* What all tasks of a list share. */
typedef struct {
    psfm_pair_plane_options planes; /* of corners and pairs */
    psfm_patch_options patch;
    double max_shift_px; /* of tracks */
    /* Where everything is in this process, as the first rank fills it; elsewhere NULL. */
    psfm_photo_cache *photos;
    const psfm_match_set *set;
    const psfm_camera *cameras;       /* of the set's views */
    const psfm_view_corners *corners; /* per view; NULL: they are not needed */
    const psfm_poses *poses;          /* NULL: likewise */
    /* Filled by psfm_photo_tasks_run: */
    const char *folder;
    size_t num_views, cache_bytes, num_compared;
    psfm_photo_view compared[PSFM_NUM_COMPARED_VIEWS];
    uint64_t *prints; /* per view; 0: not yet; NULL: nobody asks */
} psfm_photo_setup;

/* What a rank has of them. */
typedef struct {
    psfm_photo_cache *photos; /* the setup's, or its own */
    psfm_match_set own;       /* what its own knows of the views */
    psfm_photo_view *views;   /* those that came as parts */
    const psfm_photo_setup *setup;
    psfm_patch_aligner **aligners; /* per worker */
    int num_aligners;
} psfm_photo_state;

/* What a kind of such tasks is made of beside its items: a psfm_photo_setup, and psfm_photo_view as
 * parts. A compared file that is another one here is PSFM_ERR_DATA. */
void psfm_photo_setup_move(psfm_transfer *t, void *value);
void psfm_photo_setup_free(void *value);
void psfm_photo_view_move(psfm_transfer *t, void *value);
psfm_status psfm_photo_state_open(psfm_context *ctx, void *value, int *num_workers, void **state);
psfm_status psfm_photo_state_take(psfm_context *ctx, void *state, uint32_t view, void *content);
void psfm_photo_state_forget(void *state);
void psfm_photo_state_close(void *state);

/* The photographs of `num` views, at most two. *all is false if one of them cannot be used; then
 * none is held. A file that is not the first rank's is a failure. */
psfm_status psfm_photos_get(psfm_context *ctx, const psfm_photo_state *state, const uint32_t *views,
                            size_t num, const psfm_pyramid **photos, bool *all);
void psfm_photos_release(const psfm_photo_state *state, const uint32_t *views, size_t num);

/* Runs a list, whose parts are views; setup and loading are filled here. */
psfm_status psfm_photo_tasks_run(psfm_context *ctx, psfm_photo_setup *setup, psfm_task_list *list);

#endif

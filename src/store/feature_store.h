/* A COLMAP database that extraction and matching fill batch by batch. Beside COLMAP's tables it
 * keeps what every photograph and pair was made from (planarsfm_photos, planarsfm_cameras,
 * planarsfm_features, planarsfm_matches, planarsfm_verified, planarsfm_spent, planarsfm_places),
 * so that an interrupted run goes on where it stopped and a changed photograph is noticed. */
#ifndef PSFM_STORE_FEATURE_STORE_H
#define PSFM_STORE_FEATURE_STORE_H

#include "core/base/lock.h"
#include "core/linalg/geodetic.h"
#include "core/matches/match_set.h"
#include "images/feature/effort.h"
#include "images/feature/keypoint_set.h"
#include "images/match/nearest_neighbour.h"
#include "planarsfm/camera.h"
#include "store/sql.h"

/* An open database. */
typedef struct {
    psfm_sql sql;
    psfm_lock lock;       /* no other run writes to it */
    bool has_geometries;  /* COLMAP's table two_view_geometries is there */
    unsigned char *bytes; /* scratch */
    size_t capacity;
} psfm_feature_store;

/* Opens a COLMAP database for writing; with `create` a missing or empty file becomes a new one with
 * the tables of COLMAP 3.8. `path` must outlive the store. */
psfm_status psfm_store_open(psfm_context *ctx, const char *path, bool create,
                            psfm_feature_store *store);
/* Makes the tables of a new database (with `create`), checks those of any, and adds our own: all at
 * once or none. psfm_store_open calls it. */
psfm_status psfm_store_prepare(psfm_feature_store *store, bool create);
/* Closes it; what was not committed is gone. Safe on a zeroed one. */
void psfm_store_close(psfm_feature_store *store);

/* Everything between the two is on disk or absent. */
psfm_status psfm_store_begin(psfm_feature_store *store);
psfm_status psfm_store_commit(psfm_feature_store *store);

/* One image of the database. */
typedef struct {
    uint32_t image_id, camera_id;
    char *name;
    char *key; /* identifies what its features were made from; NULL if we did not make them */
    int width, height;
    double focal_px;      /* from the file, 0 if it tells none */
    size_t num_keypoints; /* in the database */
    char *body;           /* make and model of the camera, from the file; NULL if it tells none */
    char *features;       /* kind of features with float descriptors; NULL: SIFT, 128 bytes */
} psfm_stored_photo;

/* Sorted by the bytes of their names. Owns them. */
typedef struct {
    psfm_stored_photo *photos;
    size_t num;
} psfm_stored_photos;

psfm_status psfm_store_list(psfm_feature_store *store, psfm_stored_photos *out);
void psfm_stored_photos_free(psfm_stored_photos *photos);

/* Writes the camera that `source` stands for, whatever it was before; a new source gets the next
 * id. camera->id is not looked at. */
psfm_status psfm_store_put_camera(psfm_feature_store *store, const char *source,
                                  const psfm_camera *camera, uint32_t *camera_id);
/* Removes cameras of ours that no image uses. */
psfm_status psfm_store_drop_cameras(psfm_feature_store *store);

psfm_status psfm_store_set_camera(psfm_feature_store *store, uint32_t image_id, uint32_t camera_id);
psfm_status psfm_store_set_key(psfm_feature_store *store, uint32_t image_id, const char *key);

/* Writes an image with its features, SIFT's 128 bytes or, if photo->features names their kind,
 * floats and scores; keypoints alone if their descriptor_size is 0. Without a key the image counts
 * as somebody else's. With photo->image_id 0 it is new and gets the next id, else
 * features of that image are replaced and its matches removed. */
psfm_status psfm_store_put_photo(psfm_feature_store *store, const psfm_stored_photo *photo,
                                 const psfm_keypoint_set *features);
/* Removes an image with everything that hangs on it. */
psfm_status psfm_store_drop_photo(psfm_feature_store *store, uint32_t image_id);

/* Writes where the image of that name was taken; NULL: it is not known. altitude_m may be NAN. */
psfm_status psfm_store_put_place(psfm_feature_store *store, const char *name,
                                 const psfm_geodetic *at);
/* Reads where the photographs of psfm_store_list were taken; NAN where it is not known. */
psfm_status psfm_store_places(psfm_feature_store *store, const psfm_stored_photos *photos,
                              psfm_geodetic *at);

/* Reads the SIFT descriptors of an image; none give an empty set. Keypoints are not read. The
 * caller frees *set. */
psfm_status psfm_store_descriptors(psfm_feature_store *store, const psfm_stored_photo *photo,
                                   psfm_keypoint_set *set);

/* Reads the keypoints of an image with their shapes, photo->num_keypoints of them; without any in
 * the database they are unit circles. */
psfm_status psfm_store_shapes(psfm_feature_store *store, const psfm_stored_photo *photo,
                              psfm_keypoint *keypoints);

/* Reads keypoints, float descriptors and scores of an image with photo->features. The caller frees
 * *set. */
psfm_status psfm_store_float_features(psfm_feature_store *store, const psfm_stored_photo *photo,
                                      psfm_keypoint_set *set);

/* Fills an empty set with all cameras and, in the order of `photos`, with the images, yet without
 * keypoints. The caller frees it. */
psfm_status psfm_store_views(psfm_feature_store *store, const psfm_stored_photos *photos,
                             psfm_match_set *set);
/* Reads the keypoints of a view that has none; rays are not computed. */
psfm_status psfm_store_keypoints(psfm_feature_store *store, psfm_view *view);

/* A pair in the table of matches. */
typedef struct {
    uint32_t id1, id2; /* id1 < id2 */
    size_t num_matches;
    size_t num_verified; /* of these, explained by the pair's geometry as it was matched */
    uint64_t key;        /* identifies the options; 0 if we did not make it */
} psfm_stored_pair;

/* All pairs, sorted by (id1, id2); *pairs is malloc'ed. */
psfm_status psfm_store_list_pairs(psfm_feature_store *store, psfm_stored_pair **pairs, size_t *num);
/* Writes the matches of a pair, replacing earlier ones, and removes COLMAP's two-view geometry of
 * the pair. id1 < id2; with a key of 0 they count as somebody else's. */
psfm_status psfm_store_put_matches(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                   const psfm_match_list *matches, uint64_t key);
/* Writes matches that have been verified into COLMAP's two_view_geometries, without matrices, and
 * removes raw matches of the pair. id1 < id2. */
psfm_status psfm_store_put_inliers(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                   const psfm_match_list *matches);
psfm_status psfm_store_drop_pair(psfm_feature_store *store, uint32_t id1, uint32_t id2);
/* Notes how many matches of a pair are verified. id1 < id2. */
psfm_status psfm_store_put_verified(psfm_feature_store *store, uint32_t id1, uint32_t id2,
                                    size_t num);

/* What is to be spent on the photographs, one entry each, and pairs that failed. */
typedef struct {
    psfm_effort *efforts;
    uint32_t (*failed)[2]; /* ids, lower first; sorted */
    size_t num_failed;
} psfm_effort_plan;

void psfm_effort_plan_free(psfm_effort_plan *plan);

/* Writes a plan down, and a number of what it was decided from: all at once, in the place of any
 * earlier one. */
psfm_status psfm_store_put_plan(psfm_feature_store *store, uint64_t key,
                                const psfm_stored_photos *photos, const psfm_effort_plan *plan);
/* The plan; *key is 0 if there is none that is about all photographs. The caller frees it. */
psfm_status psfm_store_plan(psfm_feature_store *store, const psfm_stored_photos *photos,
                            uint64_t *key, psfm_effort_plan *plan);

#endif

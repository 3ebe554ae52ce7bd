/* Parts of the summary; docs/formats.md has their fields. */
#ifndef PSFM_SFM_SUMMARY_PARTS_H
#define PSFM_SFM_SUMMARY_PARTS_H

#include <cjson/cJSON.h>

#include "formats/json.h"
#include "sfm/state.h"

/* The names of views, sorted. */
void psfm_summary_add_names(psfm_json_maker *m, cJSON *parent, const char *what,
                            const psfm_match_set *set, const uint32_t *views, uint32_t num);

/* The pairs of names of edges, sorted. */
void psfm_summary_add_pairs(psfm_json_maker *m, cJSON *parent, const char *what, const psfm_sfm *s,
                            const uint32_t *edges, uint32_t num);

/* "ambiguity": the runner-ups that move images of one model, or move others against images of it.
 */
void psfm_summary_add_ambiguities(psfm_json_maker *m, cJSON *model, const psfm_sfm *s,
                                  uint32_t component);

/* Where the focal length at the end is from: an adjustment that made a doubtful one sure is its
 * source. sigma of its parameters, or NULL. */
psfm_focal_source psfm_final_focal_source(const psfm_camera_origin *origin,
                                          const psfm_camera *after, const double *sigma);

/* "cameras": where the intrinsics of each come from, before and after, with standard deviations. */
void psfm_summary_add_cameras(psfm_json_maker *m, cJSON *root, const psfm_sfm *s);

/* "court": the drawing, and for each photograph what its lines say, as poses and cameras that were
 * found see it. Nothing without a drawing. */
void psfm_summary_add_court(psfm_json_maker *m, cJSON *root, const psfm_sfm *s);

/* "warnings": the signals against a model that is not called right, and of which images. */
void psfm_summary_add_warnings(psfm_json_maker *m, cJSON *root, const psfm_sfm *s);

/* "photographs" and "matching". Nothing if matches were given. */
void psfm_summary_add_front_end(psfm_json_maker *m, cJSON *root, const psfm_sfm *s);

/* The facts of a stage as an object; NULL when memory is out. */
cJSON *psfm_extract_stats_to_json(const psfm_extract_stats *stats);
cJSON *psfm_match_stats_to_json(const psfm_match_stats *stats);

#endif

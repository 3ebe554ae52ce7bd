/* From a folder of photographs to matches in a database, with as much effort as they need. */
#ifndef PSFM_INTAKE_TAKE_PHOTOS_H
#define PSFM_INTAKE_TAKE_PHOTOS_H

#include "base/timer.h"
#include "intake/extract_folder.h"
#include "intake/match_images.h"

/* What was done. Owns `extracted` and the names. */
typedef struct {
    psfm_extract_stats extracted;
    psfm_match_stats matched; /* pairs that were matched twice count once */
    psfm_effort effort;       /* of the photographs but those raised */
    char **raised;            /* names of photographs that were given high effort, sorted */
    size_t num_raised;
} psfm_taken_photos;

void psfm_taken_photos_free(psfm_taken_photos *taken);

/* Extracts and matches (psfm_extract_folder, psfm_match_images; pairs that the rule leaves out are
 * removed). With SIFT and effort auto, all photographs are extracted and matched with normal effort
 * at first, those that psfm_effort_need names then again with high effort. The decision is kept in
 * the database: after an interruption the next call goes on, and a call with nothing new does
 * nothing; if photographs, pairs, cameras or options of matching changed, it is made anew, as if
 * from the start. Adds the stages "extraction" and "matching" to `timings`. Free `taken` in any
 * case. */
psfm_status psfm_take_photos(psfm_context *ctx, const char *folder, const char *database,
                             const psfm_folder_options *extract_options,
                             const psfm_match_options *options, psfm_timings *timings,
                             psfm_taken_photos *taken);

#endif

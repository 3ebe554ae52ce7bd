/* From a folder of photographs to matches in a database, with as much effort as they need. */
#ifndef PSFM_FRONTEND_EXTRACT_AND_MATCH_H
#define PSFM_FRONTEND_EXTRACT_AND_MATCH_H

#include "core/base/timer.h"
#include "frontend/effort_plan.h"
#include "frontend/match_images.h"

/* What is taken, and how. */
typedef struct {
    const char *folder, *database;
    const psfm_folder_options *extract;
    const psfm_match_options *match;
    /* A number of the options that planes will be aligned with in the photographs before it is
     * decided who needs more features; 0: they will not be, and matches decide alone. */
    uint64_t patches_key;
} psfm_photos_to_take;

/* What is yet to be decided, and what has to be known first. */
typedef enum {
    PSFM_TAKEN_ALL,      /* nothing */
    PSFM_TAKEN_TO_ALIGN, /* psfm_take_judge decides once planes are aligned */
    PSFM_TAKEN_TO_SOLVE, /* psfm_take_doubt decides once there is a verdict */
} psfm_taken_state;

/* What was done. Owns `extracted` and the names. */
typedef struct {
    psfm_extract_stats extracted;
    psfm_match_stats matched;            /* pairs that were matched twice count once */
    psfm_effort effort;                  /* of the photographs but those of the second pass */
    psfm_second_pass_photos second_pass; /* that were given more */
    psfm_taken_state state;
} psfm_taken_photos;

void psfm_taken_photos_free(psfm_taken_photos *taken);

/* Extracts and matches (psfm_extract_folder, psfm_match_images; pairs that the rule leaves out are
 * removed). With SIFT and effort auto, all photographs are extracted and matched with little effort
 * at first, those that psfm_effort_need names then again with more. If patches will be aligned that
 * is low effort, and only those that are not connected get more: psfm_take_judge and
 * psfm_take_doubt do the rest.
 * Otherwise it is normal effort. The decisions are kept in the database: after an interruption the
 * next call goes on, and a call with nothing new does nothing; if photographs, pairs, cameras or
 * options of matching changed, they are made anew, as if from the start. Adds the stages
 * "extraction" and "matching" to `timings`. Free `taken` in any case. */
psfm_status psfm_take_photos(psfm_context *ctx, const psfm_photos_to_take *what,
                             psfm_timings *timings, psfm_taken_photos *taken);

/* Decides which photographs need more effort beside their patches, if that is to be decided, and
 * says whether any do; psfm_take_more then gives it to them, and features and matches of the
 * database are others. Sorts the patches. */
psfm_status psfm_take_judge(psfm_context *ctx, const psfm_photos_to_take *what,
                            psfm_pair_patches *patches, size_t num_patches,
                            psfm_taken_photos *taken, bool *more);
/* The same where the verdict on what came out is doubtful: all photographs get normal effort, or
 * high effort where normal effort does not connect them surely, and no pair counts as failed. */
psfm_status psfm_take_doubt(psfm_context *ctx, const psfm_photos_to_take *what,
                            psfm_taken_photos *taken, bool *more);
psfm_status psfm_take_more(psfm_context *ctx, const psfm_photos_to_take *what,
                           psfm_timings *timings, psfm_taken_photos *taken);

#endif

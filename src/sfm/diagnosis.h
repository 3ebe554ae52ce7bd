/* One diagnosis of a run, and one next command. */
#ifndef PSFM_SFM_DIAGNOSIS_H
#define PSFM_SFM_DIAGNOSIS_H

#include <cjson/cJSON.h>

#include "sfm/state.h"

/* What the photographs themselves say, beside the summary. Texts are not owned. */
typedef struct {
    const char *court; /* a court whose lines one of them shows; NULL: none, or not sought */
    const char *const *blurred; /* names of images without a pose that are much less sharp */
    size_t num_blurred;
} psfm_photo_findings;

typedef struct {
    const char *kind;   /* a word, such as "focal_lengths" */
    char text[320];     /* what is the matter */
    const char *advice; /* what to do about it, in a sentence */
    const char *flag;   /* option to give, such as "--share-cameras"; NULL: none helps */
    char value[64];     /* its value */
} psfm_diagnosis;

/* The worst cause that the summary tells of, by fixed ranks: what the photographs are, what the
 * command was, what the cameras are, what the pairs say. False if nothing is the matter. */
bool psfm_diagnosis_find(const cJSON *summary, const psfm_photo_findings *photos,
                         psfm_diagnosis *out);

/* Looks at the photographs where something is the matter, and puts "diagnosis" into the summary:
 * kind, text, advice, and with a remedy `flag` and `value`. Images that are blurred get that as
 * their advice. */
psfm_status psfm_diagnosis_add(psfm_context *ctx, const psfm_sfm *s, cJSON *summary);

#endif

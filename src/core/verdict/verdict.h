/* The verdict: how likely it is that a model, or the pose of an image, is right to a degree. */
#ifndef PSFM_VERDICT_VERDICT_H
#define PSFM_VERDICT_VERDICT_H

#include "core/verdict/image_features.h"
#include "core/verdict/model_features.h"

typedef struct {
    psfm_model_features features;
    double sigma_factor;   /* NAN: not known */
    double probability;    /* that all its poses are right to a degree; NAN: not known */
    uint32_t num_by_lines; /* images that the lines of a drawing alone hold: judged by these */
} psfm_model_verdict;

typedef struct {
    psfm_image_features features;
    double probability; /* NAN: not known, or without a pose */
    bool by_lines;      /* the lines of a drawing alone hold it */
} psfm_image_verdict;

/* Owns its arrays. */
typedef struct {
    psfm_model_verdict *models; /* per component */
    psfm_image_verdict *images; /* per view */
    uint32_t num_models, num_images;
} psfm_verdicts;

/* Judges refined models (input->shift is filled here). Without halves of the points (their
 * stability tests were not run) `out` stays empty. Free it in any case. Cost: small against that of
 * the stability tests. */
psfm_status psfm_verdicts_find(psfm_context *ctx, const psfm_verdict_input *input,
                               psfm_verdicts *out);
void psfm_verdicts_free(psfm_verdicts *verdicts);

/* What is said of a model, an image or a focal length. */
typedef enum {
    PSFM_DOUBTFUL,  /* something speaks against it */
    PSFM_PLAUSIBLE, /* nothing does, and little holds it, or a focal length is a guess */
    PSFM_RIGHT,     /* to a degree */
} psfm_verdict_word;

const char *psfm_verdict_word_name(psfm_verdict_word word);
psfm_verdict_word psfm_model_word(const psfm_model_verdict *model);
/* Of an image, given its model's; never better than that. */
psfm_verdict_word psfm_image_word(const psfm_image_verdict *image, psfm_verdict_word model);

/* Whether neither a single image nor one or two pairs that nothing confirms hold a model together,
 * no image could be flipped and no sub-model shifted, hardly any pair contradicts its positions
 * alone, and the halves of the points agree. */
bool psfm_is_confirmed(const psfm_model_features *features);
/* A model is called right if that is likely (signal_calibration.h), it is confirmed, its matches
 * and its intrinsics do not contradict it and no focal length is a guess; or the lines of a drawing
 * hold it. */
bool psfm_is_called_right(const psfm_model_verdict *model);

#define PSFM_REASON_SIZE 160

/* One signal against a model. */
typedef struct {
    const char *name;            /* of the feature */
    const char *advice;          /* what to try */
    char text[PSFM_REASON_SIZE]; /* what was found, with the value */
} psfm_verdict_reason;

#define PSFM_REASON_PENALTY 0.5 /* of the log-odds; what weighs less is no reason */

/* What weighs most against a model, worst first: at most `most` reasons, the number of them
 * returned. */
int psfm_verdict_reasons(const psfm_model_verdict *model, int most, psfm_verdict_reason *reasons);

/* What the standard deviations of a component's poses are to be multiplied with so that they
 * explain the differences between the halves: 1, or more than chance would give; NAN without halves
 * or standard deviations. */
psfm_status psfm_sigma_factor_find(psfm_context *ctx, const psfm_verdict_input *input,
                                   uint32_t component, double *factor);

#endif

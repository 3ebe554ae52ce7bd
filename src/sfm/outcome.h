/* What became of an image, in a word and in a sentence. */
#ifndef PSFM_SFM_OUTCOME_H
#define PSFM_SFM_OUTCOME_H

/* Why an image has no pose, or that it has one. */
typedef enum {
    PSFM_OUTCOME_POSED,
    PSFM_OUTCOME_NO_KEYPOINTS,
    PSFM_OUTCOME_NO_MATCHES,    /* no pair with this image has a match */
    PSFM_OUTCOME_FEW_MATCHES,   /* its pairs have too few matches for a homography */
    PSFM_OUTCOME_NO_HOMOGRAPHY, /* enough matches, but no plane was found in any pair */
    PSFM_OUTCOME_ROTATION,      /* its pairs show no parallax: same centre as its neighbours */
    PSFM_OUTCOME_CONTRADICTION, /* its pairs contradict the other images */
    PSFM_OUTCOME_FEW_POINTS,    /* too few points agree with the pose that its pairs gave */
    PSFM_OUTCOME_UNDETERMINED,  /* its direction is known, its distance is not */
} psfm_outcome;

/* A word for JSON, e.g. "few_matches"; the cause in a few words; and a sentence that says what to
 * try. */
const char *psfm_outcome_name(psfm_outcome state);
const char *psfm_outcome_cause(psfm_outcome state);
const char *psfm_outcome_advice(psfm_outcome state);

#endif

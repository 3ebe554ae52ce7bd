/* One row for each outcome: its word, its cause, and what to try. */
#include "sfm/outcome.h"

/* One row per state, in the order of the enum. */
static const struct {
    const char *name, *cause, *advice;
} outcomes[] = {
    {"posed", "", ""},
    {"no_keypoints", "no keypoints",
     "the image has no keypoints: extract features, or check the mask"},
    {"no_matches", "no overlap with the others?",
     "no pair with this image has a match: match it with more images"},
    {"few_matches", "hardly any overlap with the others",
     "too few matches with every other image: match more pairs, or take photographs "
     "between it and its neighbours"},
    {"no_homography", "no plane in its pairs",
     "no plane was found in any of its pairs: a larger --twoview.max-error-px may "
     "help, or the scene is not flat here"},
    {"rotation", "no parallax to its neighbours",
     "its pairs show rotation without parallax: the cameras share their centre, so "
     "their distance cannot be told"},
    {"contradiction", "contradicts the others",
     "its pairs contradict the other images: repeated structure, or a moved "
     "camera; match it with more images"},
    {"few_points", "too few points agree",
     "too few points agree with the pose that its pairs gave: more matches, or better "
     "intrinsics"},
    {"undetermined", "its distance is not determined",
     "only the direction to it is known, not the distance: match it with images "
     "that see the same points or the same plane"},
};

const char *psfm_outcome_name(psfm_outcome state) {
    return outcomes[state].name;
}

const char *psfm_outcome_cause(psfm_outcome state) {
    return outcomes[state].cause;
}

const char *psfm_outcome_advice(psfm_outcome state) {
    return outcomes[state].advice;
}

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
     "no pair with this image has a match: it shows something else than the others, or from too "
     "far away"},
    {"few_matches", "hardly any overlap with the others",
     "too few matches with every other image: take photographs between it and its neighbours"},
    {"no_homography", "no plane in its pairs",
     "no plane was found in any of its pairs, nor enough points: what it shares with the others is "
     "too little, or moved"},
    {"rotation", "no parallax to its neighbours",
     "its pairs show rotation without parallax: the cameras share their centre, so "
     "their distance cannot be told"},
    {"contradiction", "contradicts the others",
     "its pairs contradict the other images: the scene repeats itself, something moved, or its "
     "focal length is wrong"},
    {"few_points", "too few points agree",
     "too few points agree with the pose that its pairs gave: more matches, or better "
     "intrinsics"},
    {"undetermined", "its distance is not determined",
     "only the direction to it is known, not the distance: take photographs that see the same "
     "points or the same plane"},
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

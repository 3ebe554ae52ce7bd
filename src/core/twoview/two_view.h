/* Two-view geometry of one pair: its homographies with their decompositions, and one essential
 * matrix as evidence that does not depend on a plane. See docs/conventions.md for the frames. */
#ifndef PSFM_TWOVIEW_TWO_VIEW_H
#define PSFM_TWOVIEW_TWO_VIEW_H

#include "core/base/options.h"
#include "core/matches/match_set.h"
#include "planarsfm/homography.h"

typedef struct {
    double H_21[9];    /* ray2 ~ H_21 ray1; middle singular value 1, det > 0 */
    uint32_t *inliers; /* indices into the pair's matches, ascending; owned */
    size_t num_inliers;
    double rms_px;    /* root mean square transfer error of the inliers in image 2 */
    bool is_rotation; /* no parallax: t and n are not determined; one motion with t = n = 0 */
    /* 1 or 2, the better supported first: more inliers that can see the plane, then the plane seen
     * more frontally. 1 if the other hides the plane, and where matches off the plane decide: all
     * homographies then share the motion of the essential matrix (unless estimated apart). */
    int num_motions;
    psfm_plane_motion motions[2];
} psfm_homography;

typedef struct {
    bool found;
    double R_21[9];
    double t_21[3];    /* unit length */
    uint32_t *inliers; /* indices into the pair's matches, ascending; owned */
    size_t num_inliers;
    double plane_share; /* share of its inliers that one homography explains, 0 to 1 */
    bool is_degenerate; /* the plane decided, not the epipolar geometry: plane_share is so high, or
                           the inliers off the plane are no more than chance */
} psfm_essential;

/* What a pair turned out to be. */
typedef enum {
    PSFM_PAIR_OK,            /* at least one homography with parallax */
    PSFM_PAIR_FEW_MATCHES,   /* fewer matches than a homography needs */
    PSFM_PAIR_NO_HOMOGRAPHY, /* none with enough inliers over enough area */
    PSFM_PAIR_ROTATION,      /* the cameras share their centre, as far as the matches tell */
} psfm_pair_kind;

typedef struct {
    psfm_pair_kind kind;
    psfm_homography *homographies; /* disjoint inliers, most inliers first; owned */
    size_t num_homographies;
    psfm_essential essential;
} psfm_two_view;

typedef struct {
    double max_error_px;  /* inlier threshold: how far a match's two points must move together, root
                             of the sum of squares in pixels of their images, to agree */
    int max_iterations;   /* samples of four; most pairs need a tenth */
    int max_five_point;   /* samples of five where there is no plane; most need a hundredth, so
                             many only where 100 found nothing */
    int min_inliers;      /* of a homography */
    double min_area;      /* share of the image area that the inliers' hull must cover */
    int max_homographies; /* per pair */
    double rotation_px;   /* parallax below this (median, pixels) marks a rotation; it follows the
                             noise as max_error_px does */
    bool estimate_essential;
    bool independent; /* homographies and essential matrix know nothing of each other */
} psfm_two_view_options;

extern const psfm_option_table psfm_two_view_option_table;

/* plane_share from which the essential matrix is degenerate: what is off the plane then may be
 * wrong matches that agree by chance. */
#define PSFM_DEGENERATE_SHARE 0.9

/* Raised with every change of this folder's code that gives a pair other homographies, motions or
 * inliers: databases keep them, and guided matches, for later runs. */
#define PSFM_TWO_VIEW_REVISION 2

/* Carries a hash (core/base/hash.h) on over all that decides on the result for given matches and
 * cameras: the options and the revision. */
uint64_t psfm_two_view_hash(const psfm_two_view_options *options, uint64_t hash);

/* What matters of the two images beside their matches. */
typedef struct {
    double size[2][2]; /* width, height in pixels */
    uint64_t id[2];    /* random draws come from (seed, stage, id[0], id[1]) */
} psfm_image_pair;

psfm_image_pair psfm_image_pair_of(const psfm_match_set *set, const psfm_match_pair *pair);

/* Estimates everything of one pair. Few matches or no homography are results, not errors. Inliers
 * of the result index the pair's matches through c->match_idx. Cost: well under a millisecond for
 * 500 matches on one plane. */
psfm_status psfm_two_view_estimate(psfm_context *ctx, const psfm_correspondences *c,
                                   const psfm_image_pair *images,
                                   const psfm_two_view_options *options, psfm_two_view *out);
void psfm_two_view_free(psfm_two_view *two_view);

/* Number of matches that its planes, or its essential matrix, explain: the larger of the two. */
size_t psfm_two_view_explained(const psfm_two_view *two_view);

/* A word for messages and JSON, e.g. "few_matches". */
const char *psfm_pair_kind_name(psfm_pair_kind kind);

/* Estimates all pairs of a set in parallel; out has set->num_pairs zeroed entries. */
psfm_status psfm_two_view_estimate_all(psfm_context *ctx, const psfm_match_set *set,
                                       const psfm_two_view_options *options, psfm_two_view *out);
/* The same with the array allocated. Free it in any case, with num == set->num_pairs. */
psfm_status psfm_two_views_make(psfm_context *ctx, const psfm_match_set *set,
                                const psfm_two_view_options *options, psfm_two_view **out);
/* Frees num two-view geometries and their array, which may be NULL, and sets *two_views to NULL. */
void psfm_two_views_free(psfm_two_view **two_views, size_t num);

#endif

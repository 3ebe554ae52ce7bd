/* Matching the images of a database. */
#ifndef PSFM_FRONTEND_MATCH_IMAGES_H
#define PSFM_FRONTEND_MATCH_IMAGES_H

#include "core/twoview/two_view.h"
#include "images/match/guided_matching.h"
#include "images/match/neural_matcher.h"
#include "images/match/pair_expand.h"

typedef struct {
    const char *pairs; /* which pairs, see psfm_pair_select; NULL: by the number of images */
    /* Names that a file of pairs may have although no image of the database is called so: pairs
     * with them are left out. NULL: none. */
    const char *const *absent;
    size_t num_absent;
    /* Remove pairs of earlier runs of ours that `pairs` leaves out. */
    bool drop_others;
    /* Leave out pairs that are not there and that failed by the plan of efforts. */
    bool leave_failed;
    psfm_expand_options expand;   /* pairs beside those */
    psfm_nearest_options nearest; /* of SIFT */
    psfm_matcher_options matcher; /* of other features, and which matcher */
    psfm_weights_list weights;    /* where the matcher's file is */
    psfm_guided_options guided;   /* of SIFT; not looked at unless enabled */
    /* Of the homographies that guide. `independent` is not looked at: it is about what poses are
     * made from, and the two modes of that share their matches. */
    psfm_two_view_options two_view;
} psfm_match_options;

typedef struct {
    char rule[64];       /* the text that selected the pairs, shortened */
    const char *matcher; /* its name; static */
    size_t num_images;   /* in the database */
    size_t num_pairs;    /* selected, and added: */
    size_t num_added;    /* of these, by what the others came to */
    size_t num_matched;  /* of these, matched now */
    size_t num_kept;     /* of these, there already */
    size_t num_failed;   /* of these, left out */
    size_t num_dropped;
    size_t num_matches; /* in all selected pairs */
    size_t num_guided;  /* of these, found now along homographies */
} psfm_match_stats;

/* Matches the features of the selected pairs of images, in the order of their names, and
 * writes raw matches into the database in batches; after an interruption the next call goes on.
 * Pairs that are there are kept, unless we matched them with another matcher, weights or options
 * (or, along homographies, with other cameras or another seed). Descriptors are loaded as they are
 * needed, and dropped again beyond a quarter of the machine's memory. */
psfm_status psfm_match_images(psfm_context *ctx, const char *database,
                              const psfm_match_options *options, psfm_match_stats *stats);

/* A hash of everything but the features that the matches of all selected pairs depend on: which
 * pairs, matcher, options, cameras, seed. Pairs count by the places of their images in the order of
 * names, or by their rule if it goes by the features. */
psfm_status psfm_match_fingerprint(psfm_context *ctx, const char *database,
                                   const psfm_match_options *options, uint64_t *fingerprint);

/* One sentence about what was done. */
void psfm_match_stats_describe(const psfm_match_stats *stats, char *text, size_t size);

#endif

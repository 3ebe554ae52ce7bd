/* Mutual nearest neighbours of descriptors, by comparing all with all. */
#ifndef PSFM_MATCH_NEAREST_NEIGHBOUR_H
#define PSFM_MATCH_NEAREST_NEIGHBOUR_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/options.h"
#include "images/feature/keypoint_set.h"
#include "images/match/nearest_head.h"
#include "images/match/pair_select.h"

/* Indices into the first and the second set, ascending in the first. Owns its array. */
typedef struct {
    uint32_t (*matches)[2];
    size_t num;
} psfm_match_list;

void psfm_match_list_free(psfm_match_list *list);

typedef struct {
    double max_ratio;    /* best over second-best angle must be below this */
    double max_distance; /* largest angle between matched descriptors, in radians; no option */
} psfm_nearest_options;

extern const psfm_option_table psfm_nearest_option_table;

/* Matches n1 x 128 with n2 x 128 descriptors of SIFT (L2 norm 512, as COLMAP stores them) by the
 * rules of COLMAP's brute-force matcher: the distance is the angle acos(a . b / 512^2) in single
 * precision, of equal products the second best counts, and both directions must choose each other.
 * Equal, match by match, to a double loop over integer dot products, whatever instructions are
 * used. One thread; cost n1 n2 products of 128 values, of which bounds by 32 bytes leave about one
 * in a hundred to compute. */
psfm_status psfm_nearest_match_u8(psfm_context *ctx, const uint8_t *descriptors1, size_t n1,
                                  const uint8_t *descriptors2, size_t n2,
                                  const psfm_nearest_options *options, psfm_match_list *out);

typedef struct {
    double min_similarity; /* smallest dot product of a match; -1 admits all of unit vectors */
    double max_ratio;      /* of the distances sqrt(2 - 2 a . b), best over second best; 1 = off */
} psfm_nearest_float_options;

extern const psfm_option_table psfm_nearest_float_option_table;

/* The same for descriptors of unit length in single precision (neural features): most similar is
 * the largest dot product, on ties the lowest index. NaNs match nothing. PSFM_ERR_DATA if the
 * descriptors of the sets have different sizes. */
psfm_status psfm_nearest_match_f32(psfm_context *ctx, const psfm_keypoint_set *set1,
                                   const psfm_keypoint_set *set2,
                                   const psfm_nearest_float_options *options, psfm_match_list *out);

/* Shortened descriptors of some images (images/match/nearest_head.h), for a caller who matches each
 * of them in several calls. They save time and do not change a match. */
typedef struct {
    const psfm_nearest_basis *basis;
    const psfm_nearest_head *const *heads; /* per set, by this basis; for sets that
                                            * psfm_nearest_wants_head */
} psfm_nearest_heads;

/* Whether the head of an image with so many descriptors may be used. */
bool psfm_nearest_wants_head(size_t num_descriptors);

/* Matches SIFT descriptors of all pairs in parallel. `known` is NULL if heads are to be made. out
 * has pairs->num zeroed entries, freed one by one by the caller; on failure all are empty. */
psfm_status psfm_nearest_match_pairs(psfm_context *ctx, const psfm_keypoint_set *sets,
                                     size_t num_sets, const psfm_pair_list *pairs,
                                     const psfm_nearest_options *options,
                                     const psfm_nearest_heads *known, psfm_match_list *out);

#endif

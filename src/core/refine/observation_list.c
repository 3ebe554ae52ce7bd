/* Observations in the order of the points, and of each point in the order of its track. */
#include "core/refine/observation_list.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

void psfm_observation_list_free(psfm_observation_list *list) {
    free(list->image);
    free(list->point);
    free(list->xy);
    free(list->sqrt_info);
    *list = (psfm_observation_list){0};
}

/* Information of a keypoint's position; one pixel if nothing is known. */
static void find_information(const psfm_view *view, uint32_t keypoint, double s[3]) {
    static const double pixel[3] = {1.0, 0.0, 1.0};
    memcpy(s, view->sqrt_info == NULL ? pixel : view->sqrt_info[keypoint], sizeof pixel);
}

psfm_status psfm_observation_list_make(psfm_context *ctx, const psfm_match_set *set,
                                       const psfm_structure *structure, bool with_information,
                                       psfm_observation_list *list) {
    const psfm_tracks *tracks = &structure->tracks;
    size_t n = structure->num_points > 0 ? tracks->begin[structure->num_points] : 0;
    psfm_status status;
    psfm_observation_list_free(list);
    if ((status = PSFM_ALLOC(ctx, n, &list->image)) ||
        (status = PSFM_ALLOC(ctx, n, &list->point)) || (status = PSFM_ALLOC(ctx, n, &list->xy)) ||
        (with_information && (status = PSFM_ALLOC(ctx, n, &list->sqrt_info))))
        return status;
    list->num = n;
    for (size_t p = 0; p < structure->num_points; ++p)
        for (size_t k = tracks->begin[p]; k < tracks->begin[p + 1]; ++k) {
            const psfm_view *view = &set->views[tracks->view[k]];
            list->image[k] = tracks->view[k];
            list->point[k] = (uint32_t)p;
            memcpy(list->xy[k], view->keypoints[tracks->keypoint[k]], sizeof list->xy[k]);
            if (list->sqrt_info != NULL)
                find_information(view, tracks->keypoint[k], list->sqrt_info[k]);
        }
    return PSFM_OK;
}

/* A long track ties many pairs of images together for the price of one point. Greedy: tracks by
 * length, each that some pair still needs. O(sum of squared lengths). Of equally long ones the
 * place in their first image decides, which does not change when keypoints or matches come in
 * another order. */

#define MOST_PAIRS ((size_t)1 << 30) /* that are counted, a byte each: of 46,000 images */

static size_t length_of(const psfm_tracks *tracks, size_t track) {
    return tracks->begin[track + 1] - tracks->begin[track];
}

typedef struct {
    uint32_t length, view, track;
    float x, y;
} rank;

static int by_length(const void *a, const void *b) {
    const rank *p = a, *q = b;
    if (p->length != q->length)
        return p->length > q->length ? -1 : 1;
    if (p->view != q->view)
        return p->view < q->view ? -1 : 1;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return p->track < q->track ? -1 : p->track > q->track;
}

static psfm_status sort_by_length(psfm_context *ctx, const psfm_tracks *tracks,
                                  const double (*xy)[2], rank **ranks) {
    psfm_status status = PSFM_ALLOC(ctx, tracks->num_tracks, ranks);
    for (size_t t = 0; status == PSFM_OK && t < tracks->num_tracks; ++t) {
        const size_t first = tracks->begin[t];
        (*ranks)[t] = (rank){(uint32_t)length_of(tracks, t), tracks->view[first], (uint32_t)t,
                             (float)xy[first][0], (float)xy[first][1]};
    }
    if (status == PSFM_OK && tracks->num_tracks > 0)
        qsort(*ranks, tracks->num_tracks, sizeof **ranks, by_length);
    return status;
}

/* How many tracks two different images have in common, in a triangle. */
static uint8_t *count_of(uint8_t *counts, uint32_t a, uint32_t b) {
    const size_t low = a < b ? a : b, high = a < b ? b : a;
    return &counts[high * (high - 1) / 2 + low];
}

static bool is_needed(const psfm_tracks *tracks, size_t track, int per_pair, uint8_t *counts) {
    for (size_t i = tracks->begin[track]; i < tracks->begin[track + 1]; ++i)
        for (size_t j = tracks->begin[track]; j < i; ++j)
            if (*count_of(counts, tracks->view[i], tracks->view[j]) < per_pair)
                return true;
    return false;
}

static void count_pairs(const psfm_tracks *tracks, size_t track, uint8_t *counts) {
    for (size_t i = tracks->begin[track]; i < tracks->begin[track + 1]; ++i)
        for (size_t j = tracks->begin[track]; j < i; ++j) {
            uint8_t *pair = count_of(counts, tracks->view[i], tracks->view[j]);
            *pair = (uint8_t)(*pair + (*pair < UINT8_MAX));
        }
}

psfm_status psfm_long_tracks_choose(psfm_context *ctx, const psfm_tracks *tracks,
                                    const double (*xy)[2], size_t num_images, int per_pair,
                                    bool *chosen, size_t *num_observations) {
    const size_t num_pairs = num_images * (num_images - 1) / 2;
    const bool is_large = num_images > 0 && num_pairs > MOST_PAIRS;
    rank *ranks = NULL;
    uint8_t *counts = NULL;
    *num_observations = 0;
    psfm_status status = sort_by_length(ctx, tracks, xy, &ranks);
    if (status == PSFM_OK && !is_large)
        status = PSFM_ALLOC(ctx, num_pairs, &counts);
    for (size_t k = 0; status == PSFM_OK && k < tracks->num_tracks; ++k) {
        const uint32_t track = ranks[k].track;
        chosen[track] = is_large || is_needed(tracks, track, per_pair, counts);
        if (!chosen[track])
            continue;
        *num_observations += length_of(tracks, track);
        if (!is_large)
            count_pairs(tracks, track, counts);
    }
    free(ranks);
    free(counts);
    return status;
}

psfm_status psfm_observation_list_choose(psfm_context *ctx, const psfm_observation_list *all,
                                         const bool *chosen, size_t num_observations,
                                         psfm_observation_list *out) {
    psfm_status status;
    *out = (psfm_observation_list){0};
    if ((status = PSFM_ALLOC(ctx, num_observations, &out->image)) ||
        (status = PSFM_ALLOC(ctx, num_observations, &out->point)) ||
        (status = PSFM_ALLOC(ctx, num_observations, &out->xy)))
        return status;
    for (size_t k = 0; k < all->num; ++k) {
        if (!chosen[all->point[k]])
            continue;
        out->image[out->num] = all->image[k];
        out->point[out->num] = all->point[k];
        memcpy(out->xy[out->num++], all->xy[k], sizeof *out->xy);
    }
    return PSFM_OK;
}

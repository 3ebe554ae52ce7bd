/* Overlaps of the planes at a camera.
 *
 * The planes are turned into bit sets over those of the camera's keypoints that occur in two planes
 * at least, so that an overlap is the bit count of an intersection: with 2,000 keypoints 32 words,
 * where merging two lists of 500 would take 1,000 steps. */
#include "core/posegraph/shared_inliers.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

enum { UNSEEN = 0, SEEN_ONCE = 1, FIRST_BIT = 2 };

/* Makes room for the planes of all edges at the camera. */
static psfm_status reserve_planes(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t node,
                                  psfm_camera_planes *s) {
    const uint32_t *incident = psfm_adjacency_at(&graph->incident, node);
    size_t d = psfm_adjacency_degree(&graph->incident, node), num = 0;
    for (size_t k = 0; k < d; ++k) {
        const psfm_edge *edge = &graph->edges[incident[k]];
        num += edge->plane_end - edge->plane_begin;
    }
    psfm_status status = PSFM_RESERVE(ctx, &s->first_plane, &s->first_capacity, d + 1);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &s->planes, &s->planes_capacity, num);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(ctx, &s->keypoints, &s->keypoints_capacity, num);
    return status;
}

/* Lists the planes; returns their number. *max_keypoint is the largest keypoint among them. */
static uint32_t gather_planes(const psfm_pose_graph *graph, uint32_t node, psfm_camera_planes *s,
                              uint32_t *max_keypoint) {
    const uint32_t *incident = psfm_adjacency_at(&graph->incident, node);
    uint32_t d = psfm_adjacency_degree(&graph->incident, node), num = 0;
    *max_keypoint = 0;
    for (uint32_t k = 0; k < d; ++k) {
        const psfm_edge *edge = &graph->edges[incident[k]];
        s->first_plane[k] = num;
        for (uint32_t p = edge->plane_begin; p < edge->plane_end; ++p) {
            const psfm_edge_plane *plane = &graph->planes[p];
            const uint32_t *keypoints = edge->node1 == node ? plane->keypoints1 : plane->keypoints2;
            s->planes[num] = plane;
            s->keypoints[num++] = keypoints;
            if (plane->num_inliers > 0 && keypoints[plane->num_inliers - 1] > *max_keypoint)
                *max_keypoint = keypoints[plane->num_inliers - 1];
        }
    }
    s->first_plane[d] = num;
    return num;
}

/* Gives a bit to each keypoint that occurs in two planes; returns the number of bits. */
static uint32_t number_keypoints(psfm_camera_planes *s, size_t num_planes) {
    uint32_t num_bits = 0;
    for (size_t p = 0; p < num_planes; ++p) {
        const uint32_t *keypoints = s->keypoints[p];
        for (uint32_t k = 0; k < s->planes[p]->num_inliers; ++k) {
            if (k > 0 && keypoints[k] == keypoints[k - 1])
                continue; /* matched twice; still one keypoint */
            uint32_t *slot = &s->slot[keypoints[k]];
            if (*slot == UNSEEN)
                *slot = SEEN_ONCE;
            else if (*slot == SEEN_ONCE)
                *slot = FIRST_BIT + num_bits++;
        }
    }
    return num_bits;
}

/* Fills the bit sets of all planes, and puts the slots back to rest. */
static psfm_status make_bit_sets(psfm_context *ctx, psfm_camera_planes *s, size_t num_planes,
                                 uint32_t max_keypoint) {
    psfm_status status = PSFM_RESERVE(ctx, &s->slot, &s->slot_capacity, (size_t)max_keypoint + 1);
    if (status != PSFM_OK)
        return status;
    s->num_words = ((size_t)number_keypoints(s, num_planes) + 63) / 64;
    size_t need = num_planes * s->num_words;
    status = PSFM_RESERVE(ctx, &s->bits, &s->bits_capacity, need);
    if (status == PSFM_OK && need > 0)
        memset(s->bits, 0, need * sizeof *s->bits);
    for (size_t p = 0; status == PSFM_OK && need > 0 && p < num_planes; ++p) {
        uint64_t *bits = s->bits + p * s->num_words;
        for (uint32_t k = 0; k < s->planes[p]->num_inliers; ++k) {
            uint32_t slot = s->slot[s->keypoints[p][k]];
            if (slot >= FIRST_BIT)
                bits[(slot - FIRST_BIT) / 64] |= (uint64_t)1 << ((slot - FIRST_BIT) % 64);
        }
    }
    for (size_t p = 0; p < num_planes; ++p)
        for (uint32_t k = 0; k < s->planes[p]->num_inliers; ++k)
            s->slot[s->keypoints[p][k]] = UNSEEN;
    return status;
}

psfm_status psfm_camera_planes_set(psfm_context *ctx, const psfm_pose_graph *graph, uint32_t node,
                                   psfm_camera_planes *planes) {
    uint32_t max_keypoint;
    psfm_status status = reserve_planes(ctx, graph, node, planes);
    if (status != PSFM_OK)
        return status;
    uint32_t num = gather_planes(graph, node, planes, &max_keypoint);
    return make_bit_sets(ctx, planes, num, max_keypoint);
}

/* Bits of a word by adding neighbouring fields; compilers turn the loop over it into vector code,
 * unlike a call for each word. */
static uint64_t count_bits(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    x += x >> 8;
    x += x >> 16;
    x += x >> 32;
    return x & 0x7f;
}

uint32_t psfm_camera_planes_overlap(const psfm_camera_planes *planes, size_t p, size_t q) {
    if (planes->num_words == 0)
        return 0; /* no keypoint is in two planes */
    const uint64_t *a = planes->bits + p * planes->num_words;
    const uint64_t *b = planes->bits + q * planes->num_words;
    uint64_t count = 0;
    for (size_t k = 0; k < planes->num_words; ++k)
        count += count_bits(a[k] & b[k]);
    return (uint32_t)count;
}

void psfm_camera_planes_free(psfm_camera_planes *planes) {
    free((void *)planes->planes);
    free(planes->first_plane);
    free((void *)planes->keypoints);
    free(planes->slot);
    free(planes->bits);
    *planes = (psfm_camera_planes){0};
}

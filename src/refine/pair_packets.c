/* Corners, planes and aligned pairs as bytes. Indices in them are checked where they arrive. */
#include "refine/pair_packets.h"

#include <stdlib.h>

#include "base/alloc.h"

/* ---- corners ---- */

psfm_status psfm_view_corners_pack(psfm_context *ctx, const psfm_view_corners *corners,
                                   psfm_packet *packet) {
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack_text(&p, corners->problem);
    psfm_pack_array(&p, corners->corners, corners->num, sizeof *corners->corners);
    return p.status;
}

psfm_status psfm_view_corners_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                     psfm_view_corners *out) {
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    *out = (psfm_view_corners){0};
    psfm_unpack_text(&u, &out->problem);
    psfm_unpack_array(&u, sizeof *out->corners, &out->corners, &out->num);
    if (u.status != PSFM_OK)
        psfm_view_corners_free(out);
    return u.status;
}

/* ---- planes ---- */

/* What a packet has of each plane before the inliers of all. */
typedef struct {
    double H_21[9];
    size_t num_inliers;
} plane_head;

psfm_status psfm_raw_planes_pack(psfm_context *ctx, const psfm_raw_planes *planes,
                                 psfm_packet *packet) {
    psfm_packing p = {.ctx = ctx, .packet = packet};
    size_t num_xy = 0;
    psfm_pack(&p, &planes->num, sizeof planes->num);
    for (size_t h = 0; h < planes->num; ++h) {
        const psfm_raw_plane *plane = &planes->planes[h];
        plane_head head = {.num_inliers = plane->num_inliers};
        for (int k = 0; k < 9; ++k)
            head.H_21[k] = plane->H_21[k];
        psfm_pack(&p, &head, sizeof head);
        num_xy += 2 * plane->num_inliers;
    }
    psfm_pack_array(&p, planes->xy, num_xy, sizeof *planes->xy);
    return p.status;
}

/* The inliers of the planes stand one after the other, those of image 1 first. False if there are
 * not as many as the planes say. */
static bool share_inliers(const plane_head *heads, size_t num_xy, psfm_raw_planes *out) {
    size_t at = 0;
    for (size_t h = 0; h < out->num; ++h) {
        const size_t num = heads[h].num_inliers;
        psfm_raw_plane *plane = &out->planes[h];
        if (num > (num_xy - at) / 2)
            return false;
        for (int k = 0; k < 9; ++k)
            plane->H_21[k] = heads[h].H_21[k];
        plane->num_inliers = num;
        plane->xy1 = (const double(*)[2])(out->xy + at);
        plane->xy2 = (const double(*)[2])(out->xy + at + num);
        at += 2 * num;
    }
    return at == num_xy;
}

psfm_status psfm_raw_planes_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                   psfm_raw_planes *out) {
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    plane_head *heads = NULL;
    size_t num_xy = 0;
    *out = (psfm_raw_planes){0};
    psfm_unpack_array(&u, sizeof *heads, &heads, &out->num);
    psfm_unpack_array(&u, sizeof *out->xy, &out->xy, &num_xy);
    if (u.status == PSFM_OK)
        u.status = PSFM_ALLOC(ctx, out->num, &out->planes);
    if (u.status == PSFM_OK && !share_inliers(heads, num_xy, out))
        u.status = psfm_fail(ctx, PSFM_ERR_FORMAT, "a packet with inliers of other planes");
    if (u.status != PSFM_OK)
        psfm_raw_planes_free(out);
    free(heads);
    return u.status;
}

/* ---- aligned pairs ---- */

psfm_status psfm_pair_refined_pack(psfm_context *ctx, const psfm_pair_refined *refined,
                                   size_t num_planes, psfm_packet *packet) {
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack_array(&p, refined->planes, refined->planes == NULL ? 0 : num_planes,
                    sizeof *refined->planes);
    psfm_pack_array(&p, refined->matches, refined->num_matches, sizeof *refined->matches);
    psfm_pack(&p, &refined->stats, sizeof refined->stats);
    return p.status;
}

static bool is_of_pair(const psfm_pair_match *m, size_t num_planes, const size_t num_corners[2]) {
    return m->plane < num_planes && (m->side == 0 || m->side == 1) &&
           m->corner < num_corners[m->side];
}

/* Whether all indices are in range, and each plane has as many matches as it says. */
static bool is_whole(const psfm_pair_refined *refined, size_t num_planes,
                     const size_t num_corners[2]) {
    size_t total = 0;
    for (size_t k = 0; k < refined->num_matches; ++k)
        if (!is_of_pair(&refined->matches[k], num_planes, num_corners))
            return false;
    for (size_t h = 0; h < num_planes; ++h) {
        size_t num = 0;
        for (size_t k = 0; k < refined->num_matches; ++k)
            num += refined->matches[k].plane == h;
        if (num != refined->planes[h].num_matches)
            return false;
        total += num;
    }
    return total == refined->num_matches;
}

psfm_status psfm_pair_refined_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                     size_t num_planes, const size_t num_corners[2],
                                     psfm_pair_refined *out) {
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    size_t num = 0;
    *out = (psfm_pair_refined){0};
    psfm_unpack_array(&u, sizeof *out->planes, &out->planes, &num);
    psfm_unpack_array(&u, sizeof *out->matches, &out->matches, &out->num_matches);
    psfm_unpack(&u, &out->stats, sizeof out->stats);
    if (u.status == PSFM_OK &&
        ((num != 0 && num != num_planes) || !is_whole(out, num, num_corners)))
        u.status = psfm_fail(ctx, PSFM_ERR_FORMAT, "a packet with matches of another pair");
    if (u.status != PSFM_OK)
        psfm_pair_refined_free(out);
    if (num == 0) { /* not an empty array, but none */
        free(out->planes);
        out->planes = NULL;
    }
    return u.status;
}

/* Pairs of photographs on their way from one process to another. */
#ifndef PSFM_REFINE_PAIR_PACKETS_H
#define PSFM_REFINE_PAIR_PACKETS_H

#include "refine/pair_input.h"
#include "tasks/packet.h"

/* All that unpack fail with PSFM_ERR_FORMAT where a packet is cut or belongs to something else;
 * what they give is empty then. */

psfm_status psfm_view_corners_pack(psfm_context *ctx, const psfm_view_corners *corners,
                                   psfm_packet *packet);
psfm_status psfm_view_corners_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                     psfm_view_corners *out);

psfm_status psfm_raw_planes_pack(psfm_context *ctx, const psfm_raw_planes *planes,
                                 psfm_packet *packet);
psfm_status psfm_raw_planes_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                   psfm_raw_planes *out);

/* Of a pair with so many raw planes; refined->planes is NULL if it could not be aligned. */
psfm_status psfm_pair_refined_pack(psfm_context *ctx, const psfm_pair_refined *refined,
                                   size_t num_planes, psfm_packet *packet);
/* Of a pair with so many raw planes and corners on its sides. */
psfm_status psfm_pair_refined_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                     size_t num_planes, const size_t num_corners[2],
                                     psfm_pair_refined *out);

#endif

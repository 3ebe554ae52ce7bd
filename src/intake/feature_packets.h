/* Features on their way from one process to another. */
#ifndef PSFM_INTAKE_FEATURE_PACKETS_H
#define PSFM_INTAKE_FEATURE_PACKETS_H

#include "feature/keypoint_set.h"
#include "tasks/packet.h"

/* Keypoints may be missing where there are descriptors, and the other way round. */
psfm_status psfm_features_pack(psfm_context *ctx, const psfm_keypoint_set *set,
                               psfm_packet *packet);
/* The caller frees *set, which is empty on failure. */
psfm_status psfm_features_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                 psfm_keypoint_set *set);

#endif

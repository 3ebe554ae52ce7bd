/* Features as bytes: the numbers of keypoints and of descriptors first, then four arrays, of which
 * those that a kind of features does not have are empty. */
#include "intake/feature_packets.h"

#include <stdlib.h>

psfm_status psfm_features_pack(psfm_context *ctx, const psfm_keypoint_set *set,
                               psfm_packet *packet) {
    const size_t size = set->descriptor_size, numbers[2] = {set->num, size};
    psfm_packing p = {.ctx = ctx, .packet = packet};
    psfm_pack(&p, numbers, sizeof numbers);
    psfm_pack_array(&p, set->keypoints, set->keypoints == NULL ? 0 : set->num,
                    sizeof *set->keypoints);
    psfm_pack_array(&p, set->descriptors_u8, set->descriptors_u8 == NULL ? 0 : set->num * size, 1);
    psfm_pack_array(&p, set->descriptors_f32, set->descriptors_f32 == NULL ? 0 : set->num * size,
                    sizeof *set->descriptors_f32);
    psfm_pack_array(&p, set->scores, set->scores == NULL ? 0 : set->num, sizeof *set->scores);
    return p.status;
}

/* An array of `num` elements, or none at all: then *out is NULL. */
static void unpack_some(psfm_unpacking *u, size_t num, size_t size, void *out) {
    size_t found = 0;
    void *elements = NULL, **pointer = out;
    psfm_unpack_array(u, size, &elements, &found);
    if (u->status == PSFM_OK && found != 0 && found != num)
        u->status = psfm_fail(u->ctx, PSFM_ERR_FORMAT,
                              "%zu numbers of features in a packet, not %zu", found, num);
    if (u->status != PSFM_OK || found == 0) {
        free(elements);
        elements = NULL;
    }
    *pointer = elements;
}

psfm_status psfm_features_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                 psfm_keypoint_set *set) {
    size_t numbers[2] = {0, 0};
    void *keypoints = NULL, *bytes = NULL, *floats = NULL, *scores = NULL;
    psfm_unpacking u = {.ctx = ctx, .reader = reader};
    psfm_unpack(&u, numbers, sizeof numbers);
    const size_t num = numbers[0], size = numbers[1];
    unpack_some(&u, num, sizeof *set->keypoints, &keypoints);
    unpack_some(&u, num * size, 1, &bytes);
    unpack_some(&u, num * size, sizeof(float), &floats);
    unpack_some(&u, num, sizeof(float), &scores);
    *set = (psfm_keypoint_set){num, keypoints, size, bytes, floats, scores};
    if (u.status != PSFM_OK)
        psfm_keypoint_set_free(set);
    return u.status;
}

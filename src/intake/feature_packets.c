/* Features as bytes: the numbers of keypoints and of descriptors first, then four arrays, of which
 * those that a kind of features does not have are empty. */
#include "intake/feature_packets.h"

#include <stdlib.h>

psfm_status psfm_features_pack(psfm_context *ctx, const psfm_keypoint_set *set,
                               psfm_packet *packet) {
    const size_t size = set->descriptor_size, numbers[2] = {set->num, size};
    psfm_status status = psfm_packet_put(ctx, packet, numbers, sizeof numbers);
    if (status == PSFM_OK)
        status =
            psfm_packet_put_array(ctx, packet, set->keypoints,
                                  set->keypoints == NULL ? 0 : set->num, sizeof *set->keypoints);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, set->descriptors_u8,
                                       set->descriptors_u8 == NULL ? 0 : set->num * size, 1);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, set->descriptors_f32,
                                       set->descriptors_f32 == NULL ? 0 : set->num * size,
                                       sizeof *set->descriptors_f32);
    if (status == PSFM_OK)
        status = psfm_packet_put_array(ctx, packet, set->scores, set->scores == NULL ? 0 : set->num,
                                       sizeof *set->scores);
    return status;
}

/* An array of `num` elements, or none at all: then *out is NULL. */
static psfm_status get_array(psfm_context *ctx, psfm_packet_reader *reader, size_t num, size_t size,
                             void *out) {
    size_t found;
    void *elements = NULL, **pointer = out;
    psfm_status status = psfm_packet_get_array(ctx, reader, size, &elements, &found);
    if (status == PSFM_OK && found == 0) {
        free(elements);
        elements = NULL;
    } else if (status == PSFM_OK && found != num) {
        free(elements);
        elements = NULL;
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%zu numbers of features in a packet, not %zu",
                           found, num);
    }
    *pointer = elements;
    return status;
}

psfm_status psfm_features_unpack(psfm_context *ctx, psfm_packet_reader *reader,
                                 psfm_keypoint_set *set) {
    size_t numbers[2];
    void *keypoints = NULL, *bytes = NULL, *floats = NULL, *scores = NULL;
    *set = (psfm_keypoint_set){0};
    psfm_status status = psfm_packet_get(ctx, reader, numbers, sizeof numbers);
    if (status != PSFM_OK)
        return status;
    const size_t num = numbers[0], size = numbers[1];
    if ((status = get_array(ctx, reader, num, sizeof *set->keypoints, &keypoints)) == PSFM_OK &&
        (status = get_array(ctx, reader, num * size, 1, &bytes)) == PSFM_OK &&
        (status = get_array(ctx, reader, num * size, sizeof(float), &floats)) == PSFM_OK)
        status = get_array(ctx, reader, num, sizeof(float), &scores);
    *set = (psfm_keypoint_set){num, keypoints, size, bytes, floats, scores};
    if (status != PSFM_OK)
        psfm_keypoint_set_free(set);
    return status;
}

/* Networks behind weights files. The first byte chooses a network, the others say what is changed
 * in a good file for it: bytes of the header, or numbers of a tensor (not a number, infinite, huge,
 * zero, any). A network that could be made finds features in a small image, or matches some. */
#include <math.h>
#include <string.h>

#include "../../bench/network_weights.h"
#include "fuzz_file.h"
#include "images/feature/detector.h"
#include "images/match/lightglue.h"
#include "images/match/superglue.h"
#include "images/nn/engine.h"

enum { SUPERPOINT, XFEAT, EDGEPOINT2, SUPERGLUE, LIGHTERGLUE, NUM_NETWORKS };
enum { SIDE = 32, NUM_POINTS = 9, MAX_DIM = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    const uint8_t *at, *end;
} source;

static uint32_t take(source *from, int num_bytes) {
    uint32_t value = 0;
    for (; num_bytes > 0; --num_bytes)
        value = value << 8 | (from->at < from->end ? *from->at++ : 0);
    return value;
}

/* ---- files ---- */

typedef struct {
    uint8_t *bytes;
    size_t size, header; /* length of the header */
} weights;

static weights make_good(int network) {
    weights good = {0};
    weights_file w;
    uint64_t header = 0;
    weights_open(&w, 1);
    if (network == SUPERPOINT)
        weights_superpoint(&w);
    else if (network == XFEAT)
        weights_xfeat(&w);
    else if (network == EDGEPOINT2)
        weights_edgepoint2(&w);
    else if (network == SUPERGLUE)
        weights_superglue(&w, 1);
    else
        weights_lightglue(&w, 1, 96, 1, 64);
    weights_close(&w, NULL);
    FILE *file = fopen(w.path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        abort();
    good.size = (size_t)ftell(file);
    good.bytes = malloc(good.size);
    rewind(file);
    if (good.bytes == NULL || fread(good.bytes, 1, good.size, file) != good.size)
        abort();
    fclose(file);
    unlink(w.path);
    memcpy(&header, good.bytes, sizeof header);
    good.header = (size_t)header;
    return good;
}

static void change_header(const weights *w, uint8_t *bytes, source *from) {
    static const char useful[] = "0123456789,[]{}:\"FIU\\ \n";
    size_t at = 8 + take(from, 2) % w->header;
    bytes[at] = (uint8_t)useful[take(from, 1) % (sizeof useful - 1)];
}

static void change_numbers(const weights *w, uint8_t *bytes, source *from) {
    static const float special[] = {NAN, INFINITY, -INFINITY, 3e38F, -3e38F, 0.0F, -1.0F, 1e-40F};
    size_t num = (w->size - 8 - w->header) / 4, at = take(from, 3) % num;
    size_t length = (size_t)1 << take(from, 1) % 16;
    float value = special[take(from, 1) % 8];
    for (size_t k = at; k < num && k < at + length; ++k)
        memcpy(bytes + 8 + w->header + 4 * k, &value, sizeof value);
}

static const char *write_changed(int network, source *from) {
    static weights good[NUM_NETWORKS];
    weights *w = &good[network];
    if (w->bytes == NULL)
        *w = make_good(network);
    uint8_t *bytes = malloc(w->size);
    if (bytes == NULL)
        abort();
    memcpy(bytes, w->bytes, w->size);
    for (int num = 0; num < 8 && from->at < from->end; ++num)
        take(from, 1) % 4 == 0 ? change_header(w, bytes, from) : change_numbers(w, bytes, from);
    const char *path = fuzz_file("w.safetensors", bytes, w->size);
    free(bytes);
    return path;
}

/* ---- networks ---- */

/* Keypoints are in the image. */
static void check_features(psfm_status status, psfm_keypoint_set *set) {
    for (size_t k = 0; status == PSFM_OK && k < set->num; ++k)
        if (!(set->keypoints[k].x >= 0 && set->keypoints[k].x <= SIDE && set->keypoints[k].y >= 0 &&
              set->keypoints[k].y <= SIDE))
            abort();
    psfm_keypoint_set_free(set);
}

static void try_detector(psfm_context *ctx, psfm_engine *nn, int network, const char *path) {
    static uint8_t pixels[SIDE * SIDE];
    psfm_gray_view image = {pixels, SIDE, SIDE, SIDE};
    psfm_keypoint_set set = {0};
    void *superpoint = NULL;
    void *xfeat = NULL;
    void *edgepoint2 = NULL;
    psfm_status status;
    for (int k = 0; k < SIDE * SIDE; ++k)
        pixels[k] = (uint8_t)(k * 37 + k / SIDE * 91);
    if (network == SUPERPOINT) {
        status = psfm_network_create(ctx, psfm_superpoint_detector.network, nn, path, &superpoint);
        if (status == PSFM_OK)
            status =
                psfm_neural_extract(ctx, &psfm_superpoint_detector, superpoint, &image, NULL, &set);
    } else if (network == XFEAT) {
        status = psfm_network_create(ctx, psfm_xfeat_detector.network, nn, path, &xfeat);
        if (status == PSFM_OK)
            status = psfm_neural_extract(ctx, &psfm_xfeat_detector, xfeat, &image, NULL, &set);
    } else {
        status = psfm_network_create(ctx, psfm_edgepoint2_detector.network, nn, path, &edgepoint2);
        if (status == PSFM_OK)
            status =
                psfm_neural_extract(ctx, &psfm_edgepoint2_detector, edgepoint2, &image, NULL, &set);
    }
    check_features(status, &set);
    psfm_network_destroy(psfm_superpoint_detector.network, &superpoint);
    psfm_network_destroy(psfm_xfeat_detector.network, &xfeat);
    psfm_network_destroy(psfm_edgepoint2_detector.network, &edgepoint2);
}

static void check_matches(psfm_status status, psfm_neural_matches *matches) {
    for (size_t k = 0; status == PSFM_OK && k < matches->list.num; ++k)
        if (matches->list.matches[k][0] >= NUM_POINTS || matches->list.matches[k][1] >= NUM_POINTS)
            abort();
    psfm_neural_matches_free(matches);
}

static void try_matcher(psfm_context *ctx, psfm_engine *nn, int network, const char *path) {
    static psfm_keypoint keypoints[NUM_POINTS];
    static float descriptors[NUM_POINTS * MAX_DIM], scores[NUM_POINTS];
    psfm_superglue *superglue = NULL;
    psfm_lightglue *lightglue = NULL;
    psfm_neural_matches matches = {0};
    psfm_keypoint_set set = {.num = NUM_POINTS,
                             .keypoints = keypoints,
                             .descriptors_f32 = descriptors,
                             .scores = scores};
    psfm_neural_input input = {&set, SIDE, SIDE};
    for (int k = 0; k < NUM_POINTS; ++k) {
        keypoints[k] = psfm_keypoint_make((float)(7 * k), (float)(k * k % SIDE), 1, 0);
        scores[k] = 0.1F * (float)k;
    }
    for (int k = 0; k < NUM_POINTS * MAX_DIM; ++k)
        descriptors[k] = 0.06F * sinf((float)(k * k % 1000));
    psfm_status status =
        network == SUPERGLUE
            ? psfm_network_create(ctx, &psfm_superglue_network, nn, path, &superglue)
            : psfm_network_create(ctx, &psfm_lightglue_network, nn, path, &lightglue);
    if (status == PSFM_OK) {
        set.descriptor_size =
            network == SUPERGLUE ? psfm_superglue_dim(superglue) : psfm_lightglue_dim(lightglue);
        if (set.descriptor_size > MAX_DIM)
            status = PSFM_ERR_DATA;
        else if (network == SUPERGLUE)
            status = psfm_superglue_match(ctx, superglue, &input, &input, NULL, &matches);
        else
            status = psfm_lightglue_match(ctx, lightglue, &input, &input, NULL, &matches);
    }
    check_matches(status, &matches);
    psfm_network_destroy(&psfm_superglue_network, &superglue);
    psfm_network_destroy(&psfm_lightglue_network, &lightglue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static psfm_context *ctx;
    static psfm_engine *nn;
    source from = {data, data + size};
    if (ctx == NULL) {
        ctx = psfm_context_create();
        psfm_context_set_threads(ctx, 1);
        if (psfm_engine_create(ctx, &nn) != PSFM_OK)
            return 0; /* built without networks */
    }
    if (nn == NULL)
        return 0;
    static const int choice[16] = {SUPERPOINT,  XFEAT,      SUPERGLUE,   EDGEPOINT2,
                                   LIGHTERGLUE, EDGEPOINT2, LIGHTERGLUE, EDGEPOINT2,
                                   LIGHTERGLUE, EDGEPOINT2, LIGHTERGLUE, EDGEPOINT2,
                                   LIGHTERGLUE, EDGEPOINT2, LIGHTERGLUE, EDGEPOINT2};
    int network = choice[take(&from, 1) % 16]; /* the small ones more often */
    const char *path = write_changed(network, &from);
    if (network == SUPERGLUE || network == LIGHTERGLUE)
        try_matcher(ctx, nn, network, path);
    else
        try_detector(ctx, nn, network, path);
    return 0;
}

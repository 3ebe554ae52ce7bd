/* Affine-covariant keypoints by VLFeat's detector, described as COLMAP describes them: a patch of
 * 31 x 31 samples that reaches 7.5 times the keypoint's shape, smoothed by once its scale, and a
 * SIFT descriptor of that patch.
 *
 * VLFeat keeps a table of exponentials that every vl_sift_new fills anew, which would race with
 * readers in other threads; so one filter is made once and shared, and only read. */
#include "feature/sift_affine.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include <vl/covdet.h>
#include <vl/imopv.h>
#include <vl/sift.h>

#include "base/alloc.h"
#include "feature/sift_describe.h"

#define RESOLUTION 15
#define SIDE (2 * RESOLUTION + 1)
#define EXTENT 7.5

static VlSiftFilt *shared_filter;
static pthread_once_t filter_once = PTHREAD_ONCE_INIT;

static void make_filter(void) {
    shared_filter = vl_sift_new(16, 16, 1, 3, 0);
    if (shared_filter != NULL)
        vl_sift_set_magnif(shared_filter, 3.0);
}

static double frame_area(const VlFrameOrientedEllipse *f) {
    return fabs((double)f->a11 * (double)f->a22 - (double)f->a12 * (double)f->a21);
}

/* Largest first; then by position and shape, so that the order is total. */
static int by_size(const void *a, const void *b) {
    const VlFrameOrientedEllipse *p = &((const VlCovDetFeature *)a)->frame;
    const VlFrameOrientedEllipse *q = &((const VlCovDetFeature *)b)->frame;
    double size_p = frame_area(p), size_q = frame_area(q);
    if (size_p != size_q)
        return size_p > size_q ? -1 : 1;
    const float left[] = {p->y, p->x, p->a11, p->a21}, right[] = {q->y, q->x, q->a11, q->a21};
    for (int k = 0; k < 4; ++k)
        if (left[k] != right[k])
            return left[k] < right[k] ? -1 : 1;
    return 0;
}

static void describe(VlCovDet *detector, const VlFrameOrientedEllipse *frame,
                     uint8_t descriptor[128]) {
    float patch[SIDE * SIDE], gradient[2 * SIDE * SIDE], histogram[128];
    vl_covdet_extract_patch_for_frame(detector, patch, RESOLUTION, EXTENT, 1.0, *frame);
    vl_imgradient_polar_f(gradient, gradient + 1, 2, 2 * (vl_size)SIDE, patch, SIDE, SIDE, SIDE);
    vl_sift_calc_raw_descriptor(shared_filter, gradient, histogram, SIDE, SIDE, RESOLUTION,
                                RESOLUTION, EXTENT / 7.5 / (EXTENT / RESOLUTION), 0.0);
    psfm_sift_root(histogram, descriptor);
}

static psfm_status load_image(psfm_context *ctx, VlCovDet *detector, const psfm_image *image) {
    size_t pixels = (size_t)image->width * (size_t)image->height;
    float *gray = NULL;
    psfm_status status = psfm_alloc(ctx, pixels, sizeof *gray, (void **)&gray);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < pixels; ++k)
        gray[k] = (float)image->gray[k] / 255.0F;
    if (vl_covdet_put_image(detector, gray, (vl_size)image->width, (vl_size)image->height) != 0)
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory for the scale space");
    free(gray);
    return status;
}

static psfm_status collect(psfm_context *ctx, VlCovDet *detector, const psfm_sift_options *options,
                           psfm_keypoint_set *out) {
    size_t num = vl_covdet_get_num_features(detector);
    VlCovDetFeature *features = vl_covdet_get_features(detector);
    psfm_keypoint_set set = {.descriptor_size = 128};
    if (num > 0)
        qsort(features, num, sizeof *features, by_size);
    num = num < (size_t)options->max_num_features ? num : (size_t)options->max_num_features;
    psfm_status status = psfm_alloc(ctx, num, sizeof *set.keypoints, (void **)&set.keypoints);
    if (status == PSFM_OK)
        status = psfm_alloc(ctx, num, 128, (void **)&set.descriptors_u8);
    for (; status == PSFM_OK && set.num < num; ++set.num) {
        const VlFrameOrientedEllipse *f = &features[set.num].frame;
        set.keypoints[set.num] =
            (psfm_keypoint){f->x + 0.5F, f->y + 0.5F, f->a11, f->a12, f->a21, f->a22};
        describe(detector, f, set.descriptors_u8 + 128 * set.num);
    }
    if (status != PSFM_OK)
        psfm_keypoint_set_free(&set);
    *out = set;
    return status;
}

psfm_status psfm_sift_extract_affine(psfm_context *ctx, const psfm_image *image,
                                     const psfm_sift_options *options, psfm_keypoint_set *out) {
    *out = (psfm_keypoint_set){0};
    pthread_once(&filter_once, make_filter);
    VlCovDet *detector = shared_filter == NULL ? NULL : vl_covdet_new(VL_COVDET_METHOD_DOG);
    if (detector == NULL)
        return psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory");
    vl_covdet_set_first_octave(detector, options->first_octave);
    vl_covdet_set_octave_resolution(detector, (vl_size)options->octave_resolution);
    vl_covdet_set_peak_threshold(detector, options->peak_threshold);
    vl_covdet_set_edge_threshold(detector, options->edge_threshold);
    vl_covdet_set_max_num_orientations(detector, (vl_size)options->max_num_orientations);
    psfm_status status = load_image(ctx, detector, image);
    if (status == PSFM_OK) {
        vl_covdet_detect(detector);
        vl_covdet_extract_affine_shape(detector);
        if (!options->upright)
            vl_covdet_extract_orientations(detector);
        status = collect(ctx, detector, options, out);
    }
    vl_covdet_delete(detector);
    return status;
}

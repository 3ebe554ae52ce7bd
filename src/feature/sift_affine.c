/* Affine-covariant keypoints by VLFeat's detector, described as COLMAP describes them: a patch of
 * 31 x 31 samples that reaches 7.5 times the keypoint's shape, smoothed by once its scale, and a
 * SIFT descriptor of that patch. Positions are adapted one after the other, from the largest scale
 * on and whole levels of it, so that those beyond max_num_features cost nothing.
 *
 * VLFeat keeps a table of exponentials that every vl_sift_new fills anew, which would race with
 * readers in other threads; so one filter is made once and shared, and only read. */
#include "feature/sift_affine.h"

#ifndef PSFM_HAVE_VLFEAT
psfm_status psfm_sift_extract_affine(psfm_context *ctx, const psfm_image *image,
                                     const psfm_sift_options *options, psfm_keypoint_set *out) {
    (void)image, (void)options;
    *out = (psfm_keypoint_set){0};
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                     "built without VLFeat, which adapts keypoints to ellipses: leave "
                     "--sift.affine-shape off, or install VLFeat and build again");
}
#else

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

/* Detected positions are circles. Largest first; then by position, so that the order is total. */
static int by_size(const void *a, const void *b) {
    const VlFrameOrientedEllipse *p = &((const VlCovDetFeature *)a)->frame;
    const VlFrameOrientedEllipse *q = &((const VlCovDetFeature *)b)->frame;
    const float left[] = {-p->a11, p->y, p->x}, right[] = {-q->a11, q->y, q->x};
    for (int k = 0; k < 3; ++k)
        if (left[k] != right[k])
            return left[k] < right[k] ? -1 : 1;
    return 0;
}

/* Number of the level of scale that a detected position is nearest to. */
static long level_of(const VlCovDetFeature *feature, const psfm_sift_options *options) {
    return lround(options->octave_resolution * log2((double)feature->frame.a11));
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
    psfm_status status = PSFM_ALLOC(ctx, pixels, &gray);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < pixels; ++k)
        gray[k] = (float)image->gray[k] / 255.0F;
    if (vl_covdet_put_image(detector, gray, (vl_size)image->width, (vl_size)image->height) != 0)
        status = psfm_fail(ctx, PSFM_ERR_MEMORY, "out of memory for the scale space");
    free(gray);
    return status;
}

typedef struct {
    psfm_keypoint_set set;
    size_t keypoint_capacity, descriptor_capacity;
} builder;

static psfm_status append(psfm_context *ctx, VlCovDet *detector, const VlFrameOrientedEllipse *f,
                          builder *b) {
    size_t num = b->set.num + 1;
    psfm_status status = PSFM_RESERVE(ctx, &b->set.keypoints, &b->keypoint_capacity, num);
    if (status == PSFM_OK)
        status = psfm_reserve(ctx, &b->set.descriptors_u8, &b->descriptor_capacity, num, 128);
    if (status != PSFM_OK)
        return status;
    b->set.keypoints[b->set.num] =
        (psfm_keypoint){f->x + 0.5F, f->y + 0.5F, f->a11, f->a12, f->a21, f->a22};
    describe(detector, f, b->set.descriptors_u8 + 128 * b->set.num);
    b->set.num = num;
    return PSFM_OK;
}

/* Appends an adapted position in each of its directions. */
static psfm_status append_turned(psfm_context *ctx, VlCovDet *detector,
                                 const VlFrameOrientedEllipse *f, int max_num, builder *b) {
    vl_size num = 0;
    const VlCovDetFeatureOrientation *found =
        vl_covdet_extract_orientations_for_frame(detector, &num, *f);
    psfm_status status = PSFM_OK;
    for (vl_size k = 0; status == PSFM_OK && k < num && k < (vl_size)max_num; ++k) {
        float c = (float)cos(found[k].angle), s = (float)sin(found[k].angle);
        VlFrameOrientedEllipse turned = *f;
        turned.a11 = c * f->a11 + s * f->a12;
        turned.a12 = c * f->a12 - s * f->a11;
        turned.a21 = c * f->a21 + s * f->a22;
        turned.a22 = c * f->a22 - s * f->a21;
        status = append(ctx, detector, &turned, b);
    }
    return status;
}

static psfm_status collect(psfm_context *ctx, VlCovDet *detector, const psfm_sift_options *options,
                           psfm_keypoint_set *out) {
    size_t num = vl_covdet_get_num_features(detector), num_adapted = 0;
    VlCovDetFeature *features = vl_covdet_get_features(detector);
    builder b = {.set.descriptor_size = 128};
    psfm_status status = PSFM_OK;
    if (num > 0)
        qsort(features, num, sizeof *features, by_size);
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        VlFrameOrientedEllipse adapted;
        if (k > 0 && num_adapted >= (size_t)options->max_num_features &&
            level_of(&features[k], options) != level_of(&features[k - 1], options))
            break;
        if (vl_covdet_extract_affine_shape_for_frame(detector, &adapted, features[k].frame) !=
            VL_ERR_OK)
            continue;
        ++num_adapted;
        status = options->upright
                     ? append(ctx, detector, &adapted, &b)
                     : append_turned(ctx, detector, &adapted, options->max_num_orientations, &b);
    }
    if (status != PSFM_OK)
        psfm_keypoint_set_free(&b.set);
    *out = b.set;
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
        status = collect(ctx, detector, options, out);
    }
    vl_covdet_delete(detector);
    return status;
}
#endif

/* A match set from labelled points: the same label in two images is a match. Images are sorted by
 * name and their points by number, so that the common points of two images are one merge of two
 * sorted lists. O(images^2 points). */
#include "frontend/labelled_points.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

static int by_image_and_point(const void *a, const void *b) {
    const psfm_control_view *p = *(const psfm_control_view *const *)a;
    const psfm_control_view *q = *(const psfm_control_view *const *)b;
    int order = strcmp(p->image, q->image);
    return order != 0 ? order : p->point < q->point ? -1 : p->point > q->point;
}

/* The labelled points of all images, each image's by ascending points. */
typedef struct {
    const psfm_control_view **views;
    size_t *begin; /* per image, num_images + 1 */
    size_t num_images;
} label_views;

static psfm_status sort_label_views(psfm_context *ctx, const psfm_control_set *labels,
                                    label_views *out) {
    size_t n = labels->num_views;
    psfm_status status = PSFM_ALLOC(ctx, n, &out->views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n + 1, &out->begin);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < n; ++k)
        out->views[k] = &labels->views[k];
    qsort((void *)out->views, n, sizeof *out->views, by_image_and_point);
    for (size_t k = 0; k < n; ++k) {
        if (k == 0 || strcmp(out->views[k - 1]->image, out->views[k]->image) != 0)
            ++out->num_images;
        out->begin[out->num_images] = k + 1;
    }
    return PSFM_OK;
}

/* The camera of an image: that of an earlier one with the same source, or a new one. `sources` has
 * one text per camera of the set. */
static psfm_status find_camera(psfm_context *ctx, psfm_intrinsics *intrinsics, const char *name,
                               char **sources, psfm_match_set *set, uint32_t *index) {
    psfm_camera camera;
    char *source = NULL;
    psfm_status status = psfm_intrinsics_find(
        ctx, intrinsics, &(psfm_photo_facts){name, 0, 0, 0.0, NULL}, &camera, &source);
    if (status != PSFM_OK)
        return status;
    for (*index = 0; *index < set->num_cameras; ++*index) {
        if (strcmp(sources[*index], source) == 0) {
            free(source);
            return PSFM_OK;
        }
    }
    camera.id = *index + 1;
    sources[*index] = source;
    set->cameras[set->num_cameras++] = camera;
    return PSFM_OK;
}

static psfm_status add_view(psfm_context *ctx, const label_views *s, size_t image, double shift,
                            psfm_match_set *set) {
    psfm_view *view = &set->views[image];
    size_t first = s->begin[image], n = s->begin[image + 1] - first;
    view->id = (uint32_t)image + 1;
    psfm_status status = psfm_strdup(ctx, s->views[first]->image, &view->name);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &view->keypoints);
    if (status != PSFM_OK)
        return status;
    view->num_keypoints = n;
    for (size_t k = 0; k < n; ++k)
        for (int c = 0; c < 2; ++c)
            view->keypoints[k][c] = s->views[first + k]->xy[c] + shift;
    return PSFM_OK;
}

static psfm_status add_views(psfm_context *ctx, const label_views *s, bool opencv_pixels,
                             psfm_intrinsics *intrinsics, psfm_match_set *set) {
    char **sources = NULL;
    size_t n = s->num_images;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &set->views)) ||
        (status = PSFM_ALLOC(ctx, n, &set->cameras)) || (status = PSFM_ALLOC(ctx, n, &sources)))
        return status;
    for (size_t i = 0; status == PSFM_OK && i < n; ++i) {
        set->num_views = i + 1;
        status = add_view(ctx, s, i, opencv_pixels ? 0.5 : 0.0, set);
        if (status == PSFM_OK)
            status = find_camera(ctx, intrinsics, set->views[i].name, sources, set,
                                 &set->views[i].camera_idx);
    }
    for (size_t c = 0; c < set->num_cameras; ++c)
        free(sources[c]);
    free((void *)sources);
    return status;
}

/* Common points of two images; writes them if `matches` is not NULL. */
static size_t match_images(const label_views *s, size_t i, size_t j, uint32_t (*matches)[2]) {
    size_t a = s->begin[i], b = s->begin[j], num = 0;
    while (a < s->begin[i + 1] && b < s->begin[j + 1]) {
        uint32_t p = s->views[a]->point, q = s->views[b]->point;
        if (p == q && matches != NULL) {
            matches[num][0] = (uint32_t)(a - s->begin[i]);
            matches[num][1] = (uint32_t)(b - s->begin[j]);
        }
        num += p == q;
        a += p <= q;
        b += q <= p;
    }
    return num;
}

static psfm_status add_pairs(psfm_context *ctx, const label_views *s, psfm_match_set *set) {
    size_t capacity = 0;
    psfm_status status = PSFM_OK;
    for (size_t i = 0; i < s->num_images; ++i) {
        for (size_t j = i + 1; j < s->num_images; ++j) {
            size_t n = match_images(s, i, j, NULL);
            if (n == 0)
                continue;
            status = PSFM_RESERVE(ctx, &set->pairs, &capacity, set->num_pairs + 1);
            if (status != PSFM_OK)
                return status;
            psfm_match_pair *pair = &set->pairs[set->num_pairs++];
            *pair = (psfm_match_pair){(uint32_t)i, (uint32_t)j, n, NULL};
            status = PSFM_ALLOC(ctx, n, &pair->matches);
            if (status != PSFM_OK)
                return status;
            match_images(s, i, j, pair->matches);
        }
    }
    return PSFM_OK;
}

psfm_status psfm_label_matches(psfm_context *ctx, const psfm_control_set *labels,
                               bool opencv_pixels, psfm_intrinsics *intrinsics,
                               psfm_match_set *set) {
    label_views s = {0};
    *set = (psfm_match_set){0};
    if (intrinsics->kind == PSFM_INTRINSICS_PHOTOGRAPHS)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "the intrinsics are missing: give --cameras MODEL or --camera TEXT");
    psfm_status status = sort_label_views(ctx, labels, &s);
    if (status == PSFM_OK)
        status = add_views(ctx, &s, opencv_pixels, intrinsics, set);
    if (status == PSFM_OK)
        status = add_pairs(ctx, &s, set);
    if (status != PSFM_OK)
        psfm_match_set_free(set);
    free((void *)s.views);
    free(s.begin);
    return status;
}

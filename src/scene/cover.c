/* Points that together cover the images: a greedy choice over squares, longest tracks first,
 * sorted by counting. O(observations). */
#include "scene/cover.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

/* One image's squares. */
typedef struct {
    double side; /* pixels */
    size_t columns, rows;
    bool *taken;
} squares;

static psfm_status make_squares(psfm_context *ctx, const psfm_camera *camera, size_t per_image,
                                squares *out) {
    double area = (double)camera->width * (double)camera->height;
    out->side = fmax(sqrt(area / (double)per_image), 1.0);
    out->columns = (size_t)ceil((double)camera->width / out->side);
    out->rows = (size_t)ceil((double)camera->height / out->side);
    return PSFM_ALLOC(ctx, out->columns * out->rows, &out->taken);
}

/* The square of a pixel; those outside the image belong to its rim. */
static bool *find_square(const squares *s, const double xy[2]) {
    double column = fmin(fmax(floor(xy[0] / s->side), 0.0), (double)(s->columns - 1));
    double row = fmin(fmax(floor(xy[1] / s->side), 0.0), (double)(s->rows - 1));
    return &s->taken[(size_t)row * s->columns + (size_t)column];
}

static size_t track_length(const psfm_tracks *t, size_t track) {
    return t->begin[track + 1] - t->begin[track];
}

/* Tracks by length, longest first, in their order among equals; a counting sort. */
static psfm_status sort_by_length(psfm_context *ctx, const psfm_tracks *t, size_t *order) {
    size_t longest = 0, *begin = NULL;
    for (size_t p = 0; p < t->num_tracks; ++p)
        if (track_length(t, p) > longest)
            longest = track_length(t, p);
    psfm_status status = PSFM_ALLOC(ctx, longest + 2, &begin);
    if (status != PSFM_OK)
        return status;
    for (size_t p = 0; p < t->num_tracks; ++p)
        ++begin[longest - track_length(t, p) + 1];
    for (size_t k = 0; k <= longest; ++k)
        begin[k + 1] += begin[k];
    for (size_t p = 0; p < t->num_tracks; ++p)
        order[begin[longest - track_length(t, p)]++] = p;
    free(begin);
    return PSFM_OK;
}

/* Takes the squares of a point if at least half of them are free. */
static bool choose(const psfm_match_set *set, const psfm_tracks *t, size_t point,
                   const squares *views) {
    size_t num_free = 0, first = t->begin[point], last = t->begin[point + 1];
    for (size_t k = first; k < last; ++k)
        num_free +=
            !*find_square(&views[t->view[k]], set->views[t->view[k]].keypoints[t->keypoint[k]]);
    if (2 * num_free < last - first)
        return false;
    for (size_t k = first; k < last; ++k)
        *find_square(&views[t->view[k]], set->views[t->view[k]].keypoints[t->keypoint[k]]) = true;
    return true;
}

psfm_status psfm_points_cover(psfm_context *ctx, const psfm_match_set *set,
                              const psfm_structure *structure, size_t per_image, bool *chosen) {
    squares *views = NULL;
    size_t *order = NULL;
    const psfm_tracks *t = &structure->tracks;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &views);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, structure->num_points, &order);
    for (size_t v = 0; status == PSFM_OK && v < set->num_views; ++v)
        status = make_squares(ctx, &set->cameras[set->views[v].camera_idx], per_image, &views[v]);
    if (status == PSFM_OK && structure->num_points > 0)
        status = sort_by_length(ctx, t, order);
    for (size_t k = 0; status == PSFM_OK && k < structure->num_points; ++k)
        chosen[order[k]] = choose(set, t, order[k], views);
    for (size_t v = 0; views != NULL && v < set->num_views; ++v)
        free(views[v].taken);
    free(views);
    free(order);
    return status;
}

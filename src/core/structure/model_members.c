/* Points and planes get their component from the images that see them. A point seen by two
 * components is copied into each that has two observations of it, because each has a gauge of its
 * own and will be moved by itself; likewise a plane, with the outline of the points that are its
 * own there. */
#include "core/structure/model_members.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

/* Images that must see a point, and points that must span a plane. */
enum { MIN_IMAGES = 2, MIN_CORNERS = 3 };

/* Number of observations of point p by images of component c. */
static size_t count_seen(const psfm_poses *poses, const psfm_tracks *tracks, size_t p, uint32_t c) {
    size_t num = 0;
    for (size_t e = tracks->begin[p]; e < tracks->begin[p + 1]; ++e)
        num += poses->component[tracks->view[e]] == c;
    return num;
}

/* Whether element e of point p is the first of its component, and the point one of it. */
static bool begins_point(const psfm_poses *poses, const psfm_tracks *tracks, size_t p, size_t e) {
    uint32_t own = poses->component[tracks->view[e]];
    if (own == PSFM_NO_COMPONENT)
        return false;
    for (size_t k = tracks->begin[p]; k < e; ++k)
        if (poses->component[tracks->view[k]] == own)
            return false;
    return count_seen(poses, tracks, p, own) >= MIN_IMAGES;
}

static psfm_status alloc_structure(psfm_context *ctx, size_t num_points, size_t num_elements,
                                   psfm_structure *s) {
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num_points, &s->points)) ||
        (status = PSFM_ALLOC(ctx, num_points, &s->component)) ||
        (status = PSFM_ALLOC(ctx, num_points, &s->source)) ||
        (status = PSFM_ALLOC(ctx, num_points, &s->error_px)) ||
        (status = PSFM_ALLOC(ctx, num_points, &s->angle_deg)) ||
        (status = PSFM_ALLOC(ctx, num_points + 1, &s->tracks.begin)) ||
        (status = PSFM_ALLOC(ctx, num_elements, &s->tracks.view)) ||
        (status = PSFM_ALLOC(ctx, num_elements, &s->tracks.keypoint)))
        return status;
    return PSFM_OK;
}

/* Appends the part of point p that component c sees. */
static void add_point(const psfm_poses *poses, const psfm_structure *from, size_t p, uint32_t c,
                      psfm_structure *to) {
    size_t n = to->num_points++, end = to->tracks.begin[n];
    for (size_t e = from->tracks.begin[p]; e < from->tracks.begin[p + 1]; ++e) {
        if (poses->component[from->tracks.view[e]] != c)
            continue;
        to->tracks.view[end] = from->tracks.view[e];
        to->tracks.keypoint[end++] = from->tracks.keypoint[e];
    }
    memcpy(to->points[n], from->points[p], sizeof to->points[n]);
    to->component[n] = c;
    to->source[n] = from->source[p];
    to->error_px[n] = from->error_px[p];
    to->angle_deg[n] = from->angle_deg[p];
    to->tracks.begin[n + 1] = end;
    to->tracks.num_tracks = to->num_points;
}

/* The points of each component; *point_plane goes along with them. */
static psfm_status assign_points(psfm_context *ctx, const psfm_poses *poses, psfm_structure *st,
                                 int32_t **point_plane) {
    psfm_structure made = {0};
    const psfm_tracks *tracks = &st->tracks;
    int32_t *plane = NULL;
    size_t num_points = 0, num_elements = st->num_points > 0 ? tracks->begin[st->num_points] : 0;
    for (size_t p = 0; p < st->num_points; ++p)
        for (size_t e = tracks->begin[p]; e < tracks->begin[p + 1]; ++e)
            num_points += begins_point(poses, tracks, p, e);
    psfm_status status = alloc_structure(ctx, num_points, num_elements, &made);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, num_points, &plane);
    if (status != PSFM_OK) {
        psfm_structure_free(&made);
        return status;
    }
    for (size_t p = 0; p < st->num_points; ++p) {
        for (size_t e = tracks->begin[p]; e < tracks->begin[p + 1]; ++e) {
            if (!begins_point(poses, tracks, p, e))
                continue;
            plane[made.num_points] = *point_plane == NULL ? -1 : (*point_plane)[p];
            add_point(poses, st, p, poses->component[tracks->view[e]], &made);
        }
    }
    psfm_structure_free(st);
    free(*point_plane);
    *st = made;
    *point_plane = plane;
    return PSFM_OK;
}

/* A point on a plane. */
typedef struct {
    int32_t plane;
    uint32_t component, point;
} membership;

static int by_plane(const void *a, const void *b) {
    const membership *p = a, *q = b;
    if (p->plane != q->plane)
        return p->plane < q->plane ? -1 : 1;
    if (p->component != q->component)
        return p->component < q->component ? -1 : 1;
    return p->point < q->point ? -1 : p->point > q->point;
}

/* Lists the points on planes, by plane and component. *list is malloc'ed. */
static psfm_status list_members(psfm_context *ctx, const psfm_structure *st,
                                const int32_t *point_plane, membership **list, size_t *num) {
    psfm_status status = PSFM_ALLOC(ctx, st->num_points, list);
    *num = 0;
    for (size_t p = 0; status == PSFM_OK && p < st->num_points; ++p)
        if (point_plane[p] >= 0)
            (*list)[(*num)++] = (membership){point_plane[p], st->component[p], (uint32_t)p};
    if (status == PSFM_OK)
        qsort(*list, *num, sizeof **list, by_plane);
    return status;
}

/* Appends a copy of `from` for the `num` points of one component. */
static psfm_status copy_plane(psfm_context *ctx, const psfm_structure *st,
                              const psfm_scene_plane *from, const membership *members, size_t num,
                              psfm_scene_plane *to) {
    uint32_t *point = NULL;
    psfm_status status = PSFM_ALLOC(ctx, num, &point);
    *to = *from;
    to->polygon = NULL;
    to->component = members[0].component;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        point[k] = members[k].point;
    if (status == PSFM_OK)
        status = psfm_scene_plane_outline(ctx, (const double(*)[3])st->points, point, num, to);
    free(point);
    return status;
}

static size_t end_of_run(const membership *m, size_t first, size_t num, bool same_component) {
    size_t k = first;
    while (k < num && m[k].plane == m[first].plane &&
           (!same_component || m[k].component == m[first].component))
        ++k;
    return k;
}

/* The planes of `from` whose points are m[first .. last): the plane itself if they are of one
 * component, else a copy for each component. */
static psfm_status assign_plane(psfm_context *ctx, const psfm_structure *st, psfm_scene_plane *from,
                                const membership *m, size_t num, psfm_scene_planes *out) {
    psfm_status status = PSFM_OK;
    bool whole = m[0].component == m[num - 1].component;
    for (size_t k = 0, next; status == PSFM_OK && k < num; k = next) {
        next = end_of_run(m, k, num, true);
        bool is_plane = whole || next - k >= MIN_CORNERS;
        for (size_t i = k; i < next; ++i)
            out->point_plane[m[i].point] = is_plane ? (int32_t)out->num_planes : -1;
        if (!is_plane)
            continue;
        psfm_scene_plane *to = &out->planes[out->num_planes++];
        if (whole) {
            *to = *from;
            to->component = m[0].component;
            from->polygon = NULL; /* has moved */
        } else {
            status = copy_plane(ctx, st, from, m + k, next - k, to);
        }
    }
    return status;
}

static psfm_status assign_planes(psfm_context *ctx, const psfm_structure *st,
                                 psfm_scene_planes *planes) {
    membership *m = NULL;
    size_t num = 0;
    psfm_scene_planes made = {0};
    psfm_status status = list_members(ctx, st, planes->point_plane, &m, &num);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, st->num_points, &made.point_plane);
    if (status == PSFM_OK) /* each has a member of its own, so there are not more */
        status = PSFM_ALLOC(ctx, num, &made.planes);
    if (status != PSFM_OK)
        goto cleanup;
    for (size_t p = 0; p < st->num_points; ++p)
        made.point_plane[p] = -1;
    for (size_t k = 0, next; status == PSFM_OK && k < num; k = next) {
        next = end_of_run(m, k, num, false);
        status = assign_plane(ctx, st, &planes->planes[m[k].plane], m + k, next - k, &made);
    }
    if (status == PSFM_OK)
        status = psfm_scene_planes_sort(ctx, st->num_points, &made);
    psfm_scene_planes_free(planes);
    *planes = made;
    made = (psfm_scene_planes){0};

cleanup:
    psfm_scene_planes_free(&made);
    free(m);
    return status;
}

psfm_status psfm_members_assign(psfm_context *ctx, const psfm_poses *poses,
                                psfm_structure *structure, psfm_scene_planes *planes) {
    psfm_status status = assign_points(ctx, poses, structure, &planes->point_plane);
    return status == PSFM_OK ? assign_planes(ctx, structure, planes) : status;
}

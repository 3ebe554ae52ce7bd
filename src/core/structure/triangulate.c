/* Triangulation of all tracks in parallel; see triangulate_point.c for the geometry of one. With
 * `reuse` a track is searched again for a point among the rest, because a wrong match may have
 * chained two points. */
#include "core/structure/triangulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/rng.h"
#include "core/linalg/mat3.h"
#include "core/structure/triangulate_point.h"

static const psfm_option rows[] = {
    PSFM_OPTION_DOUBLE(psfm_triangulate_options, max_error_px, "max-error-px", 4.0, 0.01, 1000.0,
                       "largest reprojection error of an observation, in pixels"),
    PSFM_OPTION_DOUBLE(psfm_triangulate_options, min_angle_deg, "min-angle-deg", 1.0, 0.0, 90.0,
                       "smallest angle at a point between its most different rays"),
};
const psfm_option_table psfm_triangulate_option_table = PSFM_OPTION_TABLE("triangulate", rows);

#define TRACKS_PER_TASK 256
#define MAX_POINTS_PER_TRACK 3
#define MIN_REUSED 3 /* observations of a second point: two rays meet by chance too often */

typedef struct {
    const psfm_match_set *set;
    const psfm_tracks *tracks;
    const psfm_poses *poses;
    const psfm_triangulate_options *options;
    uint64_t seed;
    psfm_ray_observation **scratch; /* per worker: longest track */
    /* Results: which point of its track an element belongs to (1, 2, ..., 0 for none, 255 if it
     * has no pose or ray), and per track the points. */
    uint8_t *label;
    uint8_t *num_points, *outcome;
    uint32_t *component; /* per track */
    psfm_triangulated_point (*points)[MAX_POINTS_PER_TRACK];
} triangulation;

void psfm_structure_free(psfm_structure *structure) {
    free(structure->points);
    free(structure->component);
    free(structure->source);
    free(structure->error_px);
    free(structure->angle_deg);
    psfm_tracks_free(&structure->tracks);
    *structure = (psfm_structure){0};
}

/* The component that most images of a track belong to, the lowest of equals. Quadratic in the
 * components of a track, which are one but for wrong matches. */
static uint32_t component_of_track(const psfm_tracks *tracks, const uint32_t *component, size_t t) {
    uint32_t best = PSFM_NO_COMPONENT;
    size_t most = 0;
    for (size_t e = tracks->begin[t]; e < tracks->begin[t + 1]; ++e) {
        uint32_t own = component[tracks->view[e]];
        size_t count = 0;
        if (own == best || own == PSFM_NO_COMPONENT)
            continue;
        for (size_t k = tracks->begin[t]; k < tracks->begin[t + 1]; ++k)
            count += component[tracks->view[k]] == own;
        if (count > most || (count == most && own < best)) {
            most = count;
            best = own;
        }
    }
    return best;
}

/* Collects the observations of a track that have a ray and a pose in the track's component. */
static size_t collect_observations(const triangulation *tri, size_t track,
                                   psfm_ray_observation *s) {
    size_t num = 0;
    uint32_t component = component_of_track(tri->tracks, tri->poses->component, track);
    tri->component[track] = component;
    for (size_t e = tri->tracks->begin[track]; e < tri->tracks->begin[track + 1]; ++e) {
        uint32_t v = tri->tracks->view[e], k = tri->tracks->keypoint[e];
        const psfm_view *view = &tri->set->views[v];
        bool has_ray = psfm_dot3(view->rays[k], view->rays[k]) > 0.0;
        tri->label[e] = 255;
        if (!psfm_has_pose(tri->poses, v) || tri->poses->component[v] != component || !has_ray)
            continue;
        tri->label[e] = 0;
        s[num] = (psfm_ray_observation){.element = e,
                                        .camera = &tri->set->cameras[view->camera_idx],
                                        .R = tri->poses->cam_from_world[v],
                                        .c = tri->poses->center[v],
                                        .ray = view->rays[k],
                                        .px_from_ray = view->px_from_ray[k],
                                        .xy = view->keypoints[k]};
        psfm_mat3_tmul_vec(s[num].R, s[num].ray, s[num].direction);
        ++num;
    }
    return num;
}

static void triangulate_track(const triangulation *tri, size_t track, psfm_ray_observation *s) {
    size_t num = collect_observations(tri, track, s), min_length = 2;
    uint8_t found = 0;
    psfm_rng rng = psfm_rng_make(tri->seed, PSFM_RNG_TRIANGULATE, track, 0);
    psfm_point_outcome first = PSFM_POINT_FEW;
    for (int k = 0; k < MAX_POINTS_PER_TRACK; ++k) {
        psfm_point_outcome result =
            psfm_triangulate_point(s, num, min_length, tri->options->max_error_px,
                                   tri->options->min_angle_deg, &rng, &tri->points[track][found]);
        first = k == 0 ? result : first;
        if (result != PSFM_POINT_FOUND)
            break;
        ++found;
        for (size_t m = 0; m < num; ++m) {
            if (!s[m].inlier)
                continue;
            s[m].used = true;
            tri->label[s[m].element] = found;
        }
        min_length = MIN_REUSED;
    }
    tri->num_points[track] = found;
    tri->outcome[track] = (uint8_t)first;
}

static psfm_status triangulate_tracks(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    const triangulation *tri = user;
    size_t first = index * TRACKS_PER_TASK, last = first + TRACKS_PER_TASK;
    last = last < tri->tracks->num_tracks ? last : tri->tracks->num_tracks;
    for (size_t t = first; t < last; ++t)
        triangulate_track(tri, t, tri->scratch[worker]);
    return PSFM_OK;
}

static psfm_status alloc_triangulation(psfm_context *ctx, triangulation *tri, int num_workers) {
    const psfm_tracks *tracks = tri->tracks;
    size_t longest = 1, num_tracks = tracks->num_tracks;
    for (size_t t = 0; t < num_tracks; ++t) {
        size_t length = tracks->begin[t + 1] - tracks->begin[t];
        longest = length > longest ? length : longest;
    }
    size_t num_elements = num_tracks == 0 ? 0 : tracks->begin[num_tracks];
    psfm_status status;
    if ((status = psfm_alloc(ctx, (size_t)num_workers, sizeof(psfm_ray_observation *),
                             &tri->scratch)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_elements, &tri->label)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_tracks, &tri->num_points)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_tracks, &tri->outcome)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_tracks, &tri->component)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_tracks, &tri->points)) != PSFM_OK)
        return status;
    for (int w = 0; status == PSFM_OK && w < num_workers; ++w)
        status = PSFM_ALLOC(ctx, longest, &tri->scratch[w]);
    return status;
}

static void free_triangulation(triangulation *tri, int num_workers) {
    for (int w = 0; tri->scratch != NULL && w < num_workers; ++w)
        free(tri->scratch[w]);
    free(tri->scratch);
    free(tri->label);
    free(tri->num_points);
    free(tri->outcome);
    free(tri->component);
    free(tri->points);
}

static void count_outcomes(const triangulation *tri, psfm_triangulate_stats *stats) {
    for (size_t t = 0; t < tri->tracks->num_tracks; ++t) {
        stats->num_points += tri->num_points[t];
        stats->num_few += tri->outcome[t] == PSFM_POINT_FEW;
        stats->num_no_agreement += tri->outcome[t] == PSFM_POINT_NO_AGREEMENT;
        stats->num_small_angle += tri->outcome[t] == PSFM_POINT_SMALL_ANGLE;
        for (size_t e = tri->tracks->begin[t]; e < tri->tracks->begin[t + 1]; ++e) {
            stats->num_unposed += tri->label[e] == 255;
            stats->num_dropped += tri->label[e] == 0;
            stats->num_observations += tri->label[e] > 0 && tri->label[e] < 255;
        }
    }
}

static psfm_status alloc_structure(psfm_context *ctx, const psfm_triangulate_stats *stats,
                                   psfm_structure *s) {
    size_t num_points = stats->num_points, num_obs = stats->num_observations;
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, num_points, &s->points)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points, &s->component)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points, &s->source)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points, &s->error_px)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points, &s->angle_deg)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_points + 1, &s->tracks.begin)) != PSFM_OK ||
        (status = PSFM_ALLOC(ctx, num_obs, &s->tracks.view)) != PSFM_OK)
        return status;
    return PSFM_ALLOC(ctx, num_obs, &s->tracks.keypoint);
}

/* Appends the points of all tracks with their observations. */
static void emit_points(const triangulation *tri, psfm_structure *s) {
    size_t to = 0;
    for (size_t t = 0; t < tri->tracks->num_tracks; ++t) {
        for (uint8_t k = 0; k < tri->num_points[t]; ++k) {
            const psfm_triangulated_point *p = &tri->points[t][k];
            size_t n = s->num_points++;
            for (size_t e = tri->tracks->begin[t]; e < tri->tracks->begin[t + 1]; ++e) {
                if (tri->label[e] != k + 1)
                    continue;
                s->tracks.view[to] = tri->tracks->view[e];
                s->tracks.keypoint[to++] = tri->tracks->keypoint[e];
            }
            memcpy(s->points[n], p->X, sizeof p->X);
            s->component[n] = tri->component[t];
            s->source[n] = (uint32_t)t;
            s->error_px[n] = p->error_px;
            s->angle_deg[n] = p->angle_deg;
            s->tracks.begin[n + 1] = to;
        }
    }
    s->tracks.num_tracks = s->num_points;
}

/* A track without elements is fine; one that points nowhere is not. */
static psfm_status check_tracks(psfm_context *ctx, const psfm_match_set *set,
                                const psfm_tracks *tracks) {
    size_t num = tracks->num_tracks == 0 ? 0 : tracks->begin[tracks->num_tracks];
    for (size_t e = 0; e < num; ++e)
        if (tracks->view[e] >= set->num_views ||
            tracks->keypoint[e] >= set->views[tracks->view[e]].num_keypoints)
            return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "track element %zu: keypoint %u of view %u", e,
                             tracks->keypoint[e], tracks->view[e]);
    return tracks->num_tracks < UINT32_MAX
               ? PSFM_OK
               : psfm_fail(ctx, PSFM_ERR_ARGUMENT, "%zu tracks are too many", tracks->num_tracks);
}

psfm_status psfm_triangulate(psfm_context *ctx, const psfm_match_set *set,
                             const psfm_tracks *tracks, const psfm_poses *poses,
                             const psfm_triangulate_options *options, psfm_structure *structure,
                             psfm_triangulate_stats *stats) {
    psfm_triangulate_options defaults;
    psfm_triangulate_stats found = {0};
    *structure = (psfm_structure){0};
    psfm_options_init(&psfm_triangulate_option_table, &defaults);
    triangulation tri = {.set = set,
                         .tracks = tracks,
                         .poses = poses,
                         .options = options == NULL ? &defaults : options,
                         .seed = psfm_context_seed(ctx)};
    size_t num_tasks = (tracks->num_tracks + TRACKS_PER_TASK - 1) / TRACKS_PER_TASK;
    int num_workers = psfm_parallel_workers(ctx, num_tasks);
    psfm_status status = psfm_options_check(ctx, &psfm_triangulate_option_table, tri.options);
    if (status == PSFM_OK)
        status = check_tracks(ctx, set, tracks);
    if (status == PSFM_OK)
        status = alloc_triangulation(ctx, &tri, num_workers);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, NULL, num_tasks, triangulate_tracks, &tri);
    if (status != PSFM_OK)
        goto cleanup;
    count_outcomes(&tri, &found);
    if ((status = alloc_structure(ctx, &found, structure)) != PSFM_OK)
        goto cleanup;
    emit_points(&tri, structure);
    for (size_t k = 0; k < structure->num_points; ++k)
        found.mean_error_px += structure->error_px[k] * (double)(structure->tracks.begin[k + 1] -
                                                                 structure->tracks.begin[k]);
    found.mean_error_px /= fmax((double)found.num_observations, 1.0);
    if (stats != NULL)
        *stats = found;

cleanup:
    free_triangulation(&tri, num_workers);
    if (status != PSFM_OK)
        psfm_structure_free(structure);
    return status;
}

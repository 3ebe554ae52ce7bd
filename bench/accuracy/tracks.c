/* What becomes of wrong matches: tracks and points from synthetic scenes whose matches hold a share
 * of wrong ones, without any geometric check before, for the ways to resolve conflicts. Poses are
 * the true ones.
 *   pure     share of the tracks that show one point only
 *   right    share of the track elements that belong to the point that most of the track shows
 *   found    share of all true observations that are in the largest track of their point
 *   points   points triangulated, per point of the scene
 *   near     share of these that are within 0.2 m of the point most of their observations show
 *   obs      share of all true observations that belong to such a point */
#include <math.h>

#include "../bundle_start.h"
#include "core/base/timer.h"
#include "core/structure/triangulate.h"

typedef struct {
    double pure, right, found;
} quality;

/* Index of the true point of a keypoint; ids are 1, 2, ... in order. */
static int64_t point_of(const psfm_scene *scene, uint32_t view, uint32_t keypoint) {
    uint64_t id = scene->truth.images[view].point3D_ids[keypoint];
    if (id == PSFM_NO_POINT)
        return -1;
    size_t low = 0, high = scene->truth.num_points;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (scene->truth.points[middle].id <= id)
            low = middle;
        else
            high = middle;
    }
    return (int64_t)low;
}

/* The point that most elements of a track show, and how many do. */
static int64_t majority(const psfm_scene *scene, const psfm_tracks *tracks, size_t t,
                        size_t *count) {
    int64_t best = -1;
    *count = 0;
    for (size_t a = tracks->begin[t]; a < tracks->begin[t + 1]; ++a) {
        size_t same = 0;
        int64_t point = point_of(scene, tracks->view[a], tracks->keypoint[a]);
        for (size_t b = tracks->begin[t]; b < tracks->begin[t + 1]; ++b)
            same += point_of(scene, tracks->view[b], tracks->keypoint[b]) == point;
        if (point >= 0 && same > *count) {
            best = point;
            *count = same;
        }
    }
    return best;
}

static double num_true(const psfm_scene *scene) {
    double sum = 0.0;
    for (size_t k = 0; k < scene->truth.num_points; ++k)
        if (scene->truth.points[k].track_length >= 2)
            sum += (double)scene->truth.points[k].track_length;
    return sum;
}

static quality judge(psfm_context *ctx, const psfm_scene *scene, const psfm_tracks *tracks) {
    size_t *largest = bench_alloc(ctx, scene->truth.num_points, sizeof *largest);
    quality q = {0};
    double elements = 0.0;
    for (size_t t = 0; t < tracks->num_tracks; ++t) {
        size_t count, length = tracks->begin[t + 1] - tracks->begin[t];
        int64_t point = majority(scene, tracks, t, &count);
        q.pure += count == length;
        q.right += (double)count;
        elements += (double)length;
        if (point >= 0 && count >= 2 && count > largest[point])
            largest[point] = count;
    }
    for (size_t k = 0; k < scene->truth.num_points; ++k)
        q.found += (double)largest[k];
    q.pure /= fmax((double)tracks->num_tracks, 1.0);
    q.right /= fmax(elements, 1.0);
    q.found /= num_true(scene);
    free(largest);
    return q;
}

static void judge_points(const psfm_scene *scene, const psfm_structure *structure, double *near,
                         double *observations) {
    *near = *observations = 0.0;
    for (size_t k = 0; k < structure->num_points; ++k) {
        size_t count;
        int64_t point = majority(scene, &structure->tracks, k, &count);
        double D[3];
        if (point < 0)
            continue;
        psfm_sub3(structure->points[k], scene->truth.points[point].xyz, D);
        if (psfm_norm3(D) < 0.2) {
            *near += 1.0;
            *observations += (double)count;
        }
    }
    *near /= fmax((double)structure->num_points, 1.0);
    *observations /= num_true(scene);
}

static void run(psfm_context *ctx, psfm_scene_kind kind, int neighbours, double outliers,
                double miss) {
    psfm_scene_options options;
    psfm_triangulate_options triangulate_options;
    psfm_options_init(&psfm_scene_option_table, &options);
    psfm_options_init(&psfm_triangulate_option_table, &triangulate_options);
    options.num_cameras = 46;
    options.noise_px = 0.7;
    options.outliers = outliers;
    options.miss = miss;
    options.neighbours = neighbours;
    static bundle_start s;
    psfm_tracks tracks;
    psfm_track_stats stats;
    psfm_structure structure;
    bundle_start_make(ctx, kind, 1, &options, &s);
    uint32_t *component = bench_alloc(ctx, s.scene.matches.num_views, sizeof *component);

    double start = psfm_now();
    bench_check(ctx, psfm_tracks_build(ctx, &s.scene.matches, NULL, &tracks, &stats));
    double track_seconds = psfm_now() - start;
    psfm_poses poses = {(uint32_t)s.scene.matches.num_views, s.R, s.c, component};
    start = psfm_now();
    bench_check(ctx, psfm_triangulate(ctx, &s.scene.matches, &tracks, &poses, &triangulate_options,
                                      &structure, NULL));
    double seconds = psfm_now() - start, near, observations;
    quality q = judge(ctx, &s.scene, &tracks);
    judge_points(&s.scene, &structure, &near, &observations);
    printf("%-8s %d %4.0f%% %4.0f%% %7zu %6zu %6.3f %6.3f %6.3f | %6.2f %6.3f %6.3f | %7.4f "
           "%7.4f\n",
           psfm_scene_kind_name(kind), neighbours, 100 * outliers, 100 * miss, stats.num_matches,
           tracks.num_tracks, q.pure, q.right, q.found,
           (double)structure.num_points / (double)s.scene.truth.num_points, near, observations,
           track_seconds, seconds);
    fflush(stdout);
    psfm_tracks_free(&tracks);
    psfm_structure_free(&structure);
    free(component);
    bundle_start_free(&s);
}

int main(void) {
    static const psfm_scene_kind kinds[] = {PSFM_SCENE_ARENA, PSFM_SCENE_FIELD};
    static const double outliers[] = {0.0, 0.05, 0.2, 0.4, 0.6};
    psfm_context *ctx = psfm_context_create();
    printf("%-8s %s %5s %5s %7s %6s %6s %6s %6s | %6s %6s %6s | %7s %7s\n", "scene", "k", "wrong",
           "miss", "matches", "tracks", "pure", "right", "found", "points", "near", "obs",
           "track s", "triang s");
    for (int k = 0; k < 2; ++k)
        for (int neighbours = 1; neighbours <= 4; neighbours *= 2)
            for (int o = 0; o < 5; ++o)
                run(ctx, kinds[k], neighbours, outliers[o], 0.2);
    psfm_context_destroy(&ctx);
    return 0;
}

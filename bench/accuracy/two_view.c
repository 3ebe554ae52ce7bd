/* Accuracy and time of the two-view layer on synthetic pairs.
 *
 *   bench_two_view [pairs per row, default 300]
 *
 * One plane: 500 matches, 1 px noise in both images, 4 px bound, cameras of 1024 x 768 pixels,
 * plane and second camera at random; AUC of the larger of rotation and translation error of the
 * better motion. "fit" is a least-squares fit to the true inliers, the best that can be expected.
 * Times are processor time of one thread, the least of three runs, and in units of "pass", the time
 * to evaluate the error of all matches once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../tests/two_view_scene.h"
#include "core/linalg/angle.h"
#include "core/twoview/homography.h"
#include "core/twoview/homography_decompose.h"
#include "core/twoview/two_view.h"
#include "planarsfm/camera.h"

#define REPEATS 3

typedef struct {
    const char *name;
    scene_options options;
} bench_row;

typedef struct {
    int num;
    double auc[3], fit_auc[3], essential_auc[3]; /* at 1, 5, 10 degrees */
    double planes, complete, wrong, missed, single, rotation, none, determined;
    double time_H, time_all, time_pass; /* seconds */
} result;

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool project(const void *camera, const double ray[3], double xy[2], double jacobian[6]) {
    return psfm_camera_project_jacobian(camera, ray, xy, jacobian);
}

static bool unproject(const void *camera, const double xy[2], double ray[3]) {
    return psfm_camera_unproject(camera, xy, ray);
}

static void add_auc(double error_deg, double auc[3]) {
    static const double thresholds[3] = {1.0, 5.0, 10.0};
    for (int k = 0; k < 3; ++k)
        auc[k] += fmax(0.0, 1.0 - error_deg / thresholds[k]);
}

/* Degrees; of the rotation alone where there is no translation. */
static double motion_error(const scene *s, const double R[9], const double t[3]) {
    double direction = psfm_norm3(s->t_21) > 0.0 ? psfm_angle3(t, s->t_21) : 0.0;
    return psfm_degrees(fmax(psfm_rotation_angle(R, s->R_21), direction));
}

static double best_motion_error(const scene *s, const psfm_plane_motion *motions, int num) {
    double best = 180.0;
    for (int k = 0; k < num; ++k)
        best = fmin(best, motion_error(s, motions[k].R_21, motions[k].t_21));
    return best;
}

/* Error of the homography fitted to the true matches of the first plane; adds the time of a pass.
 */
static double fit_error(const scene *s, double *time_pass) {
    psfm_ray_pairs pairs, own;
    psfm_plane_motion motions[2];
    size_t num = 0;
    double H[9], error = 180.0;
    double *squared = malloc((s->c.num + PSFM_LANES) * sizeof *squared);
    uint32_t *idx = malloc((s->c.num + 1) * sizeof *idx);
    if (psfm_ray_pairs_init(NULL, &s->c, NULL, &pairs) != PSFM_OK)
        exit(1);
    for (uint32_t i = 0; i < pairs.num; ++i)
        if (s->plane[pairs.row[i]] == 0)
            idx[num++] = i;
    if (psfm_ray_pairs_select(NULL, &pairs, idx, num, &own) != PSFM_OK)
        exit(1);
    double least = INFINITY;
    for (int k = 0; k < REPEATS; ++k) {
        double start = cpu_time();
        psfm_homography_errors(&pairs, s->num_planes > 0 ? s->H_21[0] : s->R_21, squared);
        least = fmin(least, cpu_time() - start);
    }
    *time_pass += least;
    if (psfm_homography_fit(&own, own.num_blocks, H)) {
        psfm_homography_refine(&own, own.num_blocks, (psfm_loss){1e6, 0.0}, 50, H);
        int num_motions = psfm_homography_normalize(H) ? psfm_homography_decompose(H, motions) : 0;
        error = best_motion_error(s, motions, num_motions);
        /* the sign of t is free here: the better one counts */
        for (int k = 0; k < num_motions; ++k)
            psfm_scale3(-1.0, motions[k].t_21, motions[k].t_21);
        error = fmin(error, best_motion_error(s, motions, num_motions));
    }
    psfm_ray_pairs_free(&pairs);
    psfm_ray_pairs_free(&own);
    free(squared);
    free(idx);
    return error;
}

/* Shares of the planes' matches that are on the wrong plane, and on none. */
static void count_assignments(const scene *s, const psfm_two_view *view, result *r) {
    int *found = malloc((s->c.num + 1) * sizeof *found);
    size_t table[100][SCENE_MAX_PLANES] = {{0}}, total = 0, wrong = 0, missed = 0;
    for (size_t i = 0; i < s->c.num; ++i)
        found[i] = -1;
    for (size_t h = 0; h < view->num_homographies; ++h)
        for (size_t k = 0; k < view->homographies[h].num_inliers; ++k)
            found[view->homographies[h].inliers[k]] = (int)h;
    for (size_t i = 0; i < s->c.num; ++i)
        if (s->plane[i] >= 0 && found[i] >= 0)
            ++table[found[i]][s->plane[i]];
    for (size_t i = 0; i < s->c.num; ++i) {
        if (s->plane[i] < 0)
            continue;
        ++total;
        missed += found[i] < 0;
        for (int p = 0; found[i] >= 0 && p < s->num_planes; ++p) {
            if (table[found[i]][p] > table[found[i]][s->plane[i]]) {
                ++wrong;
                break;
            }
        }
    }
    if (total > 0) {
        r->wrong += (double)wrong / (double)total;
        r->missed += (double)missed / (double)total;
    }
    free(found);
}

/* Estimates with and without the essential matrix, and keeps the least times. */
static psfm_two_view estimate(psfm_context *ctx, const scene *s, uint64_t seed, result *r) {
    psfm_two_view_options options;
    psfm_two_view view;
    double least[2] = {INFINITY, INFINITY};
    const psfm_image_pair images = {{{s->size[0], s->size[1]}, {s->size[0], s->size[1]}},
                                    {seed, 0}};
    psfm_options_init(&psfm_two_view_option_table, &options);
    for (int k = 0; k < 2 * REPEATS; ++k) {
        options.estimate_essential = k % 2 == 1;
        double start = cpu_time();
        if (psfm_two_view_estimate(ctx, &s->c, &images, &options, &view) != PSFM_OK) {
            fprintf(stderr, "%s\n", psfm_context_message(ctx));
            exit(1);
        }
        least[k % 2] = fmin(least[k % 2], cpu_time() - start);
        if (k + 1 < 2 * REPEATS)
            psfm_two_view_free(&view);
    }
    r->time_H += least[0];
    r->time_all += least[1];
    return view;
}

static void run_pair(psfm_context *ctx, const bench_row *row, uint64_t seed, result *r) {
    scene s = scene_make(&row->options, seed);
    psfm_two_view view = estimate(ctx, &s, seed, r);
    double error = 180.0;
    if (view.num_homographies > 0) {
        const psfm_homography *h = &view.homographies[0];
        error = best_motion_error(&s, h->motions, h->num_motions);
        r->single += h->num_motions == 1;
    }
    add_auc(error, r->auc);
    add_auc(fit_error(&s, &r->time_pass), r->fit_auc);
    add_auc(view.essential.found ? motion_error(&s, view.essential.R_21, view.essential.t_21)
                                 : 180.0,
            r->essential_auc);
    r->planes += (double)view.num_homographies;
    r->complete += view.num_homographies == (size_t)s.num_planes;
    r->rotation += view.kind == PSFM_PAIR_ROTATION;
    r->none += view.num_homographies == 0;
    r->determined += view.essential.found && !view.essential.is_degenerate;
    count_assignments(&s, &view, r);
    ++r->num;
    psfm_two_view_free(&view);
    scene_free(&s);
}

static void print_row(const bench_row *row, const result *r) {
    double n = r->num, percent = 100.0 / n, micro = 1e6 / n;
    printf("%-26s | %4.1f %4.1f %4.1f | %4.1f %4.1f %4.1f | %4.1f %4.1f %4.1f | %4.2f %5.1f %5.1f "
           "%4.1f | %5.1f %5.1f %5.1f | %5.0f %4.0f  %5.0f %4.0f\n",
           row->name, percent * r->auc[0], percent * r->auc[1], percent * r->auc[2],
           percent * r->fit_auc[0], percent * r->fit_auc[1], percent * r->fit_auc[2],
           percent * r->essential_auc[0], percent * r->essential_auc[1],
           percent * r->essential_auc[2], r->planes / n, percent * r->complete, percent * r->wrong,
           percent * r->missed, percent * r->single, percent * r->rotation, percent * r->none,
           micro * r->time_H, r->time_H / r->time_pass, micro * r->time_all,
           r->time_all / r->time_pass);
    fflush(stdout);
}

static bench_row make_row(const char *name, const scene_camera *camera, int num_planes,
                          double outliers) {
    bench_row r = {name, scene_defaults()};
    if (camera != NULL)
        r.options.camera = *camera;
    r.options.num_planes = num_planes;
    r.options.outliers = outliers;
    r.options.noise_px = 1.0;
    return r;
}

static void run_row(psfm_context *ctx, bench_row row, int num) {
    result r = {0};
    for (int k = 0; k < num; ++k)
        run_pair(ctx, &row, (uint64_t)k, &r);
    print_row(&row, &r);
}

int main(int argc, char **argv) {
    int num = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 300;
    psfm_context *ctx = psfm_context_create();
    const psfm_camera opencv = {
        1, PSFM_CAMERA_OPENCV, 1024, 768, {1280, 1280, 512, 384, 0.05, 0, 0, 0}, true};
    const psfm_camera fisheye = {
        1, PSFM_CAMERA_OPENCV_FISHEYE, 1024, 768, {640, 640, 512, 384, 0.02, -0.01, 0, 0}, true};
    const scene_camera distorted = {1024, 768, 0, &opencv, project, unproject};
    const scene_camera wide = {1024, 768, 0, &fisheye, project, unproject};
    if (ctx == NULL || num < 1)
        return 1;
    printf("%-26s | %-14s | %-14s | %-14s | %-21s | %-17s | %-22s\n", "", "better motion", "fit",
           "essential", "planes  (%)", "pairs (%)", "time (us, passes)");
    printf("%-26s | %-14s | %-14s | %-14s | %4s %5s %5s %4s | %5s %5s %5s | %5s %4s  %5s %4s\n",
           "scene", "AUC 1 5 10 deg", "AUC 1 5 10 deg", "AUC 1 5 10 deg", "num", "all", "wrong",
           "miss", "1 mot", "rotat", "none", "H", "", "H+E", "");
    for (int k = 0; k < 4; ++k) {
        const char *names[4] = {"pinhole 0 %", "pinhole 20 %", "pinhole 40 %", "pinhole 60 %"};
        run_row(ctx, make_row(names[k], NULL, 1, 0.2 * k), num);
    }
    run_row(ctx, make_row("OPENCV 0 %", &distorted, 1, 0.0), num);
    run_row(ctx, make_row("OPENCV 40 %", &distorted, 1, 0.4), num);
    run_row(ctx, make_row("OPENCV_FISHEYE 0 %", &wide, 1, 0.0), num);
    run_row(ctx, make_row("OPENCV_FISHEYE 40 %", &wide, 1, 0.4), num);
    bench_row plane_and_cloud = make_row("plane + 30 % off, 40 %", NULL, 1, 0.4);
    plane_and_cloud.options.off_plane = 0.3;
    run_row(ctx, plane_and_cloud, num);
    run_row(ctx, make_row("two planes 0 %", NULL, 2, 0.0), num);
    run_row(ctx, make_row("two planes 40 %", NULL, 2, 0.4), num);
    run_row(ctx, make_row("three planes 0 %", NULL, 3, 0.0), num);
    run_row(ctx, make_row("three planes 40 %", NULL, 3, 0.4), num);
    run_row(ctx, make_row("cloud 20 %", NULL, 0, 0.2), num);
    bench_row rotation = make_row("rotation 20 %", NULL, 1, 0.2);
    rotation.options.baseline[0] = rotation.options.baseline[1] = 0.0;
    run_row(ctx, rotation, num);
    bench_row labelled = make_row("10 labelled points", NULL, 1, 0.0);
    labelled.options.num_matches = 10;
    run_row(ctx, labelled, num);
    bench_row few_wrong = make_row("50 wrong matches", NULL, 1, 1.0);
    few_wrong.options.num_matches = 50;
    run_row(ctx, few_wrong, num);
    run_row(ctx, make_row("500 wrong matches", NULL, 1, 1.0), num);
    psfm_context_destroy(&ctx);
    return 0;
}

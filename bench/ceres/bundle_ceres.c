/* Our bundle adjustment beside Ceres on the same problems (synthetic scenes with their true tracks,
 * 0.7 px noise, poses turned by 1 degree and moved by 0.2 m), and beside a bound by hand.
 *
 *   bench_bundle_ceres [threads] [scene cameras points]...
 *
 * Intrinsics are known, points free, Cauchy loss of 2 px. Rows: ours until poses have settled (the
 * default); ours and Ceres until a step lowers the cost by less than 1e-8 of it. Seconds are
 * those of the processor.
 *
 * The bound counts what a step cannot do without: for each observation its Jacobians (2 x 6, 2 x 3)
 * and their products, for each pair of observations of a point a 6 x 6 block of the reduced system;
 * divided by what dgemm reaches here on one thread. The factorisation is left out. */
#include <cblas.h>
#include <math.h>

#include "../bundle_start.h"
#include "ceres_adjust.h"
#include "core/camera/camera_model.h"

/* Floating-point operations a second of a product of two 512 x 512 matrices. */
static double dgemm_rate(psfm_context *ctx) {
    enum { N = 512 };
    double *A = bench_alloc(ctx, N * N, sizeof *A), *B = bench_alloc(ctx, N * N, sizeof *B);
    double *C = bench_alloc(ctx, N * N, sizeof *C), best = 0.0;
    for (int k = 0; k < N * N; ++k)
        A[k] = B[k] = 1.0 / (k + 1.0);
    for (int k = 0; k < 5; ++k) {
        double start = bench_cpu();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1.0, A, N, B, N, 0.0, C, N);
        best = fmax(best, 2.0 * N * N * N / (bench_cpu() - start));
    }
    free(A);
    free(B);
    free(C);
    return best;
}

/* Of one step: see above. */
static double operations(psfm_context *ctx, const psfm_bundle_problem *p) {
    const double jacobians = 100.0, products = 2 * 2 * (6 * 7 / 2 + 6 * 3 + 3 * 4 / 2);
    const double blocks = 2 * 6 * 3 * 6; /* W_i V^-1 once an observation, then times W_j^T */
    double *seen = bench_alloc(ctx, p->num_points, sizeof *seen), sum = 0.0;
    for (size_t k = 0; k < p->num_observations; ++k)
        seen[p->obs_point[k]] += 1.0;
    for (size_t k = 0; k < p->num_points; ++k)
        sum += seen[k] * (jacobians + products + 2 * 6 * 3 * 3) +
               0.5 * seen[k] * (seen[k] + 1.0) * blocks;
    free(seen);
    return sum;
}

static void print_row(const char *name, int steps, double seconds, double cost, double bound) {
    printf("  %-28s %5d %10.4f %10.3f %14.3f %8.1f\n", name, steps, seconds / steps, seconds, cost,
           seconds / steps / bound);
    fflush(stdout);
}

static void run_ours(psfm_context *ctx, bundle_start *s, bool settles, double bound) {
    psfm_bundle_options options;
    psfm_bundle_stats stats;
    psfm_options_init(&psfm_bundle_option_table, &options);
    options.planes = PSFM_PLANES_FREE;
    if (!settles) {
        options.converged = 0.0;
        options.tolerance = 1e-8;
    }
    double start = bench_cpu();
    bench_check(ctx, psfm_bundle_adjust(ctx, &s->problem, &options, &stats));
    print_row(settles ? "planarsfm" : "planarsfm, 1e-8 of the cost", stats.iterations,
              bench_cpu() - start, stats.final_cost, bound);
    psfm_bundle_stats_free(&stats);
}

static void read_pinhole(const psfm_camera *camera, double pinhole[4]) {
    const psfm_camera_model_info *info = psfm_camera_model_get(camera->model);
    for (int k = 0; k < 2; ++k) {
        pinhole[k] = camera->params[info->focal[k]];
        pinhole[2 + k] = camera->params[info->center[k]];
    }
}

static void run_ceres(psfm_context *ctx, const bundle_start *s, ceres_way way, const char *name,
                      int threads, double bound) {
    const psfm_bundle_problem *p = &s->problem;
    double(*poses)[6] = bench_alloc(ctx, p->num_images, sizeof *poses);
    double(*pinholes)[4] = bench_alloc(ctx, p->num_images, sizeof *pinholes);
    for (size_t i = 0; i < p->num_images; ++i) {
        psfm_rotation_log(s->R[i], poses[i]);
        memcpy(poses[i] + 3, s->c[i], sizeof *s->c);
        read_pinhole(&p->cameras[p->image_camera[i]], pinholes[i]);
    }
    const ceres_problem problem = {.num_images = p->num_images,
                                   .num_points = p->num_points,
                                   .num_observations = p->num_observations,
                                   .poses = poses,
                                   .pinholes = (const double(*)[4])pinholes,
                                   .points = s->points,
                                   .image = p->obs_image,
                                   .point = p->obs_point,
                                   .xy = p->obs_xy,
                                   .cauchy_px = 2.0};
    double start = bench_cpu();
    ceres_outcome o = ceres_adjust(&problem, way, 1e-8, threads);
    print_row(name, o.steps, bench_cpu() - start, o.cost, bound);
    free(poses);
    free(pinholes);
}

static void compare(int threads, psfm_scene_kind kind, int cameras, int points) {
    static const char *const names[] = {"Ceres, SPARSE_SCHUR, 1e-8", "Ceres, DENSE_SCHUR, 1e-8",
                                        "Ceres, ITERATIVE_SCHUR, 1e-8"};
    psfm_context *ctx = psfm_context_create();
    psfm_context_set_threads(ctx, threads);
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = cameras;
    options.num_points = points;
    options.noise_px = 0.7;
    options.neighbours = 1; /* matches are not used here */
    double bound = NAN;
    for (int k = 0; k < 5; ++k) {
        bundle_start s;
        bundle_start_make(ctx, kind, 1, &options, &s);
        bundle_start_move(&s, 1, 1.0, 0.2);
        if (k == 0) {
            bound = operations(ctx, &s.problem) / dgemm_rate(ctx);
            printf("%s, %d cameras, %zu points, %zu observations; bound of a step %.5f s\n",
                   psfm_scene_kind_name(kind), cameras, s.problem.num_points,
                   s.problem.num_observations, bound);
        }
        if (k < 2)
            run_ours(ctx, &s, k == 0, bound);
        else
            run_ceres(ctx, &s, (ceres_way)(k - 2), names[k - 2], threads, bound);
        bundle_start_free(&s);
    }
    psfm_context_destroy(&ctx);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    printf("  %-28s %5s %10s %10s %14s %8s\n", "", "steps", "s/step", "s", "cost", "x bound");
    for (int k = 2; k + 2 < argc; k += 3) {
        psfm_scene_kind kind;
        if (!psfm_scene_kind_from_name(argv[k], &kind))
            return 1;
        compare(threads, kind, atoi(argv[k + 1]), atoi(argv[k + 2]));
    }
    if (argc <= 2) {
        compare(threads, PSFM_SCENE_ARENA, 46, 1500);
        compare(threads, PSFM_SCENE_ARENA, 200, 1500);
        compare(threads, PSFM_SCENE_FIELD, 200, 40000);
        compare(threads, PSFM_SCENE_FIELD, 1000, 200000);
    }
    return 0;
}

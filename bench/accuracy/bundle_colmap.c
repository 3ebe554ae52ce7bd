/* Our bundle adjustment beside COLMAP's (the program `colmap` in PATH) from the same start: squared
 * loss, intrinsics fixed, the same relative tolerance. Both must reach the same cost.
 *
 *   bench_bundle_colmap [scratch folder]
 */
#include <math.h>
#include <sys/resource.h>

#include "../bundle_start.h"
#include "core/base/path.h"
#include "core/base/timer.h"

static double half_sum_of_squares(psfm_context *ctx, const psfm_bundle_problem *p) {
    double *error = bench_alloc(ctx, p->num_observations, sizeof *error), sum = 0.0;
    bench_check(ctx, psfm_bundle_errors(ctx, p, error));
    for (size_t k = 0; k < p->num_observations; ++k)
        sum += 0.5 * error[k] * error[k];
    free(error);
    return sum;
}

static void values_to_model(const bundle_start *s, psfm_model *model) {
    for (size_t i = 0; i < model->num_images; ++i) {
        psfm_rotation_to_quat(s->R[i], model->images[i].cam_from_world_q);
        psfm_mat3_mul_vec(s->R[i], s->c[i], model->images[i].cam_from_world_t);
        psfm_scale3(-1.0, model->images[i].cam_from_world_t, model->images[i].cam_from_world_t);
    }
    for (size_t k = 0; k < model->num_points; ++k)
        memcpy(model->points[k].xyz, s->points[k], sizeof *s->points);
}

static void values_from_model(const psfm_model *model, bundle_start *s) {
    for (size_t i = 0; i < model->num_images; ++i) {
        psfm_rotation_from_quat(model->images[i].cam_from_world_q, s->R[i]);
        psfm_model_image_center(&model->images[i], s->c[i]);
    }
    for (size_t k = 0; k < model->num_points; ++k)
        memcpy(s->points[k], model->points[k].xyz, sizeof *s->points);
}

/* Runs the adjuster on `in`; seconds and iterations are those it reports of its solver. */
static bool run_colmap(const char *in, const char *out, double *seconds, int *iterations) {
    char command[2048], line[512];
    snprintf(command, sizeof command,
             "colmap bundle_adjuster --input_path '%s' --output_path '%s' "
             "--BundleAdjustment.refine_focal_length 0 --BundleAdjustment.refine_extra_params 0 "
             "--BundleAdjustment.function_tolerance 1e-8 2>&1",
             in, out);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        return false;
    while (fgets(line, sizeof line, pipe) != NULL) {
        sscanf(line, " Time : %lf", seconds);
        sscanf(line, " Iterations : %d", iterations);
    }
    return pclose(pipe) == 0;
}

static void compare(psfm_context *ctx, const char *scratch, psfm_scene_kind kind, int cameras,
                    int points) {
    psfm_scene_options options;
    psfm_options_init(&psfm_scene_option_table, &options);
    options.num_cameras = cameras;
    options.num_points = points;
    options.noise_px = 0.7;
    options.neighbours = 1;
    psfm_bundle_options bundle;
    psfm_options_init(&psfm_bundle_option_table, &bundle);
    bundle.loss = PSFM_LOSS_SQUARED;
    static bundle_start s;
    char *in = NULL, *out = NULL;
    bench_check(ctx, psfm_path_join(ctx, scratch, "start", &in));
    bench_check(ctx, psfm_path_join(ctx, scratch, "colmap", &out));
    bench_check(ctx, psfm_make_folders(ctx, out));
    bundle_start_make(ctx, kind, 1, &options, &s);
    bundle_start_move(&s, 1, 0.5, 0.1);
    values_to_model(&s, &s.scene.truth);
    bench_check(ctx, psfm_model_write(ctx, &s.scene.truth, PSFM_MODEL_BINARY, in));
    double start = half_sum_of_squares(ctx, &s.problem), begin = psfm_now();
    psfm_bundle_stats stats;
    bench_check(ctx, psfm_bundle_adjust(ctx, &s.problem, &bundle, &stats));
    double seconds = psfm_now() - begin, ours = half_sum_of_squares(ctx, &s.problem);
    double colmap_seconds = NAN, colmaps = NAN;
    int colmap_iterations = 0;
    psfm_model result = {0};
    if (run_colmap(in, out, &colmap_seconds, &colmap_iterations)) {
        bench_check(ctx, psfm_model_read(ctx, out, &result));
        values_from_model(&result, &s);
        colmaps = half_sum_of_squares(ctx, &s.problem);
    }
    printf("%-8s %5d %7zu %8zu %12.1f | %12.4f %12.4f %10.2e | %4d %4d | %8.3f %8.3f %6.1f\n",
           psfm_scene_kind_name(kind), cameras, stats.num_points, stats.num_observations, start,
           ours, colmaps, (ours - colmaps) / colmaps, stats.iterations, colmap_iterations, seconds,
           colmap_seconds, colmap_seconds / seconds);
    fflush(stdout);
    psfm_bundle_stats_free(&stats);
    psfm_model_free(&result);
    bundle_start_free(&s);
    free(in);
    free(out);
}

int main(int argc, char **argv) {
    const char *scratch = argc > 1 ? argv[1] : "bundle_colmap_scratch";
    psfm_context *ctx = psfm_context_create();
    printf("%-8s %5s %7s %8s %12s | %12s %12s %10s | %4s %4s | %8s %8s %6s\n", "scene", "cams",
           "points", "obs", "start cost", "our cost", "COLMAP's", "difference", "our", "its",
           "our s", "its s", "ratio");
    compare(ctx, scratch, PSFM_SCENE_ARENA, 46, 1500);
    compare(ctx, scratch, PSFM_SCENE_ROOM, 46, 0);
    compare(ctx, scratch, PSFM_SCENE_FIELD, 46, 9200);
    compare(ctx, scratch, PSFM_SCENE_FIELD, 200, 40000);
    psfm_context_destroy(&ctx);
    return 0;
}

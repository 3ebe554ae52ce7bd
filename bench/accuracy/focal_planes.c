/* How sure focal lengths from planes and pairs are, beside how sure they are called.
 *
 *   build/bench/bench_focal_planes DATABASE GT [SEEDS, default 1]
 *
 * Calibrates the cameras of the database whose focal lengths nobody gave, from its matches alone,
 * and compares them with those of GT, by the names of images. The error is that of log f; "off" is
 * the error in standard deviations. One line for the focal lengths that planes determine, one for
 * those that pairs do, and one for those that are only hinted at, over all seeds of the
 * verification. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/calibration/calibrate.h"
#include "core/matches/canonical_order.h"
#include "formats/colmap_model.h"
#include "sfm/reconstruct_options.h"
#include "store/colmap_database.h"

typedef struct {
    size_t num, num_beyond1, num_beyond3;
    double squares, worst_off, worst_error;
} tally;

typedef struct {
    tally planes, pairs, hinted;
} tallies;

static void check(psfm_context *ctx, psfm_status status) {
    if (status == PSFM_OK)
        return;
    fprintf(stderr, "bench_focal_planes: %s\n", psfm_context_message(ctx));
    exit(1);
}

static const char *base_name(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash == NULL ? name : slash + 1;
}

/* The true camera of a view, or NULL. */
static const psfm_camera *true_camera(const psfm_model *truth, const psfm_view *view) {
    for (size_t k = 0; k < truth->num_images; ++k) {
        if (strcmp(base_name(truth->images[k].name), base_name(view->name)) != 0)
            continue;
        for (size_t c = 0; c < truth->num_cameras; ++c)
            if (truth->cameras[c].id == truth->images[k].camera_id)
                return &truth->cameras[c];
    }
    return NULL;
}

static double log_focal(const psfm_camera *camera) {
    double scale[2];
    psfm_image_scale(camera, scale);
    return 0.5 * log(scale[0] * scale[1]);
}

static void add(tally *t, double error, double sigma) {
    double off = fabs(error) / sigma;
    ++t->num;
    t->num_beyond1 += off > 1.0;
    t->num_beyond3 += off > 3.0;
    t->squares += off * off;
    t->worst_off = fmax(t->worst_off, off);
    t->worst_error = fmax(t->worst_error, fabs(error));
}

/* Adds every camera once, by the first view that has it. */
static void compare(const psfm_match_set *set, const psfm_model *truth, tallies *t) {
    for (uint32_t c = 0; c < set->num_cameras; ++c)
        for (size_t v = 0; v < set->num_views; ++v) {
            if (set->views[v].camera_idx != c)
                continue;
            const psfm_camera_origin *origin = &set->origins[c];
            const psfm_camera *known = true_camera(truth, &set->views[v]);
            tally *to = origin->source == PSFM_FOCAL_PLANES  ? &t->planes
                        : origin->source == PSFM_FOCAL_PAIRS ? &t->pairs
                        : origin->source == PSFM_FOCAL_HINT  ? &t->hinted
                                                             : NULL;
            if (known != NULL && to != NULL)
                add(to, log_focal(&set->cameras[c]) - log_focal(known), origin->sigma);
            break;
        }
}

static size_t calibrate(const char *database, const psfm_model *truth, uint64_t seed, tallies *t) {
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set = {0};
    psfm_reconstruct_options options;
    psfm_calibrate_stats stats;
    psfm_context_set_seed(ctx, seed);
    psfm_reconstruct_options_init(PSFM_MODE_DEFAULT, &options);
    check(ctx, psfm_database_read(ctx, database, &set, NULL));
    check(ctx, psfm_match_set_canonical(ctx, &set));
    check(ctx, psfm_match_set_compute_rays(ctx, &set, NULL));
    check(ctx,
          psfm_calibrate(ctx, &options.calibrate, &options.focal, &options.two_view, &set, &stats));
    compare(&set, truth, t);
    psfm_match_set_free(&set);
    psfm_context_destroy(&ctx);
    return stats.num_unknown;
}

static void print(const char *name, const tally *t, size_t num_unknown) {
    printf("%-10s %5zu of %5zu; off %.2f in the mean square, %zu beyond 1, %zu beyond 3, %.1f at "
           "most; error %.2f %% at most\n",
           name, t->num, num_unknown, t->num == 0 ? 0.0 : sqrt(t->squares / (double)t->num),
           t->num_beyond1, t->num_beyond3, t->worst_off, 100.0 * t->worst_error);
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    psfm_model truth = {0};
    tallies t = {0};
    size_t num_unknown = 0;
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: bench_focal_planes DATABASE GT [SEEDS]\n");
        return 2;
    }
    check(ctx, psfm_model_read(ctx, argv[2], &truth));
    int num_seeds = argc == 4 ? atoi(argv[3]) : 1;
    for (int seed = 0; seed < num_seeds; ++seed)
        num_unknown += calibrate(argv[1], &truth, (uint64_t)seed, &t);
    print("planes", &t.planes, num_unknown);
    print("pairs", &t.pairs, num_unknown);
    print("hinted at", &t.hinted, num_unknown);
    psfm_model_free(&truth);
    psfm_context_destroy(&ctx);
    return 0;
}

/* What planes are worth in bundle adjustment: errors of the poses against the truth for points that
 * are free, pulled to their plane (for several plane-sigma-px) or kept in it. True tracks, 0.7 px
 * noise, 10 seeds; the numbers are root mean squares over images and seeds after the best
 * similarity. `bumps`: how far (standard deviation, metres) the points truly are off their plane.
 * `wrong`: share of the points off the plane that are said to be on it. `longest`: a point is seen
 * by so many consecutive images only. */
#include <math.h>

#include "../bundle_start.h"
#include "core/linalg/angle.h"
#include "core/linalg/sim3.h"

typedef struct {
    const char *name;
    psfm_scene_kind kind;
    int cameras, points;
    double off_plane, bumps, wrong;
    int longest; /* track; 0: no limit */
} setting;

static const setting settings[] = {
    {"arena, one plane", PSFM_SCENE_ARENA, 46, 300, 0.0, 0.0, 0.0, 0},
    {"arena, one plane, 60 points", PSFM_SCENE_ARENA, 46, 60, 0.0, 0.0, 0.0, 0},
    {"arena, short tracks", PSFM_SCENE_ARENA, 46, 300, 0.0, 0.0, 0.0, 4},
    {"arena, 30 % off plane", PSFM_SCENE_ARENA, 46, 300, 0.3, 0.0, 0.0, 4},
    {"arena, bumps 5 mm", PSFM_SCENE_ARENA, 46, 300, 0.0, 0.005, 0.0, 4},
    {"arena, bumps 2 cm", PSFM_SCENE_ARENA, 46, 300, 0.0, 0.02, 0.0, 4},
    {"arena, bumps 10 cm", PSFM_SCENE_ARENA, 46, 300, 0.0, 0.1, 0.0, 4},
    {"arena, 10 % wrongly on it", PSFM_SCENE_ARENA, 46, 300, 0.3, 0.0, 0.1, 4},
    {"field, one plane", PSFM_SCENE_FIELD, 46, 1500, 0.0, 0.0, 0.0, 0},
    {"field, bumps 10 cm", PSFM_SCENE_FIELD, 46, 1500, 0.0, 0.1, 0.0, 0},
    {"room, six planes", PSFM_SCENE_ROOM, 30, 600, 0.0, 0.0, 0.0, 4},
};

typedef struct {
    const char *name;
    int planes;
    double sigma_px;
} mode;

static const mode modes[] = {
    {"free", PSFM_PLANES_FREE, 1.0},   {"soft 4", PSFM_PLANES_SOFT, 4.0},
    {"soft 2", PSFM_PLANES_SOFT, 2.0}, {"soft 1", PSFM_PLANES_SOFT, 1.0},
    {"hard", PSFM_PLANES_HARD, 1.0},   {"estimated", PSFM_PLANES_SOFT, 0.0},
};

enum { NUM_MODES = sizeof modes / sizeof *modes, NUM_SEEDS = 10 };

/* Keeps the first `longest` observations of each point from a random image on. */
static void shorten_tracks(psfm_context *ctx, bundle_start *s, int longest, uint64_t seed) {
    psfm_bundle_problem *p = &s->problem;
    psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_BENCH, 3, 0);
    uint32_t *first = bench_alloc(ctx, p->num_points, sizeof *first);
    int *left = bench_alloc(ctx, p->num_points, sizeof *left);
    for (size_t k = 0; k < p->num_points; ++k) {
        first[k] = (uint32_t)psfm_rng_below(&rng, p->num_images);
        left[k] = longest;
    }
    size_t kept = 0;
    for (int turn = 0; turn < 2; ++turn) /* images from `first` on, then from 0 again */
        for (size_t o = turn == 0 ? 0 : kept; o < p->num_observations; ++o) {
            uint32_t k = s->obs_point[o];
            bool taken = left[k] > 0 && (s->obs_image[o] >= first[k]) == (turn == 0);
            if (!taken)
                continue;
            --left[k];
            uint32_t image = s->obs_image[o];
            double xy[2] = {s->obs_xy[o][0], s->obs_xy[o][1]};
            s->obs_image[o] = s->obs_image[kept];
            s->obs_point[o] = s->obs_point[kept];
            memcpy(s->obs_xy[o], s->obs_xy[kept], sizeof xy);
            s->obs_image[kept] = image;
            s->obs_point[kept] = k;
            memcpy(s->obs_xy[kept++], xy, sizeof xy);
        }
    p->num_observations = kept;
    free(first);
    free(left);
}

/* Moves points off their plane and their pixels with them. */
static void raise_bumps(bundle_start *s, double bumps, uint64_t seed) {
    psfm_bundle_problem *p = &s->problem;
    for (size_t o = 0; bumps > 0.0 && o < p->num_observations; ++o) {
        uint32_t k = s->obs_point[o], i = s->obs_image[o];
        if (s->point_plane[k] < 0)
            continue;
        psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_BENCH, 4, k);
        double X[3], D[3], Y[3], flat[2], bumpy[2];
        psfm_axpy3(s->points[k], bumps * psfm_rng_normal(&rng), s->planes[s->point_plane[k]].normal,
                   X);
        psfm_sub3(s->points[k], s->c[i], D);
        psfm_mat3_mul_vec(s->R[i], D, Y);
        bool seen = psfm_camera_project(&p->cameras[s->image_camera[i]], Y, flat);
        psfm_sub3(X, s->c[i], D);
        psfm_mat3_mul_vec(s->R[i], D, Y);
        if (!seen || !psfm_camera_project(&p->cameras[s->image_camera[i]], Y, bumpy))
            continue;
        s->obs_xy[o][0] += bumpy[0] - flat[0];
        s->obs_xy[o][1] += bumpy[1] - flat[1];
    }
}

/* Adds the squared errors after the best similarity: rotations in degrees, positions in metres. */
static void add_errors(const bundle_start *s, const double (*true_R)[9], const double (*true_c)[3],
                       double sums[2]) {
    psfm_sim3 fit;
    size_t n = s->problem.num_images;
    if (!psfm_sim3_fit(n, (const double(*)[3])s->c, true_c, NULL, &fit))
        exit(1);
    /* The rotation of the world that fits the cameras' orientations best, not their positions. */
    double sum[9] = {0}, Q[9];
    for (size_t i = 0; i < n; ++i) {
        double D[9];
        psfm_mat3_t_mul(true_R[i], s->R[i], D);
        for (int k = 0; k < 9; ++k)
            sum[k] += D[k];
    }
    if (!psfm_mat3_nearest_rotation(sum, Q))
        return;
    for (size_t i = 0; i < n; ++i) {
        double R[9], c[3];
        psfm_mat3_mul_t(s->R[i], Q, R);
        double angle = psfm_degrees(psfm_rotation_angle(R, true_R[i]));
        psfm_sim3_apply(&fit, s->c[i], c);
        psfm_sub3(c, true_c[i], c);
        sums[0] += angle * angle / (double)n;
        sums[1] += psfm_dot3(c, c) / (double)n;
    }
}

static void run(psfm_context *ctx, const setting *set) {
    double sums[NUM_MODES][2] = {{0}};
    for (uint64_t seed = 1; seed <= NUM_SEEDS; ++seed)
        for (int m = 0; m < NUM_MODES; ++m) {
            psfm_scene_options options;
            psfm_options_init(&psfm_scene_option_table, &options);
            options.num_cameras = set->cameras;
            options.num_points = set->points;
            options.noise_px = 0.7;
            options.off_plane = set->off_plane;
            options.neighbours = 1;
            static bundle_start s;
            bundle_start_make(ctx, set->kind, seed, &options, &s);
            psfm_rng rng = psfm_rng_make(seed, PSFM_RNG_BENCH, 2, 0);
            for (size_t k = 0; k < s.problem.num_points; ++k)
                if (s.point_plane[k] < 0 && psfm_rng_uniform(&rng) < set->wrong)
                    s.point_plane[k] = 0;
            raise_bumps(&s, set->bumps, seed);
            if (set->longest > 0)
                shorten_tracks(ctx, &s, set->longest, seed);
            size_t n = s.problem.num_images;
            double(*R)[9] = bench_alloc(ctx, n, sizeof *R),
            (*c)[3] = bench_alloc(ctx, n, sizeof *c);
            memcpy(R, s.R, n * sizeof *R);
            memcpy(c, s.c, n * sizeof *c);
            bundle_start_move(&s, seed, 0.5, 0.1);
            psfm_bundle_options bundle;
            psfm_options_init(&psfm_bundle_option_table, &bundle);
            bundle.planes = modes[m].planes;
            bundle.plane_sigma_px = modes[m].sigma_px;
            bench_check(ctx, psfm_bundle_adjust(ctx, &s.problem, &bundle, NULL));
            add_errors(&s, (const double(*)[9])R, (const double(*)[3])c, sums[m]);
            free(R);
            free(c);
            bundle_start_free(&s);
        }
    printf("%-28s", set->name);
    for (int m = 0; m < NUM_MODES; ++m)
        printf(" | %7.4f %7.2f", sqrt(sums[m][0] / NUM_SEEDS), 1e3 * sqrt(sums[m][1] / NUM_SEEDS));
    printf("\n");
    fflush(stdout);
}

int main(void) {
    psfm_context *ctx = psfm_context_create();
    printf("%-28s", "");
    for (int m = 0; m < NUM_MODES; ++m)
        printf(" | %-15s", modes[m].name);
    printf("\n%-28s", "scene");
    for (int m = 0; m < NUM_MODES; ++m)
        printf(" | %7s %7s", "deg", "mm");
    printf("\n");
    for (size_t k = 0; k < sizeof settings / sizeof *settings; ++k)
        run(ctx, &settings[k]);
    psfm_context_destroy(&ctx);
    return 0;
}

/* Soft planes: their part of the gradient, and that they do not change the size of things. */
#include "unit/core/bundle/bundle_run.h"

#include "core/bundle/bundle_internal.h"

static double cost_now(psfm_context *ctx, psfm_bundle *b) {
    double cost;
    assert_ok(ctx, psfm_bundle_linearize(ctx, b, &cost));
    return cost;
}

/* Change of the cost per unit of one number, by differences. */
static double difference(psfm_context *ctx, psfm_bundle *b, double *number) {
    const double h = 1e-5, kept = *number;
    *number = kept + h;
    double plus = cost_now(ctx, b);
    *number = kept - h;
    double minus = cost_now(ctx, b);
    *number = kept;
    return (plus - minus) / (2 * h);
}

static double gradient_by_center(const psfm_bundle *b, uint32_t image, int axis) {
    double pull[3] = {0}, sum = 0.0;
    for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k) {
        const psfm_bundle_row *row = &b->rows[b->image_obs[k]];
        sum += row->J_pose[3 + axis] * row->r[0] + row->J_pose[9 + axis] * row->r[1];
        psfm_bundle_add_pull(b, b->image_obs[k], pull);
    }
    return sum - pull[axis];
}

static double gradient_by_point(const psfm_bundle *b, uint32_t p, int axis) {
    double D[3];
    psfm_mat3_tmul_vec(b->now.plane_frame[b->point_plane[p]], b->systems[p].b, D);
    return -D[axis];
}

/* Points half a unit off their planes, which would leave a part out that is large here. */
static void the_gradient_agrees_with_differences(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static scene s;
    scene_options o = small_scene;
    psfm_bundle_options options = default_options();
    psfm_bundle b;
    o.noise_px = 0.5;
    o.num_planes = 2;
    o.visible = 1.0;
    scene_make(&o, &s);
    scene_perturb(&s, 5, 1e-3, 0.5, NULL);
    options.loss = PSFM_LOSS_SQUARED;
    options.planes = PSFM_PLANES_SOFT;
    options.plane_sigma_px = 3.0;
    assert_ok(ctx, psfm_bundle_setup(ctx, &s.problem, &options, &b));
    for (uint32_t i = 0; i < s.problem.num_images; ++i)
        b.scale_anchor[i] = PSFM_BUNDLE_NONE;
    for (int axis = 0; axis < 3; ++axis) {
        for (uint32_t i = 0; i < s.problem.num_images; ++i) {
            double numeric = difference(ctx, &b, &b.now.c[i][axis]);
            cost_now(ctx, &b);
            assert_close(gradient_by_center(&b, i, axis), numeric, 1e-5 * (1 + fabs(numeric)));
        }
        for (uint32_t p = 0; p < b.num_points; ++p) {
            if (b.point_plane[p] == PSFM_BUNDLE_NONE)
                continue;
            double numeric = difference(ctx, &b, &b.now.X[p][axis]);
            cost_now(ctx, &b);
            assert_close(gradient_by_point(&b, p, axis), numeric, 1e-5 * (1 + fabs(numeric)));
        }
    }
    psfm_bundle_teardown(&b);
    psfm_context_destroy(&ctx);
}

/* ---- a walk along a rough wall ---- */

enum { NUM_IMAGES = 300, PER_IMAGE = 8, NUM_POINTS = NUM_IMAGES * PER_IMAGE, REACH = 2 };

typedef struct {
    psfm_bundle_problem problem;
    psfm_camera camera;
    psfm_bundle_plane wall;
    uint32_t image_camera[NUM_IMAGES];
    double R[NUM_IMAGES][9], c[NUM_IMAGES][3], points[NUM_POINTS][3];
    int32_t plane[NUM_POINTS];
    uint32_t obs_image[NUM_POINTS * (2 * REACH + 1)], obs_point[NUM_POINTS * (2 * REACH + 1)];
    double obs_xy[NUM_POINTS * (2 * REACH + 1)][2];
} walk;

static void see_point(walk *w, psfm_rng *rng, uint32_t point, int middle) {
    for (int i = middle - REACH; i <= middle + REACH; ++i) {
        if (i < 0 || i >= NUM_IMAGES)
            continue;
        size_t o = w->problem.num_observations++;
        double D[3];
        w->obs_image[o] = (uint32_t)i;
        w->obs_point[o] = point;
        psfm_sub3(w->points[point], w->c[i], D);
        assert_true(psfm_camera_project(&w->camera, D, w->obs_xy[o]));
        for (int k = 0; k < 2; ++k)
            w->obs_xy[o][k] += 1.0 * psfm_rng_normal(rng);
    }
}

static void make_walk(walk *w) {
    psfm_rng rng = psfm_rng_make(2, PSFM_RNG_TEST, 0, 0);
    memset(w, 0, sizeof *w);
    w->camera = scene_camera(PSFM_CAMERA_PINHOLE);
    w->wall = (psfm_bundle_plane){{0.0, 0.0, 1.0}, 6.0, 5.0};
    w->problem = (psfm_bundle_problem){.num_cameras = 1,
                                       .cameras = &w->camera,
                                       .num_images = NUM_IMAGES,
                                       .image_camera = w->image_camera,
                                       .cam_from_world = w->R,
                                       .centers = w->c,
                                       .num_points = NUM_POINTS,
                                       .points = w->points,
                                       .point_plane = w->plane,
                                       .num_planes = 1,
                                       .planes = &w->wall,
                                       .obs_image = w->obs_image,
                                       .obs_point = w->obs_point,
                                       .obs_xy = (const double(*)[2])w->obs_xy};
    for (int i = 0; i < NUM_IMAGES; ++i) {
        psfm_mat3_identity(w->R[i]);
        w->c[i][0] = i;
    }
    for (uint32_t p = 0; p < NUM_POINTS; ++p) {
        int middle = (int)p / PER_IMAGE;
        w->points[p][0] = middle + psfm_rng_range(&rng, -0.5, 0.5);
        w->points[p][1] = psfm_rng_range(&rng, -2.0, 2.0);
        w->points[p][2] = 6.0 + 0.1 * psfm_rng_normal(&rng);
        see_point(w, &rng, p, middle);
    }
}

/* Length of ten steps, of a unit each in truth. */
static double ten_steps(const walk *w, int first) {
    double D[3];
    psfm_sub3(w->c[first + 10], w->c[first], D);
    return psfm_norm3(D);
}

/* Steps at the ends of the walk are as long as those in its middle. If distances from the wall did
 * not count in pixels of where things are now, they would be off by 11 and 10 %. */
static void the_end_of_a_walk_keeps_its_size(void **state) {
    (void)state;
    psfm_context *ctx = psfm_context_create();
    static walk w;
    psfm_bundle_options options = default_options();
    make_walk(&w);
    options.loss = PSFM_LOSS_SQUARED;
    options.planes = PSFM_PLANES_SOFT;
    assert_ok(ctx, psfm_bundle_adjust(ctx, &w.problem, &options, NULL));
    double middle = ten_steps(&w, NUM_IMAGES / 2);
    assert_close(ten_steps(&w, 0) / middle, 1.0, 0.04);
    assert_close(ten_steps(&w, NUM_IMAGES - 11) / middle, 1.0, 0.04);
    psfm_context_destroy(&ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_agrees_with_differences),
        cmocka_unit_test(the_end_of_a_walk_keeps_its_size),
    };
    return cmocka_run_group_tests_name("bundle/bundle_planes", tests, NULL, NULL);
}

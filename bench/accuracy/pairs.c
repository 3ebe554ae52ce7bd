/* The relative pose of every pair of a database, beside the truth, for bench/accuracy/pairs.
 *
 *   bench_pairs DATABASE GT [--seed S]
 *
 * The cameras of GT (a COLMAP model) replace those of the database. One block a pair, in text: a
 * line `pair NAME1 NAME2 MATCHES CPU_SECONDS`; a line `true` with R_21 (row-major) and t_21; a line
 * for each motion that the estimate offers, `essential|plane|plane2|rotation SIGMA R t`, SIGMA the
 * standard deviation of the rotation in radians at one pixel of noise, an essential matrix only if
 * it is determined; `px F1 F2`, pixels per unit of a normalised coordinate; then MATCHES lines
 * `x1 y1 x2 y2` of rays with z = 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/linalg/mat3.h"
#include "core/twoview/motion_sigma.h"
#include "planarsfm/model.h"
#include "store/colmap_database.h"

#define CHECK(ctx, call)                                        \
    do {                                                        \
        if ((call) != PSFM_OK) {                                \
            fprintf(stderr, "%s\n", psfm_context_message(ctx)); \
            exit(1);                                            \
        }                                                       \
    } while (0)

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const psfm_model_image *find_image(const psfm_model *truth, const char *name) {
    for (size_t k = 0; k < truth->num_images; ++k)
        if (strcmp(truth->images[k].name, name) == 0)
            return &truth->images[k];
    return NULL;
}

/* Every view gets a camera of its own: the true one of its image. */
static void take_cameras(const psfm_model *truth, psfm_match_set *set) {
    psfm_camera *cameras = calloc(set->num_views, sizeof *cameras);
    for (size_t v = 0; v < set->num_views; ++v) {
        const psfm_model_image *image = find_image(truth, set->views[v].name);
        cameras[v] = image != NULL ? *psfm_model_camera(truth, image->camera_id)
                                   : set->cameras[set->views[v].camera_idx];
        set->views[v].camera_idx = (uint32_t)v;
    }
    free(set->cameras);
    free(set->origins);
    set->origins = NULL;
    set->cameras = cameras;
    set->num_cameras = set->num_views;
}

static void print_motion(const char *what, double sigma, const double R[9], const double t[3]) {
    printf("%s %.6g", what, sigma);
    for (int k = 0; k < 9; ++k)
        printf(" %.12g", R[k]);
    printf(" %.12g %.12g %.12g\n", t[0], t[1], t[2]);
}

static void print_truth(const psfm_model_image *image1, const psfm_model_image *image2) {
    double R1[9], R2[9], R_21[9], t[3], moved[3];
    psfm_rotation_from_quat(image1->cam_from_world_q, R1);
    psfm_rotation_from_quat(image2->cam_from_world_q, R2);
    psfm_mat3_mul_t(R2, R1, R_21);
    psfm_mat3_mul_vec(R_21, image1->cam_from_world_t, moved);
    psfm_sub3(image2->cam_from_world_t, moved, t);
    print_motion("true", 0.0, R_21, t);
}

static void print_estimate(const psfm_match_set *set, const psfm_match_pair *pair,
                           const psfm_two_view *found) {
    psfm_motion_support support = {&set->views[pair->view1], &set->views[pair->view2],
                                   (const uint32_t(*)[2])pair->matches, NULL, 0};
    const psfm_essential *e = &found->essential;
    if (e->found && !e->is_degenerate) {
        support.inliers = e->inliers;
        support.num_inliers = e->num_inliers;
        print_motion("essential", psfm_essential_sigma(&support, e->R_21, e->t_21), e->R_21,
                     e->t_21);
    }
    for (size_t h = 0; h < found->num_homographies; ++h) {
        const psfm_homography *plane = &found->homographies[h];
        support.inliers = plane->inliers;
        support.num_inliers = plane->num_inliers;
        for (int k = 0; k < plane->num_motions; ++k)
            print_motion(plane->is_rotation ? "rotation" : (k == 0 ? "plane" : "plane2"),
                         psfm_plane_motion_sigma(&support, &plane->motions[k]),
                         plane->motions[k].R_21, plane->motions[k].t_21);
    }
}

static void print_matches(const psfm_match_set *set, const psfm_match_pair *pair) {
    const psfm_view *v1 = &set->views[pair->view1], *v2 = &set->views[pair->view2];
    for (size_t m = 0; m < pair->num_matches; ++m) {
        const double *a = v1->rays[pair->matches[m][0]], *b = v2->rays[pair->matches[m][1]];
        printf("%.9g %.9g %.9g %.9g\n", a[0] / a[2], a[1] / a[2], b[0] / b[2], b[1] / b[2]);
    }
}

static void run_pair(psfm_context *ctx, const psfm_model *truth, const psfm_match_set *set,
                     const psfm_match_pair *pair) {
    const psfm_view *v1 = &set->views[pair->view1], *v2 = &set->views[pair->view2];
    const psfm_model_image *image1 = find_image(truth, v1->name);
    const psfm_model_image *image2 = find_image(truth, v2->name);
    psfm_image_pair images = psfm_image_pair_of(set, pair);
    psfm_correspondences c;
    psfm_two_view found;
    if (image1 == NULL || image2 == NULL)
        return;
    CHECK(ctx, psfm_correspondences_init(ctx, set, pair, &c));
    double start = cpu_time();
    CHECK(ctx, psfm_two_view_estimate(ctx, &c, &images, NULL, &found));
    printf("pair %s %s %zu %.6f\n", v1->name, v2->name, pair->num_matches, cpu_time() - start);
    print_truth(image1, image2);
    print_estimate(set, pair, &found);
    printf("px %.6g %.6g\n", set->cameras[v1->camera_idx].params[0],
           set->cameras[v2->camera_idx].params[0]);
    print_matches(set, pair);
    psfm_two_view_free(&found);
    psfm_correspondences_free(&c);
}

int main(int argc, char **argv) {
    psfm_context *ctx = psfm_context_create();
    psfm_match_set set;
    psfm_model truth;
    size_t without;
    if (argc != 3 && argc != 5) {
        fprintf(stderr, "usage: bench_pairs DATABASE GT [--seed S]\n");
        return 2;
    }
    if (argc == 5)
        psfm_context_set_seed(ctx, strtoull(argv[4], NULL, 10));
    CHECK(ctx, psfm_database_read(ctx, argv[1], &set, NULL));
    CHECK(ctx, psfm_model_read(ctx, argv[2], &truth));
    take_cameras(&truth, &set);
    CHECK(ctx, psfm_match_set_compute_rays(ctx, &set, &without));
    for (size_t p = 0; p < set.num_pairs; ++p)
        run_pair(ctx, &truth, &set, &set.pairs[p]);
    psfm_match_set_free(&set);
    psfm_model_free(&truth);
    psfm_context_destroy(&ctx);
    return 0;
}

/* Four cameras around fifty points of a floor: points from poses, the pose of a fifth image from
 * points, everything adjusted, and how surely it is known.
 * cc bundle.c $(pkg-config --cflags --libs planarsfm-core) -lm */
#include <math.h>
#include <planarsfm/core.h>
#include <stdio.h>
#include <string.h>

enum { IMAGES = 5, POINTS = 50 };

/* Camera v looks at the origin from (4 cos a, 4 sin a, 3). */
static void place_camera(int v, double R[9], double c[3]) {
    double a = 0.7 * v, x[3] = {-sin(a), cos(a), 0}, z[3] = {-0.8 * cos(a), -0.8 * sin(a), -0.6};
    double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
    c[0] = 4 * cos(a), c[1] = 4 * sin(a), c[2] = 3;
    memcpy(R, x, sizeof x);
    memcpy(R + 3, y, sizeof y);
    memcpy(R + 6, z, sizeof z);
}

static void turn_into_camera(const double R[9], const double c[3], const double X[3],
                             double ray[3]) {
    for (int i = 0; i < 3; ++i)
        ray[i] =
            R[3 * i] * (X[0] - c[0]) + R[3 * i + 1] * (X[1] - c[1]) + R[3 * i + 2] * (X[2] - c[2]);
}

int main(void) {
    psfm_camera camera = {
        .model = PSFM_CAMERA_PINHOLE, .width = 1280, .height = 960, .params = {900, 900, 640, 480}};
    double truth[POINTS][3], points[POINTS][3] = {{0}}, plane[1][4] = {{0, 0, 1, 0.01}};
    double R[IMAGES][9], c[IMAGES][3], xy[IMAGES * POINTS][2], ray[3][3];
    uint32_t image_camera[IMAGES] = {0}, image[IMAGES * POINTS], point[IMAGES * POINTS];
    int32_t point_plane[POINTS] = {0}, state[IMAGES];
    for (int k = 0; k < POINTS; ++k)
        truth[k][0] = fmod(0.618034 * k, 1) * 2 - 1, truth[k][1] = fmod(0.754878 * k, 1) * 2 - 1,
        truth[k][2] = 0;
    for (int v = 0; v < IMAGES; ++v) {
        place_camera(v, R[v], c[v]);
        for (int k = 0; k < POINTS; ++k) {
            int o = v * POINTS + k;
            image[o] = (uint32_t)v, point[o] = (uint32_t)k;
            turn_into_camera(R[v], c[v], truth[k], ray[0]);
            if (!psfm_camera_project(&camera, ray[0], xy[o]))
                return 1;
            xy[o][0] += 0.3 * sin(7.0 * o); /* noise */
            xy[o][1] += 0.3 * cos(5.0 * o);
        }
    }
    psfm_context *ctx = psfm_context_create();
    psfm_bundle_scene scene = {sizeof scene, 1,      &camera, 4,    image_camera, *R, *c,
                               NULL,         POINTS, *points, NULL, point_plane,  1,  *plane,
                               4 * POINTS,   image,  point,   *xy,  NULL};
    psfm_triangulation_options generous = {.struct_size = sizeof generous, .max_error_px = 6};
    psfm_resect_result last = {.struct_size = sizeof last};
    bool found[POINTS];
    double poses[4][9], centers[4][3];
    size_t num;
    psfm_status failed = psfm_triangulate_scene(ctx, &scene, &generous, found, NULL);
    for (int k = 0; k < 3; ++k)
        turn_into_camera(R[4], c[4], truth[k], ray[k]);
    if (failed || (failed = psfm_find_p3p_poses(ctx, *ray, *truth, *poses, *centers, &num)) ||
        (failed =
             psfm_resect_image(ctx, &camera, POINTS, xy[4 * POINTS], *points, NULL, NULL, &last)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("poses from three points: %s; image 4, from all of them, at %.1f %.1f %.1f\n",
           num > 0 ? "some" : "none", last.center[0], last.center[1], last.center[2]);

    scene.num_images = IMAGES; /* the fifth as well, and start somewhat off */
    scene.num_observations = IMAGES * POINTS;
    memcpy(R[4], last.cam_from_world, sizeof R[4]);
    memcpy(c[4], last.center, sizeof c[4]);
    c[1][0] += 0.02;
    psfm_adjust_options options = {.struct_size = sizeof options, .refine = PSFM_ADJUST_FOCAL};
    psfm_adjust_result result = {.struct_size = sizeof result};
    static double error[IMAGES * POINTS], covariance[IMAGES][6][6];
    double sigma, focal_sigma[PSFM_CAMERA_MAX_PARAMS];
    if ((failed = psfm_adjust_bundle(ctx, &scene, &options, state, &result)) ||
        (failed = psfm_reprojection_errors(ctx, &scene, error)) ||
        (failed = psfm_bundle_covariance(ctx, &scene, &options, false, **covariance, &sigma)) ||
        (failed = psfm_intrinsics_sigmas(ctx, &scene, &options, focal_sigma)))
        return fprintf(stderr, "%s\n", psfm_context_message(ctx)), 1;
    printf("mean error from %.1f to %.1f px, residuals of %.1f px\n", result.initial_mean_px,
           result.mean_px, sigma);
    for (int v = 0; v < IMAGES; ++v)
        printf("image %d: %s, first error %.1f px, height known to %.3f\n", v,
               state[v] == PSFM_ADJUST_DATUM ? "holds the frame" : "adjusted", error[v * POINTS],
               sqrt(covariance[v][5][5]));
    printf("focal length %.0f, known to %.1f px; plane z = %.2f\n", camera.params[0],
           focal_sigma[0], plane[0][3] / plane[0][2]);
    psfm_context_destroy(&ctx);
    return 0;
}

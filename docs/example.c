/* Poses from matches in memory: four cameras over a plane, made up here. Prints where they are.
 * cc example.c $(pkg-config --cflags --libs planarsfm) -lm */
#include <math.h>
#include <planarsfm/planarsfm.h>
#include <stdio.h>

enum { IMAGES = 4, POINTS = 100 };

static int show(const char *stage, size_t done, size_t total, void *user) {
    if (done == total)
        fprintf(user, "%s done\n", stage);
    return 0; /* anything else cancels */
}

/* Camera k is at (2k - 3, 0.5 (k - 1.5)^2, 6), looks down and is tilted by 0.1 (k - 1) about x. */
static void look(int k, double x, double y, double xy[2]) {
    double c = cos(0.1 * (k - 1)), s = sin(0.1 * (k - 1));
    double X = x - (2 * k - 3), Y = -(y - 0.5 * (k - 1.5) * (k - 1.5)), Z = 6;
    xy[0] = 800 * X / (s * Y + c * Z) + 640;
    xy[1] = 800 * (c * Y - s * Z) / (s * Y + c * Z) + 480;
}

int main(void) {
    psfm_context *ctx = psfm_context_create();
    psfm_problem *problem = psfm_problem_create();
    psfm_result *result = NULL;
    psfm_camera camera = {.id = 1,
                          .model = PSFM_CAMERA_PINHOLE,
                          .width = 1280,
                          .height = 960,
                          .params = {800, 800, 640, 480}};
    uint32_t same[POINTS][2];
    for (uint32_t k = 0; k < POINTS; ++k)
        same[k][0] = same[k][1] = k; /* keypoint k shows point k in every image */
    psfm_context_set_progress(ctx, show, stderr);
    psfm_status status = psfm_problem_add_camera(ctx, problem, &camera);
    for (int i = 0; i < IMAGES && status == PSFM_OK; ++i) {
        double keypoints[POINTS][2];
        for (int k = 0; k < POINTS; ++k)
            look(i, 0.6 * (k % 10) - 2.7 + 0.2 * sin(k), 0.5 * (k / 10.0) - 2.3, keypoints[k]);
        status = psfm_problem_add_image(ctx, problem, (uint32_t)i + 1, 1, NULL, POINTS, *keypoints);
        for (int j = 0; j < i && status == PSFM_OK; ++j)
            status = psfm_problem_add_matches(ctx, problem, (uint32_t)j + 1, (uint32_t)i + 1,
                                              POINTS, *same);
    }
    if (status == PSFM_OK)
        status = psfm_solve(ctx, problem, NULL, &result);
    if (status != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    psfm_image_result image = {.struct_size = sizeof image};
    for (size_t k = 0; status == PSFM_OK && psfm_result_image(result, k, &image); ++k)
        printf("%s %s at %.4f %.4f %.4f\n", image.name, image.state, image.center[0],
               image.center[1], image.center[2]);
    psfm_result_destroy(&result);
    psfm_problem_destroy(&problem);
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}

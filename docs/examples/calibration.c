/* The focal length of a camera that nobody knows, from six images of one floor.
 * cc calibration.c $(pkg-config --cflags --libs planarsfm-core) -lm */
#include <math.h>
#include <planarsfm/core.h>
#include <stdio.h>

enum { IMAGES = 6, POINTS = 120, PAIRS = IMAGES * (IMAGES - 1) / 2 };

/* Image v looks at the middle of the floor from (4 cos a, 4 sin a, h). */
static int look(const psfm_camera *camera, int v, double x, double y, double xy[2]) {
    double a = 1.1 * v, h = 2.5 + 0.5 * (v % 3), length = sqrt(16 + h * h);
    double dx = x - 4 * cos(a), dy = y - 4 * sin(a);
    double ahead = (-4 * cos(a) * dx - 4 * sin(a) * dy + h * h) / length;
    double side = -sin(a) * dx + cos(a) * dy;
    double down = (-h * cos(a) * dx - h * sin(a) * dy - 4 * h) / length;
    double ray[3] = {side, -down, ahead};
    return psfm_camera_project(camera, ray, xy);
}

int main(void) {
    const psfm_camera truth = {.model = PSFM_CAMERA_SIMPLE_PINHOLE,
                               .width = 1280,
                               .height = 960,
                               .params = {1000, 640, 480}};
    static double keypoints[IMAGES * POINTS][2], sigma[1];
    static uint32_t matches[PAIRS * POINTS][2], pairs[PAIRS][2], image_camera[IMAGES];
    size_t keypoint_begin[IMAGES + 1] = {0}, match_begin[PAIRS + 1] = {0};
    uint32_t num = 0;
    for (int v = 0; v < IMAGES; ++v) {
        for (int k = 0; k < POINTS; ++k) {
            double *xy = keypoints[v * POINTS + k];
            if (!look(&truth, v, fmod(0.618034 * k, 1) * 3 - 1.5, fmod(0.754878 * k, 1) * 3 - 1.5,
                      xy))
                return 1;
            xy[0] += 0.2 * sin(7.0 * (v * POINTS + k)); /* noise */
            xy[1] += 0.2 * cos(5.0 * (v * POINTS + k));
        }
        keypoint_begin[v + 1] = keypoint_begin[v] + POINTS;
    }
    for (uint32_t i = 0; i < IMAGES; ++i)
        for (uint32_t j = i + 1; j < IMAGES; ++j, ++num) {
            pairs[num][0] = i;
            pairs[num][1] = j;
            match_begin[num + 1] = match_begin[num] + POINTS;
            for (uint32_t k = 0; k < POINTS; ++k) /* keypoint k shows point k */
                matches[num * POINTS + k][0] = matches[num * POINTS + k][1] = k;
        }
    psfm_camera camera = truth;
    camera.params[0] = 1536; /* a guess */
    const psfm_matched_images images = {
        sizeof images,  1,          &camera, NULL,   IMAGES,      image_camera,
        keypoint_begin, *keypoints, PAIRS,   *pairs, match_begin, *matches};
    const psfm_calibration_options options = {.struct_size = sizeof options, .distortion = -1};
    psfm_calibration_result result = {.struct_size = sizeof result};
    psfm_context *ctx = psfm_context_create();
    psfm_status status = psfm_calibrate_cameras(ctx, &images, &options, sigma, &result);
    if (status != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    else
        printf("%zu focal length determined from %u plane: within 1 %% of %.0f: %s, sigma below "
               "2 %%: %s\n",
               result.num_determined, result.num_planes, truth.params[0],
               fabs(log(camera.params[0] / truth.params[0])) < 0.01 ? "yes" : "no",
               sigma[0] < 0.02 ? "yes" : "no");
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}

/* A lens: which parameters it has, whether they make sense, pixels to rays and back; and what a
 * context says. cc cameras.c $(pkg-config --cflags --libs planarsfm-core) */
#include <planarsfm/core.h>
#include <stdio.h>

static void print_line(psfm_log_level level, const char *message, void *user) {
    fprintf(user, "%d: %s\n", (int)level, message);
}

static int stop_never(const char *stage, size_t done, size_t total, void *user) {
    (void)stage, (void)done, (void)total, (void)user;
    return 0;
}

int main(void) {
    psfm_context *ctx = psfm_context_create();
    psfm_camera camera = {
        .id = 1, .width = 1280, .height = 960, .params = {900, 640, 480, -0.1, 0.02}};
    const double xy[2] = {100.5, 200.5};
    double ray[3], back[2], derivative[6], K[9], many[2][2] = {{10, 20}, {640, 480}}, rays[2][3];
    psfm_context_set_log(ctx, print_line, stderr);
    psfm_context_set_progress(ctx, stop_never, NULL);
    psfm_context_set_threads(ctx, 2); /* results do not depend on them */
    psfm_context_set_seed(ctx, 7);    /* but on the seed */
    printf("%d threads, seed %u\n", psfm_context_threads(ctx), (unsigned)psfm_context_seed(ctx));
    if (!psfm_camera_model_from_name("RADIAL", &camera.model) ||
        psfm_camera_check(ctx, &camera) != PSFM_OK || !psfm_camera_unproject(&camera, xy, ray) ||
        !psfm_camera_project(&camera, ray, back) ||
        !psfm_camera_project_jacobian(&camera, ray, back, derivative))
        return 1;
    printf("%s has %d parameters; the ray %.4f %.4f %.4f has the pixel %.1f %.1f\n",
           psfm_camera_model_name(camera.model), psfm_camera_num_params(camera.model), ray[0],
           ray[1], ray[2], back[0], back[1]);
    psfm_camera_unproject_points(&camera, 2, *many, *rays);
    psfm_camera_project_points(&camera, 2, *rays, *many);
    if (psfm_camera_matrix(&camera, K))
        printf("focal length %.0f; two pixels again: %.1f %.1f, %.1f %.1f\n", K[0], many[0][0],
               many[0][1], many[1][0], many[1][1]);
    camera.params[0] = -900;
    psfm_status status = psfm_camera_check(ctx, &camera);
    printf("%s error: %s\n", psfm_status_name(status), psfm_context_message(ctx));
    printf("version %s\n", psfm_version());
    psfm_context_destroy(&ctx);
    return 0;
}

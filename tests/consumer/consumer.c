/* A program that knows only the installed headers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <planarsfm/planarsfm.h>

int main(void) {
    psfm_context *ctx = psfm_context_create();
    psfm_settings *settings = psfm_settings_create();
    if (ctx == NULL || settings == NULL)
        return 1;
    psfm_camera camera = {.id = 1,
                          .model = PSFM_CAMERA_PINHOLE,
                          .width = 1280,
                          .height = 720,
                          .params = {1200, 1200, 640, 360}};
    double xy[2] = {900.5, 100.25}, ray[3], back[2];
    if (!psfm_camera_unproject(&camera, xy, ray) || !psfm_camera_project(&camera, ray, back) ||
        fabs(back[0] - xy[0]) > 1e-9 || fabs(back[1] - xy[1]) > 1e-9)
        return 1;
    if (psfm_settings_set(ctx, settings, "twoview.max-error-px", "3") != PSFM_OK ||
        psfm_settings_set(ctx, settings, "twoview.max-error-px", "three") != PSFM_ERR_ARGUMENT)
        return 1;
    if (psfm_reconstruct_database(ctx, "missing.db", settings, "out-of-consumer") == PSFM_OK ||
        strstr(psfm_context_message(ctx), "missing.db") == NULL)
        return 1;
    printf("planarsfm %s: consumer works\n", PSFM_VERSION);
    psfm_settings_destroy(&settings);
    psfm_context_destroy(&ctx);
    return 0;
}

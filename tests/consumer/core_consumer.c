/* A program that knows only the core. */
#include <planarsfm/camera.h>
#include <planarsfm/version.h>
#include <stdio.h>

int main(void) {
    psfm_camera camera = {.id = 1, .model = PSFM_CAMERA_PINHOLE, .params = {1200, 1200, 640, 360}};
    double xy[2] = {640, 360}, ray[3];
    if (!psfm_camera_unproject(&camera, xy, ray) || ray[2] < 1.0)
        return 1;
    printf("planarsfm %s: consumer of the core works\n", psfm_version());
    return 0;
}

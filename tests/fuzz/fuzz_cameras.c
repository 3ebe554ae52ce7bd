/* Files of cameras as --cameras takes them, text or binary by the first byte; what is accepted
 * gives a photograph a sane camera of its size. */
#include "core/camera/camera_model.h"
#include "frontend/intrinsics.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    psfm_intrinsics intrinsics = {0};
    psfm_photo_facts photo = {"a.jpg", 640, 480, 0.0, NULL};
    psfm_camera camera;
    char *source = NULL;
    if (size == 0)
        return 0;
    psfm_intrinsics_options options = {.opencv_pixels = data[0] % 4 >= 2};
    options.cameras_path =
        fuzz_file(data[0] % 2 == 0 ? "cameras.txt" : "cameras.bin", data + 1, size - 1);
    if (psfm_intrinsics_open(NULL, &options, &intrinsics) == PSFM_OK) {
        if (intrinsics.kind == PSFM_INTRINSICS_ONE &&
            psfm_camera_check(NULL, &intrinsics.camera) != PSFM_OK)
            abort();
        if (psfm_intrinsics_find(NULL, &intrinsics, &photo, &camera, &source) == PSFM_OK &&
            (psfm_camera_check(NULL, &camera) != PSFM_OK || camera.width != 640 ||
             camera.height != 480))
            abort();
    }
    free(source);
    psfm_intrinsics_free(&intrinsics);
    return 0;
}

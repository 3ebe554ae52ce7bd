/* Intrinsics as programs that calibrate cameras write them. */
#ifndef PSFM_FORMATS_CALIBRATION_FILE_H
#define PSFM_FORMATS_CALIBRATION_FILE_H

#include "core/base/context.h"
#include "planarsfm/camera.h"

/* A camera by the name that the file calls it. */
typedef struct {
    char *name;
    psfm_camera camera; /* width and height 0: the file does not say */
} psfm_calibrated_camera;

/* Owns its cameras. */
typedef struct {
    psfm_calibrated_camera *items;
    size_t num, capacity;
} psfm_calibration;

/* Reads cameras of a text: OpenCV's YAML, XML and JSON (also ROS and EasyMocap's intri.yml),
 * Kalibr's camchain, Agisoft's XML, the TOML of Pose2Sim, Caliscope and Anipose, or lines "name fx
 * fy cx cy [k1 k2 [p1 p2 [k3 ...]]]". `stem` is the name of a camera that has none in the file.
 *
 * All of these count pixels from the centre of the first one, but Agisoft, which counts from the
 * middle of the image; cameras here have COLMAP's half pixel more. Of a line's file nothing is
 * known: shift_lists adds it there. PSFM_ERR_FORMAT names what is wrong, also a lens that no camera
 * model has. *num_found 0 with PSFM_OK: it is no calibration. Free in any case. */
psfm_status psfm_calibration_parse(psfm_context *ctx, const char *text, size_t size,
                                   const char *path, const char *stem, bool shift_lists,
                                   psfm_calibration *out);

/* The same from a file, or from all files of a folder that end in .yml, .yaml, .xml, .json, .toml
 * or .txt, by name. */
psfm_status psfm_calibration_read(psfm_context *ctx, const char *path, bool shift_lists,
                                  psfm_calibration *out);
void psfm_calibration_free(psfm_calibration *calibration);

/* The camera of a photograph: the one whose name is the photograph's, the name less its ending, one
 * of its folders, or the beginning of its name before something that is no letter or digit; the
 * longest name if there are several; the only camera of a file for all. NULL: none. */
const psfm_camera *psfm_calibration_find(const psfm_calibration *calibration, const char *image);

#endif

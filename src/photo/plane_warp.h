/* The map between two photographs of a plane about one point. */
#ifndef PSFM_PHOTO_PLANE_WARP_H
#define PSFM_PHOTO_PLANE_WARP_H

#include <stdbool.h>

#include "planarsfm/camera.h"

/* Pixel of image 2 that shows what image 1 shows at xy1 + (u, v):
 *   x = x[0] + x[1] u + x[2] v + x[3] u^2 + x[4] u v + x[5] v^2, y likewise, all in pixels.
 * The second order is what perspective and lens distortion leave over a patch. */
typedef struct {
    double x[6], y[6];
} psfm_plane_warp;

/* Expands the map about xy1 from its exact values at nine points, `reach` pixels apart: pixel to
 * ray, H_21 (ray2 ~ H_21 ray1), ray to pixel. False if one of them has no image. */
bool psfm_plane_warp_make(const psfm_camera *camera1, const double xy1[2],
                          const psfm_camera *camera2, const double H_21[9], double reach,
                          psfm_plane_warp *warp);

/* The value at (u, v). */
void psfm_plane_warp_at(const psfm_plane_warp *warp, double u, double v, double xy2[2]);

/* The same map expanded about (u, v). */
void psfm_plane_warp_move(const psfm_plane_warp *warp, double u, double v, psfm_plane_warp *moved);

/* Square root of the area that a pixel of image 1 covers in image 2, and in *anisotropy the ratio
 * of the longest to the shortest extent of its image; 0 if the image is turned over. */
double psfm_plane_warp_zoom(const psfm_plane_warp *warp, double *anisotropy);

#endif

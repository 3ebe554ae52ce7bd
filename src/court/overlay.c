/* Parts are cut into short segments, and those of which both ends are in the photograph are painted
 * as straight strokes: a segment is too short to show the distortion of the lens. */
#include "court/overlay.h"

#include <math.h>

#include "core/linalg/mat3.h"

#define SEGMENTS 200      /* of a line as long as the drawing is large */
#define CONFIRMED 0.5     /* share of a part's pixels */
#define MAX_STROKE 4000.0 /* pixels; longer ones come from the edge of a lens's range */

static const uint8_t found_color[3] = {255, 0, 200}, missed_color[3] = {255, 210, 0};

static void paint_pixel(psfm_image *image, int x, int y, const uint8_t color[3]) {
    if (x < 0 || y < 0 || x >= image->width || y >= image->height)
        return;
    size_t at = (size_t)y * (size_t)image->width + (size_t)x;
    for (int c = 0; c < 3; ++c)
        image->rgb[3 * at + (size_t)c] = color[c];
    image->gray[at] = psfm_luma(color[0], color[1], color[2]);
}

/* A stroke as wide as a thousandth of the photograph, at least a pixel. */
static void paint_stroke(psfm_image *image, const double a[2], const double b[2],
                         const uint8_t color[3]) {
    double length = hypot(b[0] - a[0], b[1] - a[1]);
    int wide = image->width / 1000;
    if (!(length < MAX_STROKE))
        return;
    int num_steps = (int)(2.0 * length);
    for (int k = 0; k <= num_steps; ++k) {
        double share = length > 0.0 ? 0.5 * k / length : 0.0;
        int x = (int)floor(a[0] + share * (b[0] - a[0]));
        int y = (int)floor(a[1] + share * (b[1] - a[1]));
        for (int v = 0; v <= wide; ++v)
            for (int u = 0; u <= wide; ++u)
                paint_pixel(image, x + u - wide / 2, y + v - wide / 2, color);
    }
}

/* The pixel of a place of the drawing; false if the camera does not see it. */
static bool project_place(const psfm_court_pose *pose, const double at[2], double xy[2]) {
    double X[3] = {at[0], at[1], 0.0}, q[3];
    psfm_mat3_mul_vec(pose->R, X, q);
    for (int d = 0; d < 3; ++d)
        q[d] += pose->t[d];
    return q[2] > 0.0 && psfm_camera_project(&pose->camera, q, xy) && xy[0] > -100.0 &&
           xy[1] > -100.0 && xy[0] < (double)pose->camera.width + 100.0 &&
           xy[1] < (double)pose->camera.height + 100.0;
}

static void paint_part(const psfm_drawing *drawing, size_t k, const psfm_court_pose *pose,
                       double step, psfm_image *image) {
    double visible = pose->part_visible[k];
    bool found = visible > 0.0 && pose->part_hit[k] >= CONFIRMED * visible;
    const uint8_t *color = found ? found_color : missed_color;
    int segments = (int)fmax(ceil(psfm_drawing_part_length(&drawing->parts[k]) / step), 1.0);
    double before[2] = {0}, here[2];
    bool had = false;
    for (int j = 0; j <= segments; ++j) {
        double at[2];
        psfm_drawing_part_at(&drawing->parts[k], (double)j / segments, at);
        bool has = project_place(pose, at, here);
        if (has && had)
            paint_stroke(image, before, here, color);
        before[0] = here[0];
        before[1] = here[1];
        had = has;
    }
}

void psfm_court_overlay(const psfm_drawing *drawing, const psfm_court_pose *pose,
                        psfm_image *image) {
    size_t num = (size_t)image->width * (size_t)image->height;
    double step = psfm_drawing_size(drawing) / SEGMENTS;
    for (size_t k = 0; k < 3 * num; ++k)
        image->rgb[k] = (uint8_t)(image->rgb[k] * 3 / 5);
    for (size_t k = 0; k < num; ++k)
        image->gray[k] = (uint8_t)(image->gray[k] * 3 / 5);
    for (size_t k = 0; k < drawing->num_parts; ++k)
        paint_part(drawing, k, pose, step, image);
}

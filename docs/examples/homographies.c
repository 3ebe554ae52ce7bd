/* Two images of a floor and a wall, a fifth of the matches wrong: their homographies, and the
 * motion behind each. cc homographies.c $(pkg-config --cflags --libs planarsfm-core) -lm */
#include <math.h>
#include <planarsfm/core.h>
#include <stdio.h>

enum { POINTS = 120 };

/* Camera 2 is turned by 0.2 about y and at (1, -0.3, 0.4); camera 1 is the world. */
static int look(const psfm_camera *camera, int second, const double X[3], double xy[2]) {
    double c = cos(0.2), s = sin(0.2),
           d[3] = {X[0] - second, X[1] + 0.3 * second, X[2] - 0.4 * second};
    double ray[3] = {c * d[0] - s * d[2], d[1], s * d[0] + c * d[2]};
    return psfm_camera_project(camera, second ? ray : X, xy);
}

int main(void) {
    const psfm_camera camera = {
        .model = PSFM_CAMERA_PINHOLE, .width = 1280, .height = 960, .params = {900, 900, 640, 480}};
    double xy1[POINTS][2], xy2[POINTS][2], H_21[4][9], ray1[POINTS][3], ray2[POINTS][3];
    int32_t plane[POINTS];
    size_t num_planes, num_motions;
    for (int k = 0; k < POINTS; ++k) {
        double u = fmod(0.618034 * k, 1), v = fmod(0.754878 * k, 1);
        double floor_point[3] = {4 * u - 2, 1.5, 4 + 4 * v},
               wall_point[3] = {4 * u - 2, v - 0.8, 9};
        const double *X = k % 2 ? wall_point : floor_point;
        if (!look(&camera, 0, X, xy1[k]) || !look(&camera, 1, X, xy2[k]))
            return 1;
        if (k % 5 == 0)
            xy2[k][0] += 40 + 3 * k; /* a wrong match */
    }
    psfm_context *ctx = psfm_context_create();
    psfm_matched_points points = {sizeof points, POINTS, *xy1, *xy2, &camera, &camera};
    psfm_homography_options options = {.struct_size = sizeof options, .max_error_px = 2};
    psfm_status status =
        psfm_find_homographies(ctx, &points, &options, 4, *H_21, plane, &num_planes);
    for (int p = 0; status == PSFM_OK && p < (int)num_planes; ++p) {
        psfm_plane_motion motions[2];
        size_t num = 0;
        for (int k = 0; k < POINTS; ++k)
            if (plane[k] == p && psfm_camera_unproject(&camera, xy1[k], ray1[num]) &&
                psfm_camera_unproject(&camera, xy2[k], ray2[num]))
                ++num;
        printf("plane %d: %zu inliers\n", p, num);
        status = psfm_decompose_homography(ctx, H_21[p], num, *ray1, *ray2, motions, &num_motions);
        for (size_t m = 0; status == PSFM_OK && m < num_motions; ++m)
            printf("  normal %.2f %.2f %.2f, baseline %.3f %.3f %.3f, turned by %.3f\n",
                   motions[m].n1[0], motions[m].n1[1], motions[m].n1[2], motions[m].t_21[0],
                   motions[m].t_21[1], motions[m].t_21[2], asin(motions[m].R_21[6]));
    }
    if (status != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    psfm_context_destroy(&ctx);
    return status != PSFM_OK;
}

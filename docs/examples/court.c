/* The pose of one photograph of a painted yard, from its lines alone. The photograph is drawn here.
 * cc court.c $(pkg-config --cflags --libs planarsfm) -lm */
#include <math.h>
#include <planarsfm/planarsfm.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 960, HEIGHT = 640, LINES = 8 };

static const double line[LINES][4] = {{-6, -4, 6, -4}, {6, -4, 6, 4}, {6, 4, -6, 4},
                                      {-6, 4, -6, -4}, {-6, 1, 2, 1}, {2, -4, 2, 4},
                                      {-3, 1, -3, 4},  {2, -1, 6, -1}};

/* Paints a line 8 cm wide as the camera sees it: 2 m above the yard's far side, looking down. */
static void paint_line(const psfm_camera *camera, const double l[4], uint8_t *pixels) {
    const double c = cos(0.6), s = sin(0.6), center[3] = {1, -11, 6};
    double dx = l[2] - l[0], dy = l[3] - l[1], length = sqrt(dx * dx + dy * dy);
    for (int k = 0; k < 4000; ++k)
        for (int side = -20; side <= 20; ++side) {
            double x = l[0] + dx * k / 4000 - dy / length * side * 0.002 - center[0];
            double y = l[1] + dy * k / 4000 + dx / length * side * 0.002 - center[1];
            double ray[3] = {x, s * -y + c * center[2], c * y + s * center[2]}, xy[2];
            if (psfm_camera_project(camera, ray, xy) && xy[0] >= 0 && xy[0] < WIDTH && xy[1] >= 0 &&
                xy[1] < HEIGHT)
                pixels[(int)xy[1] * WIDTH + (int)xy[0]] = 230;
        }
}

static int write_drawing(const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 0;
    fprintf(file, "{\"name\": \"yard\", \"lines\": [");
    for (int k = 0; k < LINES; ++k)
        fprintf(file, "%s[%g, %g, %g, %g]", k > 0 ? ", " : "", line[k][0], line[k][1], line[k][2],
                line[k][3]);
    fprintf(file, "]}\n");
    return fclose(file) == 0;
}

int main(void) {
    const psfm_camera camera = {.id = 1,
                                .model = PSFM_CAMERA_PINHOLE,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .params = {800, 800, 480, 320}};
    uint8_t *pixels = malloc(WIDTH * HEIGHT);
    if (pixels == NULL || !write_drawing("yard.json"))
        return 1;
    for (int k = 0; k < WIDTH * HEIGHT; ++k)
        pixels[k] = (uint8_t)(90 + k % 7919 % 5);
    for (int k = 0; k < LINES; ++k)
        paint_line(&camera, line[k], pixels);
    psfm_context *ctx = psfm_context_create();
    psfm_settings *settings = psfm_settings_create();
    psfm_photograph photo = {sizeof photo, WIDTH, HEIGHT, 1, pixels, &camera};
    psfm_registration found = {.struct_size = sizeof found};
    psfm_status status = psfm_settings_set(ctx, settings, "drawing", "yard.json");
    if (status == PSFM_OK)
        status = psfm_register_photograph(ctx, &photo, settings, &found);
    if (status != PSFM_OK)
        fprintf(stderr, "%s\n", psfm_context_message(ctx));
    else
        printf("%s; camera at %.1f %.1f %.1f\n", found.verdict, found.center[0], found.center[1],
               found.center[2]);
    psfm_settings_destroy(&settings);
    psfm_context_destroy(&ctx);
    free(pixels);
    return status != PSFM_OK;
}

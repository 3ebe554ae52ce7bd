/* Photographs of a court made worse, with their truth:
 *
 *     bench_court_spoil HOW SET OUT [EVERY]
 *
 * HOW: none; half (the resolution); noise (of 15 grey levels); crop (to 60 % of width and height
 * about the middle); third (to 35 %, anywhere); people (dark and light upright figures over 30 % of
 * the basketball lines in sight); focal (OUT/cameras has focal lengths that are 8 % too long).
 * Reads and writes sets as bench_courts does, of every EVERY-th photograph; same arguments, same
 * bytes.
 */
#include "../court_truth.h"
#include "core/base/alloc.h"
#include "core/base/path.h"
#include "core/base/rng.h"
#include "core/camera/camera_convert.h"
#include "core/camera/camera_model.h"
#include "court/drawing.h"
#include "images/image/image_io.h"
#include "images/image/resize.h"

#define NOISE 15.0 /* grey levels */
#define HIDDEN 0.3 /* share of the lines behind people */
#define FOCAL 1.08 /* factor */
#define TALL 1.85  /* metres */
#define STOUT 0.25 /* half the width of a person, metres */

static psfm_context *ctx;

/* A photograph, its camera and its truth. */
typedef struct {
    psfm_image image;
    psfm_camera *camera;
    const psfm_model_image *truth;
    psfm_rng rng;
} photo;

static uint8_t level(double value) {
    return (uint8_t)lround(fmin(fmax(value, 0.0), 255.0));
}

static void add_noise(photo *p) {
    size_t n = 3 * (size_t)p->image.width * (size_t)p->image.height;
    for (size_t k = 0; k < n; ++k)
        p->image.rgb[k] = level(p->image.rgb[k] + NOISE * psfm_rng_normal(&p->rng));
}

static void halve(photo *p) {
    psfm_image small;
    court_check(ctx,
                psfm_image_shrink(ctx, &p->image, p->image.width / 2, p->image.height / 2, &small));
    psfm_camera_scale(p->camera, (uint64_t)small.width, (uint64_t)small.height);
    psfm_image_free(&p->image);
    p->image = small;
}

static void crop(photo *p, double share, bool is_central) {
    const psfm_camera_model_info *info = psfm_camera_model_get(p->camera->model);
    int width = (int)(share * p->image.width), height = (int)(share * p->image.height);
    size_t spare[2] = {(size_t)(p->image.width - width), (size_t)(p->image.height - height)};
    size_t left = is_central ? spare[0] / 2 : psfm_rng_below(&p->rng, spare[0]);
    size_t top = is_central ? spare[1] / 2 : psfm_rng_below(&p->rng, spare[1]);
    psfm_image part;
    court_check(ctx, psfm_image_init(ctx, width, height, PSFM_IMAGE_GRAY_AND_RGB, &part));
    for (size_t y = 0; y < (size_t)height; ++y)
        memcpy(part.rgb + 3 * y * (size_t)width,
               p->image.rgb + 3 * ((y + top) * (size_t)p->image.width + left), 3 * (size_t)width);
    p->camera->params[info->center[0]] -= (double)left;
    p->camera->params[info->center[1]] -= (double)top;
    p->camera->width = (uint64_t)width;
    p->camera->height = (uint64_t)height;
    psfm_image_free(&p->image);
    p->image = part;
}

/* ---- people ---- */

static bool project(const photo *p, const double at[3], double xy[2]) {
    double R[9], ray[3];
    psfm_rotation_from_quat(p->truth->cam_from_world_q, R);
    psfm_mat3_mul_vec(R, at, ray);
    psfm_axpy3(ray, 1.0, p->truth->cam_from_world_t, ray);
    return ray[2] > 0.0 && psfm_camera_project(p->camera, ray, xy);
}

/* A person in the photograph: a band from foot to head with round ends. */
typedef struct {
    double foot[2], head[2], radius;
} figure;

static bool make_figure(photo *p, figure *f) {
    double center[3], away[3];
    double at[3] = {psfm_rng_range(&p->rng, -14, 14), psfm_rng_range(&p->rng, -7.5, 7.5), STOUT};
    psfm_model_image_center(p->truth, center);
    psfm_sub3(at, center, away);
    bool seen = project(p, at, f->foot);
    f->radius = STOUT * p->camera->params[0] / psfm_norm3(away);
    at[2] = TALL - STOUT;
    return seen && project(p, at, f->head);
}

static bool covers(const figure *f, const double xy[2]) {
    double x = f->head[0] - f->foot[0], y = f->head[1] - f->foot[1];
    double dx = xy[0] - f->foot[0], dy = xy[1] - f->foot[1];
    double t = fmin(fmax((dx * x + dy * y) / (x * x + y * y), 0.0), 1.0);
    return hypot(dx - t * x, dy - t * y) < f->radius;
}

static void paint_figure(photo *p, const figure *f) {
    double rgb[3];
    for (int k = 0; k < 3; ++k)
        rgb[k] = psfm_rng_range(&p->rng, 10.0, 240.0);
    int x0 = (int)fmax(fmin(f->foot[0], f->head[0]) - f->radius, 0.0);
    int y0 = (int)fmax(fmin(f->foot[1], f->head[1]) - f->radius, 0.0);
    double x1 = fmax(f->foot[0], f->head[0]) + f->radius;
    double y1 = fmax(f->foot[1], f->head[1]) + f->radius;
    for (int y = y0; y < p->image.height && y < y1; ++y)
        for (int x = x0; x < p->image.width && x < x1; ++x) {
            const double xy[2] = {x + 0.5, y + 0.5};
            uint8_t *pixel = p->image.rgb + 3 * ((size_t)y * (size_t)p->image.width + (size_t)x);
            if (!covers(f, xy))
                continue;
            double shade = 12.0 * psfm_rng_normal(&p->rng);
            for (int k = 0; k < 3; ++k)
                pixel[k] = level(rgb[k] + shade);
        }
}

/* Places of the basketball lines that the photograph shows. */
static size_t visible_lines(const photo *p, double (**places)[2]) {
    psfm_court court;
    psfm_drawing drawing;
    psfm_drawing_sample *samples;
    size_t num, seen = 0;
    psfm_court_get("basketball", &court);
    court_check(ctx, psfm_drawing_from_court(ctx, &court, &drawing));
    court_check(ctx, psfm_drawing_sample_lines(ctx, &drawing, 0.2, &samples, &num));
    court_check(ctx, PSFM_ALLOC(ctx, num, places));
    for (size_t k = 0; k < num; ++k) {
        const double at[3] = {(double)samples[k].x, (double)samples[k].y, 0.0};
        double *xy = (*places)[seen];
        seen += project(p, at, xy) && xy[0] >= 0.0 && xy[1] >= 0.0 && xy[0] < p->image.width &&
                xy[1] < p->image.height;
    }
    psfm_drawing_free(&drawing);
    free(samples);
    return seen;
}

static void add_people(photo *p) {
    double(*places)[2];
    size_t num = visible_lines(p, &places), left = num;
    while ((double)(num - left) < HIDDEN * (double)num) {
        figure f;
        size_t kept = 0;
        if (!make_figure(p, &f))
            continue;
        paint_figure(p, &f);
        for (size_t k = 0; k < left; ++k)
            if (!covers(&f, places[k]))
                memcpy(places[kept++], places[k], sizeof *places);
        left = kept;
    }
    free(places);
}

/* ---- sets ---- */

static bool spoil(const char *how, photo *p) {
    if (strcmp(how, "half") == 0)
        halve(p);
    else if (strcmp(how, "noise") == 0)
        add_noise(p);
    else if (strcmp(how, "crop") == 0)
        crop(p, 0.6, true);
    else if (strcmp(how, "third") == 0)
        crop(p, 0.35, false);
    else if (strcmp(how, "people") == 0)
        add_people(p);
    else
        return strcmp(how, "none") == 0 || strcmp(how, "focal") == 0;
    return true;
}

/* Only cameras and poses stay. */
static void drop_points(psfm_model *gt) {
    for (size_t k = 0; k < gt->num_points; ++k)
        free(gt->points[k].track);
    gt->num_points = 0;
    for (size_t k = 0; k < gt->num_images; ++k) {
        free(gt->images[k].keypoints);
        free(gt->images[k].point3D_ids);
        gt->images[k].keypoints = NULL;
        gt->images[k].point3D_ids = NULL;
        gt->images[k].num_keypoints = 0;
    }
}

/* A camera for each image, since crops differ; only every so many-th image stays. */
static void thin_out(psfm_model *gt, size_t every) {
    psfm_camera *cameras;
    size_t num = 0;
    court_check(ctx, PSFM_ALLOC(ctx, gt->num_images, &cameras));
    for (size_t k = 0; k < gt->num_images; ++k) {
        psfm_model_image *image = &gt->images[k];
        if (k % every != 0) {
            free(image->name);
            continue;
        }
        cameras[num] = *psfm_model_camera(gt, image->camera_id);
        cameras[num].id = image->camera_id = (uint32_t)num + 1;
        gt->images[num++] = *image;
    }
    free(gt->cameras);
    gt->cameras = cameras;
    gt->num_cameras = gt->num_images = num;
}

static void write_wrong_focals(psfm_model *gt, const char *path) {
    for (size_t k = 0; k < gt->num_cameras; ++k) {
        const psfm_camera_model_info *info = psfm_camera_model_get(gt->cameras[k].model);
        gt->cameras[k].params[info->focal[0]] *= FOCAL;
        if (info->focal[1] != info->focal[0])
            gt->cameras[k].params[info->focal[1]] *= FOCAL;
    }
    court_check(ctx, psfm_model_write(ctx, gt, PSFM_MODEL_TEXT, path));
}

int main(int argc, char **argv) {
    char path[4096];
    psfm_model gt;
    ctx = psfm_context_create();
    if (ctx == NULL || argc < 4) {
        fprintf(stderr, "usage: bench_court_spoil HOW SET OUT [EVERY]\n");
        return 2;
    }
    const char *how = argv[1], *set = argv[2], *out = argv[3];
    snprintf(path, sizeof path, "%s/gt", set);
    court_check(ctx, psfm_model_read(ctx, path, &gt));
    drop_points(&gt);
    thin_out(&gt, argc > 4 ? (size_t)fmax(atof(argv[4]), 1.0) : 1);
    snprintf(path, sizeof path, "%s/images", out);
    court_check(ctx, psfm_make_folders(ctx, path));
    for (size_t k = 0; k < gt.num_images; ++k) {
        photo p = {.camera = &gt.cameras[k],
                   .truth = &gt.images[k],
                   .rng = psfm_rng_make(1, PSFM_RNG_BENCH, k, 0)};
        snprintf(path, sizeof path, "%s/images/%s", set, gt.images[k].name);
        court_check(ctx, psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, &p.image));
        if (!spoil(how, &p))
            return 2;
        snprintf(path, sizeof path, "%s/images/%s", out, gt.images[k].name);
        court_check(ctx, psfm_image_write(ctx, &p.image, 95, path));
        psfm_image_free(&p.image);
    }
    snprintf(path, sizeof path, "%s/gt", out);
    court_check(ctx, psfm_model_write(ctx, &gt, PSFM_MODEL_TEXT, path));
    snprintf(path, sizeof path, "%s/cameras", out);
    if (strcmp(how, "focal") == 0)
        write_wrong_focals(&gt, path);
    psfm_model_free(&gt);
    psfm_context_destroy(&ctx);
    return 0;
}

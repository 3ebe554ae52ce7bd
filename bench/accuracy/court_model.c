/* A model that `run --court` made, compared with the truth in the frame of the court:
 *
 *     bench_court_model GT MODEL [NAME]
 *
 * One line: photographs of the truth, how many of them are in the model, right (below 3 degrees and
 * 1 m), wrong, the medians over those in the model, and the largest error of a focal length in per
 * cent. The whole model may be half a turn away: of the two turns the one with more right poses
 * counts. A MODEL that is not there has no photographs. */
#include "../court_truth.h"
#include "core/base/path.h"

#define MAX_PHOTOS 4096

typedef struct {
    size_t num, right;
    double deg[MAX_PHOTOS], m[MAX_PHOTOS];
    double focal;
} result;

static const psfm_model_image *find(const psfm_model *model, const char *name) {
    for (size_t k = 0; k < model->num_images; ++k)
        if (strcmp(model->images[k].name, name) == 0)
            return &model->images[k];
    return NULL;
}

static void judge(const psfm_model *gt, const psfm_model *model, int quarters, result *out) {
    *out = (result){0};
    for (size_t k = 0; k < model->num_images && out->num < MAX_PHOTOS; ++k) {
        const psfm_model_image *image = &model->images[k], *truth = find(gt, image->name);
        double R[9], center[3], deg, m;
        if (truth == NULL)
            continue;
        psfm_rotation_from_quat(image->cam_from_world_q, R);
        psfm_model_image_center(image, center);
        court_error(truth, quarters, R, center, &deg, &m);
        double focal = psfm_model_camera(model, image->camera_id)->params[0] /
                       psfm_model_camera(gt, truth->camera_id)->params[0];
        out->deg[out->num] = deg;
        out->m[out->num++] = m;
        out->right += court_is_right(deg, m);
        out->focal = fmax(out->focal, 100.0 * fabs(focal - 1.0));
    }
}

int main(int argc, char **argv) {
    static result results[2];
    psfm_context *ctx = psfm_context_create();
    psfm_model gt, model = {0};
    if (ctx == NULL || argc < 3) {
        fprintf(stderr, "usage: bench_court_model GT MODEL [NAME]\n");
        return 2;
    }
    court_check(ctx, psfm_model_read(ctx, argv[1], &gt));
    if (psfm_path_is_folder(argv[2]))
        court_check(ctx, psfm_model_read(ctx, argv[2], &model));
    for (int k = 0; k < 2; ++k)
        judge(&gt, &model, 2 * k, &results[k]);
    result *best = results[1].right > results[0].right ? &results[1] : &results[0];
    printf("%-44s %6zu %6zu %6zu %6zu %8.2f %8.3f %8.2f\n", argc > 3 ? argv[3] : argv[2],
           gt.num_images, best->num, best->right, best->num - best->right,
           court_median(best->deg, best->num), court_median(best->m, best->num), best->focal);
    psfm_model_free(&gt);
    psfm_model_free(&model);
    psfm_context_destroy(&ctx);
    return 0;
}

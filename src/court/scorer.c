/* The inner loop of the search: samples of the drawing are projected in blocks without branches, so
 * that the compiler makes vectors of it, and the evidence is then looked up one by one. */
#include "court/scorer.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "linalg/mat3.h"

#define MAX_LENGTH 12.0F /* pixels of line that one sample stands for at most */

/* What a block of samples hits. */
typedef struct {
    int at[PSFM_SCORER_BLOCK];       /* index into the maps; -1: not in the image */
    float length[PSFM_SCORER_BLOCK]; /* pixels */
} hits;

psfm_status psfm_scorer_init(psfm_context *ctx, const psfm_search_plan *plan,
                             const psfm_line_evidence *evidence, psfm_scorer *scorer) {
    size_t blocks = (plan->num_coarse + PSFM_SCORER_BLOCK - 1) / PSFM_SCORER_BLOCK;
    size_t num = blocks * PSFM_SCORER_BLOCK;
    *scorer = (psfm_scorer){.evidence = evidence,
                            .paint = plan->drawing->paint,
                            .num = num,
                            .step = (float)plan->coarse_step,
                            .min_depth = (float)(plan->size / 32.0)};
    psfm_status status = PSFM_ALLOC(ctx, 6 * num, &scorer->memory);
    for (size_t d = 0; d < 3 && status == PSFM_OK; ++d) {
        scorer->p[d] = scorer->memory + d * num;
        scorer->t[d] = scorer->memory + (d + 3) * num;
    }
    return status;
}

void psfm_scorer_free(psfm_scorer *scorer) {
    free(scorer->memory);
    *scorer = (psfm_scorer){0};
}

void psfm_scorer_turn(psfm_scorer *scorer, const psfm_search_plan *plan, const psfm_camera *camera,
                      const double R[9]) {
    const double *c = camera->params;
    const double K[9] = {c[0], 0.0, c[2], 0.0, c[1], c[3], 0.0, 0.0, 1.0};
    psfm_mat3_mul(K, R, scorer->A);
    for (size_t k = 0; k < scorer->num; ++k) {
        bool real = k < plan->num_coarse;
        psfm_drawing_sample s = real ? plan->coarse[k] : (psfm_drawing_sample){0};
        for (int d = 0; d < 3; ++d) {
            float a = (float)scorer->A[3 * d], b = (float)scorer->A[3 * d + 1];
            scorer->p[d][k] = a * s.x + b * s.y;
            scorer->t[d][k] = a * s.tx + b * s.ty;
        }
        if (!real)
            scorer->p[2][k] = -1e30F; /* behind every camera */
    }
}

/* Projects a block of samples, branch-free for vectors. */
static void find_hits(const psfm_scorer *s, const float c[3], size_t first, hits *out) {
    const float *px = s->p[0] + first, *py = s->p[1] + first, *pz = s->p[2] + first;
    const float *tx = s->t[0] + first, *ty = s->t[1] + first, *tz = s->t[2] + first;
    const int w = s->evidence->coarse_width, h = s->evidence->coarse_height;
    const float width = (float)s->evidence->width, height = (float)s->evidence->height;
    for (int k = 0; k < PSFM_SCORER_BLOCK; ++k) {
        float z = pz[k] - c[2];
        bool front = z > s->min_depth;
        float inverse = 1.0F / (front ? z : 1.0F);
        float x = (px[k] - c[0]) * inverse, y = (py[k] - c[1]) * inverse;
        float dx = (tx[k] - x * tz[k]) * inverse, dy = (ty[k] - y * tz[k]) * inverse;
        bool inside = front & (x >= 0.0F) & (y >= 0.0F) & (x < width) & (y < height);
        float length = sqrtf(dx * dx + dy * dy) * s->step;
        int u = (int)(inside ? x : 0.0F) / PSFM_COARSE, v = (int)(inside ? y : 0.0F) / PSFM_COARSE;
        int at = (psfm_way(dx, dy) * h + v) * w + u;
        out->at[k] = inside ? at : -1;
        out->length[k] = length < MAX_LENGTH ? length : MAX_LENGTH;
    }
}

double psfm_scorer_score(const psfm_scorer *scorer, const double center[3], size_t num_samples) {
    double moved[3];
    const int8_t *light = scorer->evidence->coarse[0], *dark = scorer->evidence->coarse[1];
    float sum[2] = {0.0F, 0.0F};
    psfm_mat3_mul_vec(scorer->A, center, moved);
    const float c[3] = {(float)moved[0], (float)moved[1], (float)moved[2]};
    for (size_t first = 0; first < scorer->num && first < num_samples; first += PSFM_SCORER_BLOCK) {
        hits block;
        find_hits(scorer, c, first, &block);
        for (int k = 0; k < PSFM_SCORER_BLOCK; ++k) {
            if (block.at[k] < 0)
                continue;
            sum[0] += block.length[k] * (float)light[block.at[k]];
            sum[1] += block.length[k] * (float)dark[block.at[k]];
        }
    }
    double best = scorer->paint == PSFM_PAINT_LIGHT  ? (double)sum[0]
                  : scorer->paint == PSFM_PAINT_DARK ? (double)sum[1]
                                                     : (double)fmaxf(sum[0], sum[1]);
    return best / PSFM_LLR_UNIT;
}

/* Each cell of the floor takes the lightness of its pixel: colours tell less, since a hall's lights
 * and windows mirror in the floor in colours, and as symmetrically as the hall is. A Gaussian of
 * two cells takes out what the photographs do not resolve equally, one of ten cells lighting and
 * exposure; both are weighted with what is seen. What is left are lines, letters, scratches and
 * boards. Lines are the same after the court's turn, and would drown the rest: so the mean of all
 * views, turned and not, is taken away before views are compared. */
#include "court/top_view.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/linalg/mat3.h"
#include "lines/smooth.h"

#define CELLS 640.0      /* along the longer side */
#define FINE 2.0         /* cells */
#define COARSE 10.0      /* cells */
#define MIN_AREA 0.3     /* pixels of the photograph for a cell */
#define MIN_SHARE 0.5    /* of a cell's surroundings that are seen */
#define MIN_OVERLAP 0.02 /* of the raster, for a comparison */
#define LEVELS 5.0       /* steps of the detail in a grey level */
#define MOST 125.0       /* steps: what is stronger counts as this */

psfm_top_raster psfm_top_raster_make(const psfm_drawing *drawing) {
    double low[2], high[2], size[2];
    psfm_top_raster raster;
    int turns[4];
    psfm_drawing_bounds(drawing, low, high);
    for (int d = 0; d < 2; ++d) {
        size[d] = high[d] - low[d];
        raster.middle[d] = 0.5 * (low[d] + high[d]);
    }
    raster.step = fmax(size[0], size[1]) / CELLS;
    raster.width = (int)ceil(size[0] / raster.step);
    raster.height = (int)ceil(size[1] / raster.step);
    if (psfm_drawing_turns(drawing, turns) == 4) /* sides that differ by less than a millimetre */
        raster.width = raster.height = (int)CELLS;
    return raster;
}

static size_t num_cells(const psfm_top_raster *raster) {
    return (size_t)raster->width * (size_t)raster->height;
}

/* Pixel of a place of the raster, in cells from its corner; false if it is not in the photograph.
 */
static bool project_cell(const psfm_top_raster *raster, const psfm_court_pose *pose, double x,
                         double y, double xy[2]) {
    double X[3] = {raster->middle[0] + (x - 0.5 * raster->width) * raster->step,
                   raster->middle[1] + (y - 0.5 * raster->height) * raster->step, 0.0};
    double q[3];
    psfm_mat3_mul_vec(pose->R, X, q);
    psfm_axpy3(q, 1.0, pose->t, q);
    return q[2] > 0.0 && psfm_camera_project(&pose->camera, q, xy) && xy[0] >= 1.0 &&
           xy[1] >= 1.0 && xy[0] <= (double)pose->camera.width - 1.0 &&
           xy[1] <= (double)pose->camera.height - 1.0;
}

/* Whether a cell is large enough in the photograph to be told from its neighbours. */
static bool is_resolved(const psfm_top_raster *raster, const psfm_court_pose *pose, double x,
                        double y, const double xy[2]) {
    double right[2], up[2];
    if (!project_cell(raster, pose, x + 1.0, y, right) ||
        !project_cell(raster, pose, x, y + 1.0, up))
        return false;
    double area = (right[0] - xy[0]) * (up[1] - xy[1]) - (right[1] - xy[1]) * (up[0] - xy[0]);
    return fabs(area) >= MIN_AREA;
}

/* Lightness at a pixel, between the four around it. */
static double sample_light(const psfm_image *image, const double xy[2]) {
    double u = fmin(fmax(xy[0] - 0.5, 0.0), image->width - 1.001);
    double v = fmin(fmax(xy[1] - 0.5, 0.0), image->height - 1.001);
    size_t x = (size_t)u, y = (size_t)v, stride = (size_t)image->width;
    double a = u - (double)x, b = v - (double)y;
    const uint8_t *at = image->gray + y * stride + x;
    return (1.0 - b) * ((1.0 - a) * at[0] + a * at[1]) +
           b * ((1.0 - a) * at[stride] + a * at[stride + 1]);
}

/* Fills the floor's lightness, 0 where nothing is seen, and the plane of what is seen. */
static void rectify_floor(const psfm_top_raster *raster, const psfm_image *image,
                          const psfm_court_pose *pose, float *light, float *seen) {
    for (int y = 0; y < raster->height; ++y) {
        for (int x = 0; x < raster->width; ++x) {
            size_t at = (size_t)y * (size_t)raster->width + (size_t)x;
            double xy[2];
            if (!project_cell(raster, pose, x + 0.5, y + 0.5, xy) ||
                !is_resolved(raster, pose, x + 0.5, y + 0.5, xy))
                continue;
            light[at] = (float)sample_light(image, xy);
            seen[at] = 1.0F;
        }
    }
}

/* Scratch planes of one rectification. */
typedef struct {
    float *light, *seen, *fine_share, *coarse_share, *fine, *coarse, *scratch;
} workshop;

static psfm_status open_workshop(psfm_context *ctx, const psfm_top_raster *raster, workshop *w) {
    size_t n = num_cells(raster);
    psfm_status status;
    if ((status = PSFM_ALLOC(ctx, n, &w->light)) || (status = PSFM_ALLOC(ctx, n, &w->seen)) ||
        (status = PSFM_ALLOC(ctx, n, &w->fine_share)) ||
        (status = PSFM_ALLOC(ctx, n, &w->coarse_share)) ||
        (status = PSFM_ALLOC(ctx, n, &w->fine)) || (status = PSFM_ALLOC(ctx, n, &w->coarse)))
        return status;
    return PSFM_ALLOC(ctx, psfm_smooth_scratch(raster->width), &w->scratch);
}

static void close_workshop(workshop *w) {
    free(w->light);
    free(w->seen);
    free(w->fine_share);
    free(w->coarse_share);
    free(w->fine);
    free(w->coarse);
    free(w->scratch);
}

static int8_t quantise_value(double value) {
    return (int8_t)lround(fmin(fmax(value, -MOST), MOST));
}

static void find_detail(const psfm_top_raster *raster, workshop *w, psfm_top_view *view) {
    size_t n = num_cells(raster);
    int width = raster->width, height = raster->height;
    psfm_smooth(w->seen, width, height, FINE, w->scratch, w->fine_share);
    psfm_smooth(w->seen, width, height, COARSE, w->scratch, w->coarse_share);
    for (size_t k = 0; k < n; ++k)
        view->seen[k] = w->seen[k] > 0.0F && (double)w->coarse_share[k] >= MIN_SHARE;
    psfm_smooth(w->light, width, height, FINE, w->scratch, w->fine);
    psfm_smooth(w->light, width, height, COARSE, w->scratch, w->coarse);
    for (size_t k = 0; k < n; ++k)
        if (view->seen[k])
            view->detail[k] = quantise_value(LEVELS * (double)(w->fine[k] / w->fine_share[k] -
                                                               w->coarse[k] / w->coarse_share[k]));
}

psfm_status psfm_top_view_make(psfm_context *ctx, const psfm_top_raster *raster,
                               const psfm_image *image, const psfm_court_pose *pose,
                               psfm_top_view *view) {
    workshop w = {0};
    size_t n = num_cells(raster);
    *view = (psfm_top_view){0};
    psfm_status status = PSFM_ALLOC(ctx, n, &view->detail);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &view->seen);
    if (status == PSFM_OK)
        status = open_workshop(ctx, raster, &w);
    if (status == PSFM_OK) {
        rectify_floor(raster, image, pose, w.light, w.seen);
        find_detail(raster, &w, view);
    }
    close_workshop(&w);
    return status;
}

void psfm_top_view_free(psfm_top_view *view) {
    free(view->detail);
    free(view->seen);
    *view = (psfm_top_view){0};
}

/* The cell that cell (x, y) is turned to by quarters about the middle. Three quarters undo one; the
 * raster of a drawing that a quarter turn maps onto itself is square. */
static size_t turned_cell(const psfm_top_raster *raster, int x, int y, int quarters) {
    int w = raster->width, h = raster->height;
    int to_x = x, to_y = y;
    if (quarters == 1) {
        to_x = h - 1 - y;
        to_y = x;
    } else if (quarters == 2) {
        to_x = w - 1 - x;
        to_y = h - 1 - y;
    } else if (quarters == 3) {
        to_x = y;
        to_y = w - 1 - x;
    }
    return (size_t)to_y * (size_t)w + (size_t)to_x;
}

/* Adds a view, turned, to the sums of detail and of how often a cell is seen. */
static void add_turned(const psfm_top_raster *raster, const psfm_top_view *view, int quarters,
                       float *sum, float *count) {
    for (int y = 0; y < raster->height; ++y) {
        for (int x = 0; x < raster->width; ++x) {
            size_t at = (size_t)y * (size_t)raster->width + (size_t)x;
            size_t from = turned_cell(raster, x, y, quarters);
            if (!view->seen[from])
                continue;
            count[at] += 1.0F;
            sum[at] += (float)view->detail[from];
        }
    }
}

psfm_status psfm_top_views_take_symmetric(psfm_context *ctx, const psfm_top_raster *raster,
                                          const int *turns, int num_turns, psfm_top_view *views,
                                          size_t num) {
    float *sum = NULL, *count = NULL;
    size_t n = num_cells(raster);
    psfm_status status = PSFM_ALLOC(ctx, n, &sum);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, n, &count);
    for (size_t k = 0; k < num && status == PSFM_OK; ++k)
        for (int t = 0; views[k].detail != NULL && t < num_turns; ++t)
            add_turned(raster, &views[k], turns[t], sum, count);
    for (size_t k = 0; k < num && status == PSFM_OK; ++k)
        for (size_t at = 0; views[k].detail != NULL && at < n; ++at)
            if (views[k].seen[at])
                views[k].detail[at] =
                    quantise_value((double)((float)views[k].detail[at] - sum[at] / count[at]));
    free(sum);
    free(count);
    return status;
}

double psfm_top_view_correlation(const psfm_top_raster *raster, const psfm_top_view *a,
                                 const psfm_top_view *b, int quarters) {
    int64_t ab = 0, aa = 0, bb = 0, num = 0;
    for (int y = 0; y < raster->height; ++y) {
        for (int x = 0; x < raster->width; ++x) {
            size_t at = (size_t)y * (size_t)raster->width + (size_t)x;
            size_t from = turned_cell(raster, x, y, quarters);
            if (!a->seen[at] || !b->seen[from])
                continue;
            ++num;
            ab += a->detail[at] * b->detail[from];
            aa += a->detail[at] * a->detail[at];
            bb += b->detail[from] * b->detail[from];
        }
    }
    if ((double)num < MIN_OVERLAP * (double)num_cells(raster) || aa == 0 || bb == 0)
        return NAN;
    return (double)ab / sqrt((double)aa * (double)bb);
}

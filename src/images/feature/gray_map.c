/* Gray images as maps of floats for networks: scaled to 0 .. 1, resized to multiples of the
 * stride, standardised. Sums are taken in a fixed number of parts, in double, so that mean and
 * variance do not depend on the number of threads. */
#include "images/feature/gray_map.h"

#include <math.h>

#define BAND_ROWS ((size_t)16) /* of one task */

typedef struct {
    const psfm_gray_view *image;
    psfm_map *map;
} gray_job;

static void gray_task(psfm_engine *nn, const void *user, size_t band, void *memory) {
    (void)nn, (void)memory;
    const gray_job *job = user;
    size_t width = job->map->width, end = (band + 1) * BAND_ROWS;
    end = end < job->map->height ? end : job->map->height;
    for (size_t y = band * BAND_ROWS; y < end; ++y)
        for (size_t x = 0; x < width; ++x)
            job->map->data[y * width + x] =
                (float)job->image->pixels[y * job->image->stride + x] / 255.0f;
}

psfm_status psfm_gray_to_map(psfm_context *ctx, psfm_engine *nn, const psfm_gray_view *image,
                             psfm_map *map) {
    gray_job job = {image, map};
    psfm_status status = psfm_map_resize(ctx, map, image->height, image->width, 1);
    return status == PSFM_OK ? psfm_engine_run(ctx, nn, (image->height + BAND_ROWS - 1) / BAND_ROWS,
                                               0, gray_task, &job)
                             : status;
}

psfm_status psfm_gray_to_multiple(psfm_context *ctx, psfm_engine *nn, const psfm_gray_view *image,
                                  size_t multiple, psfm_resize_rule rule, psfm_map *whole,
                                  psfm_map *map) {
    size_t height = image->height / multiple * multiple, width = image->width / multiple * multiple;
    if (height == image->height && width == image->width)
        return psfm_gray_to_map(ctx, nn, image, map);
    psfm_status status = psfm_gray_to_map(ctx, nn, image, whole);
    return status == PSFM_OK ? psfm_map_resize_bilinear(
                                   ctx, nn, whole, &(psfm_resize){height, width, rule, false}, map)
                             : status;
}

/* Sum of (x - shift)^power, power 1 or 2, in eight parts that the compiler can keep in vectors. */
static double sum_powers(const float *x, size_t num, double shift, int power) {
    double parts[8] = {0}, sum = 0;
    size_t k = 0;
    for (; k + 8 <= num; k += 8)
        for (size_t j = 0; j < 8; ++j) {
            double d = (double)x[k + j] - shift;
            parts[j] += power == 1 ? d : d * d;
        }
    for (; k < num; ++k) {
        double d = (double)x[k] - shift;
        sum += power == 1 ? d : d * d;
    }
    for (size_t j = 0; j < 8; ++j)
        sum += parts[j];
    return sum;
}

#define NUM_PARTS ((size_t)16) /* of the pixels, each summed by one task */

typedef struct {
    psfm_map *map;
    double *sums; /* of the parts */
    double shift; /* in: what to subtract */
    float scale;
    int power;
} standard_job;

static size_t part_begin(const psfm_map *map, size_t part) {
    return map->height * part / NUM_PARTS * map->width;
}

static void sum_task(psfm_engine *nn, const void *user, size_t part, void *memory) {
    (void)nn, (void)memory;
    const standard_job *job = user;
    size_t begin = part_begin(job->map, part), end = part_begin(job->map, part + 1);
    job->sums[part] = sum_powers(job->map->data + begin, end - begin, job->shift, job->power);
}

static void scale_task(psfm_engine *nn, const void *user, size_t part, void *memory) {
    (void)nn, (void)memory;
    const standard_job *job = user;
    float shift = (float)job->shift;
    for (size_t k = part_begin(job->map, part); k < part_begin(job->map, part + 1); ++k)
        job->map->data[k] = (job->map->data[k] - shift) * job->scale;
}

/* Mean of (x - shift)^power over the map. */
static psfm_status mean_power(psfm_context *ctx, psfm_engine *nn, const standard_job *job,
                              double *mean) {
    psfm_status status = psfm_engine_run(ctx, nn, NUM_PARTS, 0, sum_task, job);
    double sum = 0;
    for (size_t k = 0; k < NUM_PARTS; ++k)
        sum += job->sums[k];
    *mean = sum / (double)(job->map->height * job->map->width);
    return status;
}

psfm_status psfm_map_standardise(psfm_context *ctx, psfm_engine *nn, psfm_map *map) {
    double sums[NUM_PARTS], variance;
    standard_job job = {.map = map, .sums = sums, .power = 1};
    psfm_status status = mean_power(ctx, nn, &job, &job.shift);
    if (status != PSFM_OK)
        return status;
    job.power = 2;
    status = mean_power(ctx, nn, &job, &variance);
    if (status != PSFM_OK)
        return status;
    job.scale = (float)(1.0 / sqrt(variance + 1e-5));
    return psfm_engine_run(ctx, nn, NUM_PARTS, 0, scale_task, &job);
}

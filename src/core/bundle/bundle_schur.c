/* The reduced system: points eliminated (Schur complement).
 *
 * What a point adds to it is in bundle_rows.c. The result must not depend on the number of threads,
 * so it is fixed what is added to what in which order:
 *
 *   A small system, which a core's own cache holds, is summed a few times, each time over a share
 *   of the points, and the sums are added. Points are then read once, one after the other.
 *   Of a large one a task owns a few consecutive rows and visits the points that have a part in
 *   them. A few rows rather than one, because images next to each other mostly see the same points,
 *   which then are read once for all of them. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/bundle/bundle_internal.h"
#include "core/bundle/bundle_rows.h"
#include "core/linalg/order_statistics.h"

#define MAX_SHARES 8            /* of the points */
#define SHARE_OBSERVATIONS 2048 /* at least */
#define SMALL_SYSTEM (1 << 17)  /* numbers: a megabyte */
#define SMALL_BLOCKS 256        /* whose table of places is a quarter of that */
#define TILE_NUMBERS (1 << 17)  /* of the rows of a task, about */
#define MIN_TILE 4
#define MAX_TILE 24

/* Rows and their memory: for each row its blocks, right-hand side and diagonal. */
typedef struct {
    psfm_bundle_row_sum *rows;
    double *numbers;
    uint32_t *slot;
} row_memory;

typedef struct {
    psfm_bundle *b;
    double lambda;
    psfm_schur_kernel kernel;
    uint32_t num_shares;        /* 0: in tiles */
    uint32_t tile;              /* rows of a task */
    row_memory *memory;         /* of a share, or of a worker */
    psfm_bundle_halves *halves; /* per worker */
    size_t num_memory, num_workers;
} reduction;

static uint32_t dim_of(const psfm_block_pattern *pattern, uint32_t block) {
    return pattern->scalar_begin[block + 1] - pattern->scalar_begin[block];
}

/* Numbers of a row in memory. */
static size_t row_size(const psfm_block_pattern *pattern, uint32_t row) {
    size_t columns = 2; /* right-hand side and diagonal */
    for (size_t k = pattern->row_begin[row]; k < pattern->row_begin[row + 1]; ++k)
        columns += dim_of(pattern, pattern->col[k]);
    return columns * dim_of(pattern, row);
}

/* Clears num rows and tells where their parts are. */
static psfm_bundle_rows start_rows(const reduction *job, const row_memory *memory, uint32_t first,
                                   uint32_t num) {
    const psfm_block_pattern *pattern = &job->b->pattern;
    double *next = memory->numbers;
    for (uint32_t r = 0; r < num; ++r) {
        uint32_t dim = dim_of(pattern, first + r), place = 0;
        uint32_t *slot = memory->slot + (size_t)r * pattern->num_blocks;
        for (size_t k = pattern->row_begin[first + r]; k < pattern->row_begin[first + r + 1]; ++k) {
            slot[pattern->col[k]] = place;
            place += dim * dim_of(pattern, pattern->col[k]);
        }
        memory->rows[r] = (psfm_bundle_row_sum){.block = first + r,
                                                .dim = dim,
                                                .blocks = next,
                                                .slot = slot,
                                                .rhs = next + place,
                                                .diagonal = next + place + dim};
        next += place + 2 * dim;
    }
    memset(memory->numbers, 0, (size_t)(next - memory->numbers) * sizeof *next);
    return (psfm_bundle_rows){
        .b = job->b, .kernel = &job->kernel, .rows = memory->rows, .first = first, .num = num};
}

static void transpose_block(double *block, uint32_t rows, uint32_t cols) {
    double copy[PSFM_CAMERA_MAX_PARAMS * PSFM_CAMERA_MAX_PARAMS];
    memcpy(copy, block, (size_t)rows * cols * sizeof *copy);
    for (uint32_t u = 0; u < rows; ++u)
        for (uint32_t v = 0; v < cols; ++v)
            block[v * rows + u] = copy[u * cols + v];
}

/* What kind of block it is: of a pose, a camera or a plane. */
static int kind_of(const psfm_bundle *b, uint32_t block) {
    return (block >= b->num_pose_blocks) + (block >= b->num_pose_blocks + b->num_camera_blocks);
}

/* Damps a summed row and hands it to the solver. */
static void finish_row(const reduction *job, psfm_bundle_row_sum *row) {
    psfm_bundle *b = job->b;
    const psfm_block_pattern *pattern = &b->pattern;
    psfm_bundle_row_complete(b, row);
    memcpy(b->rhs + pattern->scalar_begin[row->block], row->rhs, row->dim * sizeof *row->rhs);
    for (uint32_t u = 0; u < row->dim; ++u)
        row->blocks[u * row->dim + u] +=
            psfm_bundle_damped(row->diagonal[u], job->lambda) - row->diagonal[u];
    for (size_t k = pattern->row_begin[row->block]; k < pattern->row_begin[row->block + 1]; ++k) {
        uint32_t column = pattern->col[k];
        double *block = row->blocks + row->slot[column];
        if (kind_of(b, column) != kind_of(b, row->block))
            transpose_block(block, dim_of(pattern, column), row->dim);
        psfm_block_spd_set(b->spd, k, block);
    }
}

/* The first point of a share: shares have about as many observations each. */
static uint32_t share_begin(const reduction *job, size_t share) {
    const psfm_bundle *b = job->b;
    uint32_t wanted = (uint32_t)(share * (size_t)b->num_obs / job->num_shares);
    return (uint32_t)psfm_lower_bound(&wanted, b->point_begin, b->num_points, sizeof wanted,
                                      psfm_compare_u32);
}

/* Task: the whole system, over a share of the points. */
static psfm_status sum_share(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    const reduction *job = user;
    psfm_bundle_rows rows = start_rows(job, &job->memory[index], 0, job->b->pattern.num_blocks);
    rows.halves = &job->halves[worker];
    for (uint32_t p = share_begin(job, index); p < share_begin(job, index + 1); ++p)
        psfm_bundle_rows_add(&rows, p);
    return PSFM_OK;
}

/* Task: a row of all shares. */
static psfm_status add_shares(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    (void)worker;
    const reduction *job = user;
    psfm_bundle_row_sum *row = &job->memory[0].rows[index];
    size_t size = row_size(&job->b->pattern, (uint32_t)index);
    for (uint32_t share = 1; share < job->num_shares; ++share) {
        const double *other = job->memory[share].rows[index].blocks;
        for (size_t k = 0; k < size; ++k)
            row->blocks[k] += other[k];
    }
    finish_row(job, row);
    return PSFM_OK;
}

/* Whether an observation before o of the same point has a part in the rows. */
static bool was_visited(const psfm_bundle_rows *rows, uint32_t o) {
    const psfm_bundle *b = rows->b;
    uint32_t begin = b->point_begin[b->obs_point[o]];
    bool poses = rows->first < b->num_pose_blocks;
    while (o-- > begin) {
        uint32_t image = b->obs_image[o];
        uint32_t block =
            poses ? b->image_block[image] : b->camera_block[b->problem->image_camera[image]];
        if (block == PSFM_BUNDLE_NONE)
            continue;
        if (block - rows->first < rows->num)
            return true;
        if (poses) /* those before it are lower */
            return false;
    }
    return false;
}

static void visit_image(const psfm_bundle_rows *rows, uint32_t image) {
    const psfm_bundle *b = rows->b;
    for (uint32_t k = b->image_begin[image]; k < b->image_begin[image + 1]; ++k)
        if (!was_visited(rows, b->image_obs[k]))
            psfm_bundle_rows_add(rows, b->obs_point[b->image_obs[k]]);
}

/* Visits each point that has a part in one of the rows once. */
static void visit_points(const psfm_bundle_rows *rows) {
    const psfm_bundle *b = rows->b;
    for (uint32_t block = rows->first; block < rows->first + rows->num; ++block) {
        uint32_t source = b->block_source[block];
        if (kind_of(b, block) == 0)
            visit_image(rows, source);
        else if (kind_of(b, block) == 1)
            for (uint32_t i = b->camera_images_begin[source];
                 i < b->camera_images_begin[source + 1]; ++i)
                visit_image(rows, b->camera_images[i]);
        else
            for (uint32_t k = b->plane_begin[source]; k < b->plane_begin[source + 1]; ++k)
                psfm_bundle_rows_add(rows, b->plane_points[k]);
    }
}

static size_t num_tiles(uint32_t rows, uint32_t tile) {
    return (rows + tile - 1) / tile;
}

/* The rows of tile `index`: some poses, some cameras, or a plane. */
static void find_tile(const reduction *job, size_t index, uint32_t *first, uint32_t *num) {
    const psfm_bundle *b = job->b;
    uint32_t poses = b->num_pose_blocks, cameras = b->num_camera_blocks, end = poses;
    size_t pose_tiles = num_tiles(poses, job->tile), camera_tiles = num_tiles(cameras, job->tile);
    *first = (uint32_t)index * job->tile;
    *num = job->tile;
    if (index >= pose_tiles) {
        *first = poses + (uint32_t)(index - pose_tiles) * job->tile;
        end = poses + cameras;
    }
    if (index >= pose_tiles + camera_tiles) {
        *first = end + (uint32_t)(index - pose_tiles - camera_tiles);
        *num = 1;
    } else if (end - *first < job->tile) {
        *num = end - *first;
    }
}

/* Task: a few rows. */
static psfm_status sum_tile(psfm_context *ctx, size_t index, int worker, void *user) {
    (void)ctx;
    const reduction *job = user;
    uint32_t first, num;
    find_tile(job, index, &first, &num);
    psfm_bundle_rows rows = start_rows(job, &job->memory[worker], first, num);
    rows.halves = &job->halves[worker];
    visit_points(&rows);
    for (uint32_t r = 0; r < num; ++r)
        finish_row(job, &rows.rows[r]);
    return PSFM_OK;
}

/* How the work is split. Goes by the problem alone, not by the threads. */
static void split_work(reduction *job, size_t *longest, size_t *all) {
    const psfm_bundle *b = job->b;
    *longest = *all = 0;
    for (uint32_t r = 0; r < b->pattern.num_blocks; ++r) {
        size_t size = row_size(&b->pattern, r);
        *longest = size > *longest ? size : *longest;
        *all += size;
    }
    if (!b->in_tiles && *all <= SMALL_SYSTEM && b->pattern.num_blocks <= SMALL_BLOCKS) {
        job->num_shares = 1 + b->num_obs / SHARE_OBSERVATIONS;
        if (job->num_shares > MAX_SHARES)
            job->num_shares = MAX_SHARES;
    }
    size_t tile = TILE_NUMBERS * (size_t)b->pattern.num_blocks / *all;
    job->tile = tile < MIN_TILE ? MIN_TILE : tile < MAX_TILE ? (uint32_t)tile : MAX_TILE;
}

static psfm_status alloc_reduction(psfm_context *ctx, reduction *job, size_t longest, size_t all) {
    size_t num_blocks = job->b->pattern.num_blocks;
    size_t rows = job->num_shares > 0 ? num_blocks : job->tile;
    size_t numbers = job->num_shares > 0 ? all : job->tile * longest;
    psfm_status status = PSFM_ALLOC(ctx, job->num_memory, &job->memory);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, job->num_workers, &job->halves);
    for (size_t k = 0; status == PSFM_OK && k < job->num_memory; ++k) {
        row_memory *memory = &job->memory[k];
        if ((status = PSFM_ALLOC(ctx, rows, &memory->rows)) == PSFM_OK &&
            (status = PSFM_ALLOC(ctx, numbers, &memory->numbers)) == PSFM_OK)
            status = PSFM_ALLOC(ctx, rows * num_blocks, &memory->slot);
    }
    for (size_t w = 0; status == PSFM_OK && w < job->num_workers; ++w)
        status = psfm_bundle_halves_alloc(ctx, job->b, &job->halves[w]);
    return status;
}

static void free_reduction(reduction *job) {
    for (size_t k = 0; job->memory != NULL && k < job->num_memory; ++k) {
        free(job->memory[k].rows);
        free(job->memory[k].numbers);
        free(job->memory[k].slot);
    }
    for (size_t w = 0; job->halves != NULL && w < job->num_workers; ++w)
        psfm_bundle_halves_free(&job->halves[w]);
    free(job->memory);
    free(job->halves);
}

/* Sums and factors the reduced system; points are damped. */
static psfm_status form_system(psfm_context *ctx, reduction *job) {
    psfm_bundle *b = job->b;
    size_t longest, all;
    split_work(job, &longest, &all);
    size_t num_tasks = job->num_shares > 0
                           ? job->num_shares
                           : num_tiles(b->num_pose_blocks, job->tile) +
                                 num_tiles(b->num_camera_blocks, job->tile) + b->num_plane_blocks;
    job->num_workers = (size_t)psfm_parallel_workers(ctx, num_tasks);
    job->num_memory = job->num_shares > 0 ? job->num_shares : job->num_workers;
    psfm_status status = alloc_reduction(ctx, job, longest, all);
    if (status == PSFM_OK)
        status =
            psfm_bundle_for(ctx, b, num_tasks, job->num_shares > 0 ? sum_share : sum_tile, job);
    if (status == PSFM_OK && job->num_shares > 0)
        status = psfm_bundle_for(ctx, b, b->pattern.num_blocks, add_shares, job);
    free_reduction(job);
    return status == PSFM_OK ? psfm_block_spd_factor(ctx, b->spd) : status;
}

psfm_status psfm_bundle_reduce(psfm_context *ctx, psfm_bundle *b, double lambda) {
    reduction job = {.b = b, .lambda = lambda, .kernel = psfm_schur_kernel_choose()};
    psfm_status status = psfm_bundle_damp_points(ctx, b, lambda);
    if (status != PSFM_OK || b->pattern.num_blocks == 0) /* points alone */
        return status;
    return b->cg != NULL ? psfm_bundle_cg_prepare(ctx, b, lambda) : form_system(ctx, &job);
}

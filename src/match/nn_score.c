/* Best and second-best products by panels.
 *
 * The plain way multiplies every row of set 1 with every panel of set 2 and folds the products
 * at once into the two largest of their rows and columns; neither the matrix of products nor the
 * indices of the largest are stored (who is best is looked up later, for the few that pass).
 *
 * The screened way looks at the upper bounds of nn_head first. A product can only matter to a row
 * with best b and second s
 *   if the row fails the rule now: when it exceeds b (anything less stays behind b for good),
 *   if it passes now: when it is large enough to break the ratio to b,
 * and never if it could neither be the best of a match nor break the ratio of one. The largest
 * product that does not matter is the row's limit; columns have theirs likewise. Only pairs whose
 * bound exceeds the lower of the two limits are multiplied in full, about one in a hundred once the
 * limits have grown. So that they grow early, the first columns go with all rows, and the first
 * rows with all columns, the plain way. Where the bounds do not help, the rest does too. */
#include "match/nn_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define PAD_BIAS (-(1 << 29)) /* makes the products of padding negative */
#define WARM 240              /* rows and columns that are multiplied in full; a multiple of 12 */
#define STRIP 96              /* rows screened before limits are updated; a multiple of 12 */
#define BLOCK 512             /* columns that go with one strip after another */
#define MAX_HIT_SHARE 0.15    /* with more hits than this, screening does not pay */
#define PRODUCT_OF_ONE 262144 /* 512^2: angle zero */
#define BREAK_SHIFT 6
#define BREAK_SIZE ((PRODUCT_OF_ONE >> BREAK_SHIFT) + 2)
#define BREAK_MARGIN 16 /* for rounding of the angles */

bool psfm_nn_rule_passes(const psfm_nn_rule *rule, int32_t best, int32_t second) {
    const float norm = 1.0F / (512.0F * 512.0F);
    if (best <= 0)
        return false;
    float best_angle = acosf(fminf(norm * (float)best, 1.0F));
    if (best_angle > rule->max_distance)
        return false;
    return best_angle < rule->max_ratio * acosf(fminf(norm * (float)second, 1.0F));
}

/* breaks[b >> BREAK_SHIFT] is below every product that breaks the ratio to a best of at least b. */
typedef struct {
    int32_t breaks[BREAK_SIZE];
    int32_t least_best; /* below the best of any match */
    int32_t floor;      /* products up to this never matter */
} limit_table;

static int32_t product_at(double angle) {
    return angle >= 1.5707963267948966 ? 0 : (int32_t)(PRODUCT_OF_ONE * cos(angle));
}

static void make_limits(const psfm_nn_rule *rule, limit_table *t) {
    double ratio = (double)rule->max_ratio, distance = (double)rule->max_distance;
    for (int k = 0; k < BREAK_SIZE; ++k) {
        double best = fmin((double)(k << BREAK_SHIFT) / PRODUCT_OF_ONE, 1.0);
        t->breaks[k] = product_at(acos(best) / ratio) - BREAK_MARGIN;
    }
    t->least_best = product_at(distance) - BREAK_MARGIN;
    t->floor = product_at(distance / ratio) - BREAK_MARGIN;
    t->floor = t->floor > 0 ? t->floor : 0; /* nothing below is ever a match */
}

/* The largest product that does not matter to a row or column with these two. */
static int32_t limit_of(const limit_table *t, int32_t best, int32_t second) {
    int32_t limit = best;
    if (best >= t->least_best) {
        int k = best >> BREAK_SHIFT;
        k = k < BREAK_SIZE - 2 ? k : BREAK_SIZE - 2;
        bool fails = second > t->breaks[k + 1] + 2 * BREAK_MARGIN && best <= PRODUCT_OF_ONE;
        limit = fails ? best : t->breaks[k];
    }
    return limit > t->floor ? limit : t->floor;
}

static size_t round_up(size_t n, size_t step) {
    return (n + step - 1) / step * step;
}

typedef struct {
    const psfm_nn_kernel *kernel;
    const psfm_nn_set *set1, *set2;
    psfm_nn_scores *scores;
    size_t rows, cols;              /* padded */
    void *row_values, *col_values;  /* packed descriptors */
    int32_t *col_bias;              /* 128 times the sum of a column, for VNNI */
    int32_t *row_best, *row_second; /* rows x lanes */
    int32_t *col_best, *col_second; /* cols */

    /* for screening */
    const limit_table *limits;
    double scale; /* from products to units of the bounds */
    void *row_heads, *col_heads;
    int32_t *row_head_bias, *col_head_bias;
    int32_t *row_limit, *col_limit; /* in units of the bounds */
    uint32_t *hits;                 /* STRIP x kernel->cols, and a batch */
    int32_t *products;              /* of the hits */
    size_t num_screened, num_hits;
} scorer;

/* Writes n values plus `offset` as the kernel's samples. */
static void put_samples(const psfm_nn_kernel *kernel, const uint8_t *values, size_t n, int offset,
                        void *out) {
    if (kernel->sample == 1)
        for (size_t k = 0; k < n; ++k)
            ((uint8_t *)out)[k] = (uint8_t)(values[k] + offset);
    else
        for (size_t k = 0; k < n; ++k)
            ((int16_t *)out)[k] = (int16_t)(values[k] + offset);
}

/* The same for signed values. */
static void put_signed(const psfm_nn_kernel *kernel, const int8_t *values, size_t n, int offset,
                       void *out) {
    if (kernel->sample == 1)
        for (size_t k = 0; k < n; ++k)
            ((uint8_t *)out)[k] = (uint8_t)(values[k] + offset);
    else
        for (size_t k = 0; k < n; ++k)
            ((int16_t *)out)[k] = (int16_t)(values[k] + offset);
}

/* Spreads the samples of column j, `size` values, over its panel. */
static void put_column(const psfm_nn_kernel *kernel, const void *samples, size_t size, size_t j,
                       char *out) {
    size_t cols = kernel->cols, group = kernel->group < size ? kernel->group : size;
    size_t bytes = group * kernel->sample;
    char *to = out + (j / cols * cols * size + j % cols * group) * kernel->sample;
    for (size_t k = 0; k < size / group; ++k, to += cols * bytes)
        memcpy(to, (const char *)samples + k * bytes, bytes);
}

static void pack_descriptors(scorer *s) {
    const psfm_nn_kernel *kernel = s->kernel;
    static const uint8_t nothing[PSFM_SIFT_SIZE];
    int16_t samples[PSFM_SIFT_SIZE];
    for (size_t i = 0; i < s->rows; ++i)
        put_samples(kernel, i < s->set1->n ? s->set1->descriptors + i * PSFM_SIFT_SIZE : nothing,
                    PSFM_SIFT_SIZE, -kernel->row_offset,
                    (char *)s->row_values + i * PSFM_SIFT_SIZE * kernel->sample);
    for (size_t j = 0; j < s->set2->n; ++j) {
        const uint8_t *d = s->set2->descriptors + j * PSFM_SIFT_SIZE;
        int32_t sum = 0;
        for (size_t k = 0; k < PSFM_SIFT_SIZE; ++k)
            sum += d[k];
        put_samples(kernel, d, PSFM_SIFT_SIZE, 0, samples);
        put_column(kernel, samples, PSFM_SIFT_SIZE, j, s->col_values);
        s->col_bias[j] = kernel->row_offset * sum;
    }
    for (size_t j = s->set2->n; j < s->cols; ++j)
        s->col_bias[j] = PAD_BIAS;
}

static void pack_heads(scorer *s, const psfm_nn_head *head1, const psfm_nn_head *head2) {
    const psfm_nn_kernel *kernel = s->kernel;
    int16_t samples[PSFM_NN_HEAD];
    for (size_t i = 0; i < head1->n; ++i) {
        const int8_t *values = head1->values + i * PSFM_NN_HEAD;
        int32_t sum = 0;
        for (size_t k = 0; k < PSFM_NN_HEAD; ++k)
            sum += values[k];
        put_signed(kernel, values, PSFM_NN_HEAD, 0,
                   (char *)s->row_heads + i * PSFM_NN_HEAD * kernel->sample);
        s->row_head_bias[i] = head1->bias[i] - kernel->head_offset * sum;
    }
    for (size_t j = 0; j < head2->n; ++j) {
        put_signed(kernel, head2->values + j * PSFM_NN_HEAD, PSFM_NN_HEAD, kernel->head_offset,
                   samples);
        put_column(kernel, samples, PSFM_NN_HEAD, j, s->col_heads);
        s->col_head_bias[j] = head2->bias[j];
    }
    for (size_t i = head1->n; i < s->rows; ++i)
        s->row_head_bias[i] = PAD_BIAS;
    for (size_t j = head2->n; j < s->cols; ++j)
        s->col_head_bias[j] = PAD_BIAS;
}

static void free_scorer(scorer *s) {
    void *all[] = {s->row_values, s->col_values,    s->col_bias,      s->row_best,  s->row_second,
                   s->col_best,   s->col_second,    s->row_heads,     s->col_heads, s->row_limit,
                   s->col_limit,  s->row_head_bias, s->col_head_bias, s->hits,      s->products};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        free(all[k]);
}

typedef struct {
    void **out;
    size_t count, size;
} request;

static psfm_status alloc_all(psfm_context *ctx, const request *requests, size_t num) {
    psfm_status status = PSFM_OK;
    for (size_t k = 0; status == PSFM_OK && k < num; ++k)
        status = psfm_alloc(ctx, requests[k].count, requests[k].size, requests[k].out);
    return status;
}

static psfm_status alloc_scorer(psfm_context *ctx, scorer *s) {
    size_t values = s->kernel->sample * PSFM_SIFT_SIZE, lanes = s->kernel->lanes * sizeof(int32_t);
    const request requests[] = {
        {&s->row_values, s->rows, values},
        {&s->col_values, s->cols, values},
        {(void **)&s->col_bias, s->cols, sizeof(int32_t)},
        {(void **)&s->row_best, s->rows, lanes},
        {(void **)&s->row_second, s->rows, lanes},
        {(void **)&s->col_best, s->cols, sizeof(int32_t)},
        {(void **)&s->col_second, s->cols, sizeof(int32_t)},
    };
    return alloc_all(ctx, requests, sizeof requests / sizeof requests[0]);
}

static psfm_status alloc_screening(psfm_context *ctx, scorer *s) {
    size_t values = s->kernel->sample * PSFM_NN_HEAD;
    const request requests[] = {
        {&s->row_heads, s->rows, values},
        {&s->col_heads, s->cols, values},
        {(void **)&s->row_head_bias, s->rows, sizeof(int32_t)},
        {(void **)&s->col_head_bias, s->cols, sizeof(int32_t)},
        {(void **)&s->row_limit, s->rows, sizeof(int32_t)},
        {(void **)&s->col_limit, s->cols, sizeof(int32_t)},
        {(void **)&s->hits, STRIP * s->kernel->cols + PSFM_NN_BATCH, sizeof(uint32_t)},
        {(void **)&s->products, STRIP * s->kernel->cols + PSFM_NN_BATCH, sizeof(int32_t)},
    };
    return alloc_all(ctx, requests, sizeof requests / sizeof requests[0]);
}

/* Multiplies rows [0, num_rows) with one panel in full. */
static void fold_rows(scorer *s, size_t panel, size_t num_rows) {
    size_t cols = s->kernel->cols, j = panel * cols;
    const char *values = s->col_values;
    s->kernel->fold_panel(s->row_values, num_rows, values + j * PSFM_SIFT_SIZE * s->kernel->sample,
                          s->col_bias + j, s->row_best, s->row_second, s->col_best + j,
                          s->col_second + j);
}

/* Merges the lanes of all rows into their scores, and empties them. */
static void merge_rows(scorer *s) {
    size_t lanes = s->kernel->lanes;
    for (size_t i = 0; i < s->set1->n; ++i) {
        for (size_t k = i * lanes; k < (i + 1) * lanes; ++k) {
            psfm_nn_fold(s->row_best[k], &s->scores->best1[i], &s->scores->second1[i]);
            psfm_nn_fold(s->row_second[k], &s->scores->best1[i], &s->scores->second1[i]);
        }
    }
    memset(s->row_best, 0, s->rows * lanes * sizeof *s->row_best);
    memset(s->row_second, 0, s->rows * lanes * sizeof *s->row_second);
}

/* A product in units of the bounds, rounded down. */
static int32_t scaled(const scorer *s, int32_t product) {
    return (int32_t)(product * s->scale);
}

static int32_t scaled_limit(const scorer *s, int32_t best, int32_t second) {
    return scaled(s, limit_of(s->limits, best, second));
}

static void update_row_limits(scorer *s) {
    for (size_t i = 0; i < s->set1->n; ++i)
        s->row_limit[i] = scaled_limit(s, s->scores->best1[i], s->scores->second1[i]);
}

/* Keeps the hits whose products may matter to their row or column, and returns their number. */
static size_t drop_low(scorer *s, size_t first_row, size_t first_col, size_t num) {
    size_t kept = 0;
    for (size_t k = 0; k < num; ++k) {
        int32_t of_row = s->row_limit[first_row + (s->hits[k] >> 16)];
        int32_t of_col = s->col_limit[first_col + (s->hits[k] & 0xffff)];
        bool matters = scaled(s, s->products[k]) >= (of_row < of_col ? of_row : of_col);
        s->hits[kept] = s->hits[k];
        s->products[kept] = s->products[k];
        kept += matters;
    }
    return kept;
}

/* Full products of the pairs that the bounds leave. */
static void settle_hits(scorer *s, size_t first_row, size_t first_col, size_t num) {
    const psfm_nn_kernel *kernel = s->kernel;
    psfm_nn_scores *scores = s->scores;
    kernel->multiply_hits((const char *)s->row_values + first_row * PSFM_SIFT_SIZE * kernel->sample,
                          s->set2->descriptors + first_col * PSFM_SIFT_SIZE,
                          s->col_bias + first_col, s->hits, num, s->products);
    num = drop_low(s, first_row, first_col, num);
    for (size_t k = 0; k < num; ++k) {
        size_t i = first_row + (s->hits[k] >> 16), j = first_col + (s->hits[k] & 0xffff);
        psfm_nn_fold(s->products[k], &scores->best1[i], &scores->second1[i]);
        psfm_nn_fold(s->products[k], &s->col_best[j], &s->col_second[j]);
        s->row_limit[i] = scaled_limit(s, scores->best1[i], scores->second1[i]);
        s->col_limit[j] = scaled_limit(s, s->col_best[j], s->col_second[j]);
    }
}

static void screen_strip(scorer *s, size_t panel, size_t i) {
    const psfm_nn_kernel *kernel = s->kernel;
    size_t j = panel * kernel->cols, head = PSFM_NN_HEAD * kernel->sample;
    size_t count = s->rows - i < STRIP ? s->rows - i : STRIP;
    size_t num = kernel->screen_panel(
        (const char *)s->row_heads + i * head, count, (const char *)s->col_heads + j * head,
        s->row_head_bias + i, s->row_limit + i, s->col_head_bias + j, s->col_limit + j, s->hits);
    settle_hits(s, i, j, num);
    s->num_screened += count * kernel->cols;
    s->num_hits += num;
}

/* Panels from `panel` on; returns the panel at which screening stopped to pay. Several panels go
 * with one strip, while its descriptors are in the cache. */
static size_t screen_all(scorer *s, size_t panel, size_t num_panels) {
    size_t warm = s->rows < WARM ? s->rows : WARM, cols = s->kernel->cols;
    while (panel < num_panels && (double)s->num_hits <= MAX_HIT_SHARE * (double)s->num_screened) {
        size_t first = panel,
               end = panel + BLOCK / cols < num_panels ? panel + BLOCK / cols : num_panels;
        for (; panel < end; ++panel)
            fold_rows(s, panel, warm);
        for (size_t k = first * cols; k < end * cols; ++k)
            s->col_limit[k] = scaled_limit(s, s->col_best[k], s->col_second[k]);
        for (size_t i = warm; i < s->rows; i += STRIP)
            for (size_t p = first; p < end; ++p)
                screen_strip(s, p, i);
    }
    return panel;
}

static void run(scorer *s, bool screened) {
    size_t panel = 0, num_panels = s->cols / s->kernel->cols;
    if (screened) {
        for (; panel < num_panels && panel * s->kernel->cols < WARM; ++panel)
            fold_rows(s, panel, s->rows);
        merge_rows(s);
        update_row_limits(s);
        panel = screen_all(s, panel, num_panels);
    }
    for (; panel < num_panels; ++panel)
        fold_rows(s, panel, s->rows);
    merge_rows(s);
    memcpy(s->scores->best2, s->col_best, s->set2->n * sizeof *s->col_best);
    memcpy(s->scores->second2, s->col_second, s->set2->n * sizeof *s->col_second);
}

psfm_status psfm_nn_score(psfm_context *ctx, const psfm_nn_set *set1, const psfm_nn_set *set2,
                          const psfm_nn_basis *basis, const psfm_nn_head *head1,
                          const psfm_nn_head *head2, const psfm_nn_rule *rule,
                          psfm_nn_scores *scores) {
    limit_table limits;
    scorer s = {.kernel = psfm_nn_kernel_choose(), .set1 = set1, .set2 = set2, .scores = scores};
    bool screened = head1 != NULL;
    s.rows = round_up(set1->n, s.kernel->rows);
    s.cols = round_up(set2->n, s.kernel->cols);
    psfm_status status = alloc_scorer(ctx, &s);
    if (status == PSFM_OK && screened)
        status = alloc_screening(ctx, &s);
    if (status == PSFM_OK) {
        pack_descriptors(&s);
        if (screened) {
            make_limits(rule, &limits);
            s.limits = &limits;
            s.scale = 1.0 / ((double)basis->step * (double)basis->step);
            pack_heads(&s, head1, head2);
        }
        run(&s, screened);
    }
    free_scorer(&s);
    return status;
}

/* Best and second-best products by panels.
 *
 * The plain way multiplies every row of set 1 with every panel of set 2 and folds the products
 * at once into the two largest of their rows and columns; neither the matrix of products nor the
 * indices of the largest are stored (who is best is looked up later, for the few that pass).
 *
 * The screened way looks at the upper bounds of nearest_head first. A product matters to a row with
 * best b and second s if the row passes the rule now: when it is large enough to break the ratio to
 * b, if it fails now: when it is so much above b that the row would pass, with b as its second; and
 * never if it could neither be the best of a match nor break the ratio of one. The largest product
 * that does not matter is the row's limit; columns have theirs likewise. Only pairs whose bound
 * exceeds the lower of the two limits are multiplied in full, less than one in a hundred once the
 * limits have grown. So that they grow early, the first columns go with all rows, and the first
 * rows with all columns, the plain way. Where the bounds do not help, the rest does too.
 *
 * A row that fails may thus have overlooked products between b and its limit, which leave it
 * failing, but would count if a still better one came later. So rows and columns that pass in the
 * end, but once had a limit above what breaks their ratio, are screened once more, by themselves.
 */
#include "match/nearest_score.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "match/nearest_limit.h"

#define PAD_BIAS (-(1 << 29)) /* makes the products of padding negative */
#define WARM 240              /* rows and columns that are multiplied in full; a multiple of 12 */
#define STRIP 96              /* rows screened before limits are updated; a multiple of 12 */
#define BLOCK 512             /* columns that go with one strip after another */
#define MAX_HIT_SHARE 0.15    /* with more hits than this, screening does not pay */
#define LINE ((size_t)64)     /* bytes of a cache line */
#define WORD ((size_t)4)      /* bytes of a group, where there are several */

static size_t round_up(size_t n, size_t step) {
    return (n + step - 1) / step * step;
}

typedef struct {
    const psfm_nearest_kernel *kernel;
    const psfm_nearest_set *set1, *set2;
    psfm_nearest_scores *scores;
    size_t rows, cols;              /* padded */
    void *memory;                   /* of all arrays */
    void *row_values, *col_values;  /* packed descriptors */
    int32_t *col_bias;              /* 128 times the sum of a column, for VNNI */
    int32_t *row_best, *row_second; /* rows x lanes */
    int32_t *col_best, *col_second; /* cols */

    /* for screening */
    const psfm_nearest_rule *rule;
    const psfm_nearest_limits *limits;
    double scale; /* from products to units of the bounds */
    void *row_heads, *col_heads;
    int32_t *row_head_bias, *col_head_bias;
    int32_t *row_limit, *col_limit;   /* in units of the bounds */
    int32_t *row_missed, *col_missed; /* largest limit so far, in units of the bounds */
    uint32_t *hits;                   /* STRIP x kernel->cols, and a batch */
    int32_t *products;                /* of the hits */
    size_t num_screened, num_hits;
} scorer;

/* Writes n values plus `offset` as the kernel's samples. */
static void put_samples(const psfm_nearest_kernel *kernel, const uint8_t *values, size_t n,
                        int offset, void *out) {
    if (kernel->sample == 1)
        for (size_t k = 0; k < n; ++k)
            ((uint8_t *)out)[k] = (uint8_t)(values[k] + offset);
    else
        for (size_t k = 0; k < n; ++k)
            ((int16_t *)out)[k] = (int16_t)(values[k] + offset);
}

/* The same for signed values. */
static void put_signed(const psfm_nearest_kernel *kernel, const int8_t *values, size_t n,
                       int offset, void *out) {
    if (kernel->sample == 1)
        for (size_t k = 0; k < n; ++k)
            ((uint8_t *)out)[k] = (uint8_t)(values[k] + offset);
    else
        for (size_t k = 0; k < n; ++k)
            ((int16_t *)out)[k] = (int16_t)(values[k] + offset);
}

/* Spreads the samples of column j, `size` values, over its panel. */
static void put_column(const psfm_nearest_kernel *kernel, const void *samples, size_t size,
                       size_t j, char *out) {
    size_t cols = kernel->cols, group = kernel->group < size ? kernel->group : size;
    size_t bytes = group * kernel->sample;
    char *to = out + (j / cols * cols * size + j % cols * group) * kernel->sample;
    if (bytes != WORD)
        memcpy(to, samples, size * kernel->sample); /* one group */
    for (size_t k = 0; bytes == WORD && k < size / group; ++k, to += cols * WORD)
        memcpy(to, (const char *)samples + k * WORD, WORD);
}

static void pack_descriptors(scorer *s) {
    const psfm_nearest_kernel *kernel = s->kernel;
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

static void pack_heads(scorer *s, const psfm_nearest_head *head1, const psfm_nearest_head *head2) {
    const psfm_nearest_kernel *kernel = s->kernel;
    int16_t samples[PSFM_NEAREST_HEAD];
    for (size_t i = 0; i < head1->n; ++i) {
        const int8_t *values = head1->values + i * PSFM_NEAREST_HEAD;
        int32_t sum = 0;
        for (size_t k = 0; k < PSFM_NEAREST_HEAD; ++k)
            sum += values[k];
        put_signed(kernel, values, PSFM_NEAREST_HEAD, 0,
                   (char *)s->row_heads + i * PSFM_NEAREST_HEAD * kernel->sample);
        s->row_head_bias[i] = head1->bias[i] - kernel->head_offset * sum;
    }
    for (size_t j = 0; j < head2->n; ++j) {
        put_signed(kernel, head2->values + j * PSFM_NEAREST_HEAD, PSFM_NEAREST_HEAD,
                   kernel->head_offset, samples);
        put_column(kernel, samples, PSFM_NEAREST_HEAD, j, s->col_heads);
        s->col_head_bias[j] = head2->bias[j];
    }
    for (size_t i = head1->n; i < s->rows; ++i)
        s->row_head_bias[i] = PAD_BIAS;
    for (size_t j = head2->n; j < s->cols; ++j)
        s->col_head_bias[j] = PAD_BIAS;
}

typedef struct {
    void *out; /* address of the pointer to the array */
    size_t count, size;
} request;

/* Carves all arrays out of one piece of memory, on the borders of cache lines: vectors that cross
 * them take twice the time. Counts are below 2^33, so that no size overflows. */
static psfm_status alloc_all(psfm_context *ctx, const request *requests, size_t num,
                             void **memory) {
    size_t lines = 1;
    for (size_t k = 0; k < num; ++k)
        lines += requests[k].count * requests[k].size / LINE + 1;
    psfm_status status = psfm_alloc(ctx, lines, LINE, memory);
    if (status != PSFM_OK)
        return status;
    char *next = *memory;
    next += (LINE - (uintptr_t)next % LINE) % LINE;
    for (size_t k = 0; k < num; ++k) {
        memcpy(requests[k].out, &next, sizeof next);
        next += (requests[k].count * requests[k].size / LINE + 1) * LINE;
    }
    return PSFM_OK;
}

static psfm_status alloc_scorer(psfm_context *ctx, scorer *s, bool screened) {
    size_t values = s->kernel->sample * PSFM_SIFT_SIZE, lanes = s->kernel->lanes * sizeof(int32_t);
    size_t head = s->kernel->sample * PSFM_NEAREST_HEAD, one = sizeof(int32_t);
    size_t max_hits = STRIP * s->kernel->cols + PSFM_NEAREST_BATCH;
    const request requests[] = {
        {&s->row_values, s->rows, values},
        {&s->col_values, s->cols, values},
        {&s->col_bias, s->cols, one},
        {&s->row_best, s->rows, lanes},
        {&s->row_second, s->rows, lanes},
        {&s->col_best, s->cols, one},
        {&s->col_second, s->cols, one},
        {&s->row_heads, s->rows, head}, /* from here on for screening only */
        {&s->col_heads, s->cols, head},
        {&s->row_head_bias, s->rows, one},
        {&s->col_head_bias, s->cols, one},
        {&s->row_limit, s->rows, one},
        {&s->col_limit, s->cols, one},
        {&s->row_missed, s->rows, one},
        {&s->col_missed, s->cols, one},
        {&s->hits, max_hits, sizeof(uint32_t)},
        {&s->products, max_hits, one},
    };
    size_t num = sizeof requests / sizeof requests[0];
    return alloc_all(ctx, requests, screened ? num : 7, &s->memory);
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
            psfm_nearest_fold(s->row_best[k], &s->scores->best1[i], &s->scores->second1[i]);
            psfm_nearest_fold(s->row_second[k], &s->scores->best1[i], &s->scores->second1[i]);
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
    return scaled(s, psfm_nearest_limit_of(s->limits, best, second));
}

/* Sets limits of n rows or columns. */
static void set_limits(const scorer *s, const int32_t *best, const int32_t *second, size_t n,
                       int32_t *limit) {
    for (size_t k = 0; k < n; ++k)
        limit[k] = scaled_limit(s, best[k], second[k]);
}

/* One more product of a row or column. */
static void take_product(const scorer *s, int32_t product, int32_t *best, int32_t *second,
                         int32_t *limit, int32_t *missed) {
    psfm_nearest_fold(product, best, second);
    *missed = psfm_nearest_larger(*missed, *limit);
    *limit = scaled_limit(s, *best, *second);
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
    const psfm_nearest_kernel *kernel = s->kernel;
    psfm_nearest_scores *scores = s->scores;
    kernel->multiply_hits((const char *)s->row_values + first_row * PSFM_SIFT_SIZE * kernel->sample,
                          s->set2->descriptors + first_col * PSFM_SIFT_SIZE,
                          s->col_bias + first_col, s->hits, num, s->products);
    num = drop_low(s, first_row, first_col, num);
    for (size_t k = 0; k < num; ++k) {
        size_t i = first_row + (s->hits[k] >> 16), j = first_col + (s->hits[k] & 0xffff);
        take_product(s, s->products[k], &scores->best1[i], &scores->second1[i], &s->row_limit[i],
                     &s->row_missed[i]);
        take_product(s, s->products[k], &s->col_best[j], &s->col_second[j], &s->col_limit[j],
                     &s->col_missed[j]);
    }
}

static void screen_strip(scorer *s, size_t panel, size_t i) {
    const psfm_nearest_kernel *kernel = s->kernel;
    size_t j = panel * kernel->cols, head = PSFM_NEAREST_HEAD * kernel->sample;
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
        size_t j = first * cols;
        set_limits(s, s->col_best + j, s->col_second + j, end * cols - j, s->col_limit + j);
        for (size_t i = warm; i < s->rows; i += STRIP)
            for (size_t p = first; p < end; ++p)
                screen_strip(s, p, i);
    }
    return panel;
}

/* ---- rows and columns that may have missed something ---- */

static bool needs_verification(const scorer *s, int32_t best, int32_t second, int32_t limit,
                               int32_t missed) {
    return psfm_nearest_larger(limit, missed) >
               scaled(s, psfm_nearest_passing_limit(s->limits, best)) &&
           psfm_nearest_rule_passes(s->rule, best, second);
}

/* A few rows or columns, laid out as the kernel wants them. */
typedef struct {
    size_t num, capacity;
    uint32_t idx[STRIP];
    _Alignas(64) char values[STRIP * PSFM_SIFT_SIZE * sizeof(int16_t)];
    _Alignas(64) char heads[STRIP * PSFM_NEAREST_HEAD * sizeof(int16_t)];
    int32_t bias[STRIP], head_bias[STRIP], limit[STRIP];
} selection;

/* Empties a selection: all of it is padding. */
static void clear_selection(selection *p, size_t capacity) {
    p->num = 0;
    p->capacity = capacity;
    for (size_t k = 0; k < capacity; ++k) {
        p->head_bias[k] = p->bias[k] = PAD_BIAS;
        p->limit[k] = INT32_MAX;
    }
}

/* Adds row i and forgets its products. */
static void select_row(scorer *s, size_t i, selection *p) {
    size_t values = PSFM_SIFT_SIZE * s->kernel->sample,
           head = PSFM_NEAREST_HEAD * s->kernel->sample;
    size_t k = p->num++;
    p->idx[k] = (uint32_t)i;
    memcpy(p->values + k * values, (const char *)s->row_values + i * values, values);
    memcpy(p->heads + k * head, (const char *)s->row_heads + i * head, head);
    p->head_bias[k] = s->row_head_bias[i];
    p->limit[k] = scaled(s, psfm_nearest_passing_limit(s->limits, s->scores->best1[i]));
    s->scores->best1[i] = s->scores->second1[i] = 0;
}

static void select_column(scorer *s, size_t j, selection *p) {
    size_t cols = s->kernel->cols, k = p->num++;
    size_t group = s->kernel->group < PSFM_NEAREST_HEAD ? s->kernel->group : PSFM_NEAREST_HEAD;
    size_t bytes = group * s->kernel->sample;
    const char *panel =
        (const char *)s->col_heads + j / cols * cols * PSFM_NEAREST_HEAD * s->kernel->sample;
    p->idx[k] = (uint32_t)j;
    memcpy(p->values + k * PSFM_SIFT_SIZE, s->set2->descriptors + j * PSFM_SIFT_SIZE,
           PSFM_SIFT_SIZE);
    for (size_t g = 0; g < PSFM_NEAREST_HEAD / group; ++g)
        memcpy(p->heads + (g * cols + k) * bytes, panel + (g * cols + j % cols) * bytes, bytes);
    p->bias[k] = s->col_bias[j];
    p->head_bias[k] = s->col_head_bias[j];
    p->limit[k] = scaled(s, psfm_nearest_passing_limit(s->limits, s->col_best[j]));
    s->col_best[j] = s->col_second[j] = 0;
}

static void screen_rows(scorer *s, selection *p) {
    const psfm_nearest_kernel *kernel = s->kernel;
    int32_t never[64];
    for (size_t c = 0; c < kernel->cols; ++c)
        never[c] = INT32_MAX;
    for (size_t j = 0; p->num > 0 && j < s->cols; j += kernel->cols) {
        size_t num = kernel->screen_panel(
            p->heads, round_up(p->num, kernel->rows),
            (const char *)s->col_heads + j * PSFM_NEAREST_HEAD * kernel->sample, p->head_bias,
            p->limit, s->col_head_bias + j, never, s->hits);
        kernel->multiply_hits(p->values, s->set2->descriptors + j * PSFM_SIFT_SIZE, s->col_bias + j,
                              s->hits, num, s->products);
        for (size_t k = 0; k < num; ++k) {
            size_t i = p->idx[s->hits[k] >> 16];
            psfm_nearest_fold(s->products[k], &s->scores->best1[i], &s->scores->second1[i]);
        }
    }
    clear_selection(p, STRIP);
}

static void screen_columns(scorer *s, selection *p) {
    const psfm_nearest_kernel *kernel = s->kernel;
    int32_t never[STRIP];
    for (size_t r = 0; r < STRIP; ++r)
        never[r] = INT32_MAX;
    for (size_t i = 0; p->num > 0 && i < s->rows; i += STRIP) {
        size_t count = s->rows - i < STRIP ? s->rows - i : STRIP;
        size_t num = kernel->screen_panel(
            (const char *)s->row_heads + i * PSFM_NEAREST_HEAD * kernel->sample, count, p->heads,
            s->row_head_bias + i, never, p->head_bias, p->limit, s->hits);
        kernel->multiply_hits((const char *)s->row_values + i * PSFM_SIFT_SIZE * kernel->sample,
                              (const uint8_t *)p->values, p->bias, s->hits, num, s->products);
        for (size_t k = 0; k < num; ++k) {
            size_t j = p->idx[s->hits[k] & 0xffff];
            psfm_nearest_fold(s->products[k], &s->col_best[j], &s->col_second[j]);
        }
    }
    clear_selection(p, kernel->cols);
}

static void verify(scorer *s) {
    selection p;
    memset(p.heads, 0, sizeof p.heads);
    clear_selection(&p, STRIP);
    for (size_t i = WARM; i < s->set1->n; ++i) {
        if (needs_verification(s, s->scores->best1[i], s->scores->second1[i], s->row_limit[i],
                               s->row_missed[i]))
            select_row(s, i, &p);
        if (p.num == p.capacity)
            screen_rows(s, &p);
    }
    screen_rows(s, &p);
    clear_selection(&p, s->kernel->cols);
    for (size_t j = 0; j < s->set2->n; ++j) {
        if (needs_verification(s, s->col_best[j], s->col_second[j], s->col_limit[j],
                               s->col_missed[j]))
            select_column(s, j, &p);
        if (p.num == p.capacity)
            screen_columns(s, &p);
    }
    screen_columns(s, &p);
}

static void run(scorer *s, bool screened) {
    size_t panel = 0, num_panels = s->cols / s->kernel->cols;
    if (screened) {
        for (; panel < num_panels && panel * s->kernel->cols < WARM; ++panel)
            fold_rows(s, panel, s->rows);
        merge_rows(s);
        set_limits(s, s->scores->best1, s->scores->second1, s->set1->n, s->row_limit);
        panel = screen_all(s, panel, num_panels);
    }
    for (; panel < num_panels; ++panel)
        fold_rows(s, panel, s->rows);
    merge_rows(s);
    if (screened)
        verify(s);
    memcpy(s->scores->best2, s->col_best, s->set2->n * sizeof *s->col_best);
    memcpy(s->scores->second2, s->col_second, s->set2->n * sizeof *s->col_second);
}

psfm_status psfm_nearest_score(psfm_context *ctx, const psfm_nearest_set *set1,
                               const psfm_nearest_set *set2, const psfm_nearest_screen *screen,
                               const psfm_nearest_rule *rule, psfm_nearest_scores *scores) {
    psfm_nearest_limits limits;
    scorer s = {
        .kernel = psfm_nearest_kernel_choose(), .set1 = set1, .set2 = set2, .scores = scores};
    bool screened = screen != NULL;
    s.rows = round_up(set1->n, s.kernel->rows);
    s.cols = round_up(set2->n, s.kernel->cols);
    psfm_status status = alloc_scorer(ctx, &s, screened);
    if (status == PSFM_OK) {
        pack_descriptors(&s);
        if (screened) {
            psfm_nearest_limits_make(rule, &limits);
            s.limits = &limits;
            s.rule = rule;
            s.scale = 1.0 / ((double)screen->basis->step * (double)screen->basis->step);
            pack_heads(&s, screen->head1, screen->head2);
        }
        run(&s, screened);
    }
    free(s.memory);
    return status;
}

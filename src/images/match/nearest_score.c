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
 * exceeds the lower of the two limits are multiplied in full, about one in a hundred. So that
 * limits are high from the beginning, two good products of every row and column are guessed first
 * (nearest_seed); these are not counted again. Where the bounds do not help, what is left goes the
 * plain way.
 *
 * A row that fails may thus have overlooked products between b and its limit, which leave it
 * failing, but would count if a still better one came later. So rows and columns that pass in the
 * end, but once had a limit above what breaks their ratio, are screened once more, by themselves.
 */
#include "images/match/nearest_score.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "images/match/nearest_limit.h"
#include "images/match/nearest_pack.h"

#define PAD_BIAS (-(1 << 29)) /* makes the products of padding negative */
#define STRIP 96              /* rows screened before limits are updated; a multiple of 12 */
#define BLOCK 512             /* columns that go with one strip after another */
#define MAX_HIT_SHARE 0.15    /* with more hits than this, screening does not pay */
#define LINE ((size_t)64)     /* bytes of a cache line */

static size_t round_up(size_t n, size_t step) {
    return (n + step - 1) / step * step;
}

typedef struct {
    const psfm_nearest_kernel *kernel;
    const psfm_nearest_set *set1, *set2;
    psfm_nearest_scores *scores;
    size_t rows, cols;              /* padded */
    void *memory, *fold_memory;     /* of all arrays */
    void *row_values;               /* packed descriptors */
    int32_t *col_bias;              /* 128 times the sum of a column, for VNNI */
    int32_t *col_best, *col_second; /* cols */

    /* for products in full */
    void *col_values;
    int32_t *row_best, *row_second; /* rows x lanes */

    /* for screening */
    const psfm_nearest_limits *limits;
    double scale; /* from products to units of the bounds */
    void *row_heads, *col_heads;
    int32_t *row_head_bias, *col_head_bias;
    int32_t *row_limit, *col_limit;            /* in units of the bounds */
    int32_t *row_missed, *col_missed;          /* largest limit so far, in units of the bounds */
    psfm_nearest_seeds *row_seeds, *col_seeds; /* whose products they have from the beginning */
    uint32_t *hits;                            /* STRIP x kernel->cols, and a batch */
    int32_t *products;                         /* of the hits */
    size_t num_screened, num_hits;
} scorer;

/* Row i, or the panel from column j on, of what is packed. */
static char *row_at(const scorer *s, size_t i) {
    return (char *)s->row_values + i * s->kernel->whole.row_bytes;
}

static char *head_row_at(const scorer *s, size_t i) {
    return (char *)s->row_heads + i * s->kernel->head.row_bytes;
}

static char *head_panel_at(const scorer *s, size_t j) {
    return (char *)s->col_heads + j * s->kernel->head.column_bytes;
}

static void pack_rows(scorer *s) {
    const psfm_nearest_kernel *kernel = s->kernel;
    static const uint8_t nothing[PSFM_SIFT_SIZE];
    for (size_t i = 0; i < s->rows; ++i)
        psfm_nearest_pack_row(kernel,
                              i < s->set1->n ? s->set1->descriptors + i * PSFM_SIFT_SIZE : nothing,
                              row_at(s, i));
    for (size_t j = 0; j < s->cols; ++j)
        s->col_bias[j] =
            j < s->set2->n
                ? psfm_nearest_column_bias(kernel, s->set2->descriptors + j * PSFM_SIFT_SIZE)
                : PAD_BIAS;
}

static void pack_heads(scorer *s, const psfm_nearest_head *head1, const psfm_nearest_head *head2) {
    const psfm_nearest_kernel *kernel = s->kernel;
    for (size_t i = 0; i < head1->n; ++i)
        s->row_head_bias[i] =
            head1->bias[i] + psfm_nearest_pack_head_row(
                                 kernel, head1->values + i * PSFM_NEAREST_HEAD, head_row_at(s, i));
    for (size_t j = 0; j < head2->n; ++j) {
        psfm_nearest_pack_head_column(kernel, head2->values + j * PSFM_NEAREST_HEAD, j,
                                      s->col_heads);
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
    const psfm_nearest_layout *head = &s->kernel->head;
    size_t max_hits = STRIP * s->kernel->cols + PSFM_NEAREST_BATCH, one = sizeof(int32_t);
    const request requests[] = {
        {&s->row_values, s->rows, s->kernel->whole.row_bytes},
        {&s->col_bias, s->cols, one},
        {&s->col_best, s->cols, one},
        {&s->col_second, s->cols, one},
        {&s->row_heads, s->rows, head->row_bytes}, /* from here on for screening only */
        {&s->col_heads, s->cols, head->column_bytes},
        {&s->row_head_bias, s->rows, one},
        {&s->col_head_bias, s->cols, one},
        {&s->row_limit, s->rows, one},
        {&s->col_limit, s->cols, one},
        {&s->row_missed, s->rows, one},
        {&s->col_missed, s->cols, one},
        {&s->row_seeds, s->rows, sizeof *s->row_seeds},
        {&s->col_seeds, s->cols, sizeof *s->col_seeds},
        {&s->hits, max_hits, sizeof(uint32_t)},
        {&s->products, max_hits, one},
    };
    size_t num = sizeof requests / sizeof requests[0];
    return alloc_all(ctx, requests, screened ? num : 4, &s->memory);
}

/* What fold_rows needs beside. */
static psfm_status prepare_folding(psfm_context *ctx, scorer *s) {
    size_t lanes = s->kernel->lanes * sizeof(int32_t);
    const request requests[] = {
        {&s->col_values, s->cols, s->kernel->whole.column_bytes},
        {&s->row_best, s->rows, lanes},
        {&s->row_second, s->rows, lanes},
    };
    psfm_status status =
        alloc_all(ctx, requests, sizeof requests / sizeof requests[0], &s->fold_memory);
    for (size_t j = 0; status == PSFM_OK && j < s->set2->n; ++j)
        psfm_nearest_pack_column(s->kernel, s->set2->descriptors + j * PSFM_SIFT_SIZE, j,
                                 s->col_values);
    return status;
}

/* Multiplies all rows with one panel in full. */
static void fold_rows(scorer *s, size_t panel) {
    size_t cols = s->kernel->cols, j = panel * cols;
    const char *values = s->col_values;
    s->kernel->fold_panel(s->row_values, s->rows, values + j * s->kernel->whole.column_bytes,
                          s->col_bias + j, s->row_best, s->row_second, s->col_best + j,
                          s->col_second + j);
}

/* Merges the lanes of all rows into their scores. */
static void merge_rows(scorer *s) {
    size_t lanes = s->kernel->lanes;
    for (size_t i = 0; i < s->set1->n; ++i) {
        for (size_t k = i * lanes; k < (i + 1) * lanes; ++k) {
            psfm_nearest_fold(s->row_best[k], &s->scores->best1[i], &s->scores->second1[i]);
            psfm_nearest_fold(s->row_second[k], &s->scores->best1[i], &s->scores->second1[i]);
        }
    }
}

/* A product in units of the bounds, rounded down. */
static int32_t scale_product(const scorer *s, int32_t product) {
    return (int32_t)(product * s->scale);
}

static int32_t scaled_limit(const scorer *s, int32_t best, int32_t second) {
    return scale_product(s, psfm_nearest_limit_of(s->limits, best, second));
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
        bool matters = scale_product(s, s->products[k]) >= (of_row < of_col ? of_row : of_col);
        s->hits[kept] = s->hits[k];
        s->products[kept] = s->products[k];
        kept += matters;
    }
    return kept;
}

static bool is_among(const psfm_nearest_seeds seeds, size_t idx) {
    return seeds[0] == idx || seeds[1] == idx;
}

/* Full products of the pairs that the bounds leave. */
static void resolve_hits(scorer *s, size_t first_row, size_t first_col, size_t num) {
    const psfm_nearest_kernel *kernel = s->kernel;
    psfm_nearest_scores *scores = s->scores;
    kernel->multiply_hits(row_at(s, first_row), s->set2->descriptors + first_col * PSFM_SIFT_SIZE,
                          s->col_bias + first_col, s->hits, num, s->products);
    num = drop_low(s, first_row, first_col, num);
    for (size_t k = 0; k < num; ++k) {
        size_t i = first_row + (s->hits[k] >> 16), j = first_col + (s->hits[k] & 0xffff);
        if (!is_among(s->row_seeds[i], j))
            take_product(s, s->products[k], &scores->best1[i], &scores->second1[i],
                         &s->row_limit[i], &s->row_missed[i]);
        if (!is_among(s->col_seeds[j], i))
            take_product(s, s->products[k], &s->col_best[j], &s->col_second[j], &s->col_limit[j],
                         &s->col_missed[j]);
    }
}

static void screen_strip(scorer *s, size_t panel, size_t i) {
    const psfm_nearest_kernel *kernel = s->kernel;
    size_t j = panel * kernel->cols;
    size_t count = s->rows - i < STRIP ? s->rows - i : STRIP;
    size_t num =
        kernel->screen_panel(head_row_at(s, i), count, head_panel_at(s, j), s->row_head_bias + i,
                             s->row_limit + i, s->col_head_bias + j, s->col_limit + j, s->hits);
    resolve_hits(s, i, j, num);
    s->num_screened += count * kernel->cols;
    s->num_hits += num;
}

/* Returns the panel at which screening stopped to pay, or their number. Several panels go with one
 * strip, while its descriptors are in the cache. */
static size_t screen_all(scorer *s, size_t num_panels) {
    size_t panel = 0, step = BLOCK / s->kernel->cols;
    while (panel < num_panels && (double)s->num_hits <= MAX_HIT_SHARE * (double)s->num_screened) {
        size_t end = panel + step < num_panels ? panel + step : num_panels;
        for (size_t i = 0; i < s->rows; i += STRIP)
            for (size_t p = panel; p < end; ++p)
                screen_strip(s, p, i);
        panel = end;
    }
    return panel;
}

/* ---- rows and columns that may have missed something ---- */

static bool needs_verification(const scorer *s, int32_t best, int32_t second, int32_t limit,
                               int32_t missed) {
    return psfm_nearest_larger(limit, missed) >
               scale_product(s, psfm_nearest_passing_limit(s->limits, best)) &&
           psfm_nearest_passes(s->limits, best, second);
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
    size_t whole = s->kernel->whole.row_bytes, head = s->kernel->head.row_bytes;
    size_t k = p->num++;
    p->idx[k] = (uint32_t)i;
    memcpy(p->values + k * whole, row_at(s, i), whole);
    memcpy(p->heads + k * head, head_row_at(s, i), head);
    p->head_bias[k] = s->row_head_bias[i];
    p->limit[k] = scale_product(s, psfm_nearest_passing_limit(s->limits, s->scores->best1[i]));
    s->scores->best1[i] = s->scores->second1[i] = 0;
}

static void select_column(scorer *s, size_t j, selection *p) {
    size_t k = p->num++;
    p->idx[k] = (uint32_t)j;
    memcpy(p->values + k * PSFM_SIFT_SIZE, s->set2->descriptors + j * PSFM_SIFT_SIZE,
           PSFM_SIFT_SIZE);
    psfm_nearest_copy_head_column(s->kernel, s->col_heads, j, p->heads, k);
    p->bias[k] = s->col_bias[j];
    p->head_bias[k] = s->col_head_bias[j];
    p->limit[k] = scale_product(s, psfm_nearest_passing_limit(s->limits, s->col_best[j]));
    s->col_best[j] = s->col_second[j] = 0;
}

static void screen_rows(scorer *s, selection *p) {
    const psfm_nearest_kernel *kernel = s->kernel;
    int32_t never[64];
    for (size_t c = 0; c < kernel->cols; ++c)
        never[c] = INT32_MAX;
    for (size_t j = 0; p->num > 0 && j < s->cols; j += kernel->cols) {
        size_t num =
            kernel->screen_panel(p->heads, round_up(p->num, kernel->rows), head_panel_at(s, j),
                                 p->head_bias, p->limit, s->col_head_bias + j, never, s->hits);
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
        size_t num = kernel->screen_panel(head_row_at(s, i), count, p->heads, s->row_head_bias + i,
                                          never, p->head_bias, p->limit, s->hits);
        kernel->multiply_hits(row_at(s, i), (const uint8_t *)p->values, p->bias, s->hits, num,
                              s->products);
        for (size_t k = 0; k < num; ++k) {
            size_t j = p->idx[s->hits[k] & 0xffff];
            psfm_nearest_fold(s->products[k], &s->col_best[j], &s->col_second[j]);
        }
    }
    clear_selection(p, kernel->cols);
}

static void verify_rows(scorer *s) {
    selection p;
    memset(p.heads, 0, sizeof p.heads);
    clear_selection(&p, STRIP);
    for (size_t i = 0; i < s->set1->n; ++i) {
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

/* Guesses for all rows and columns, and the limits that follow. */
static void start_screening(scorer *s, const psfm_nearest_screen *screen) {
    const psfm_nearest_side side1 = {s->set1, screen->head1}, side2 = {s->set2, screen->head2};
    psfm_nearest_scores *scores = s->scores;
    s->scale = 1.0 / ((double)screen->basis->step * (double)screen->basis->step);
    pack_heads(s, screen->head1, screen->head2);
    psfm_nearest_seek(s->kernel, &side1, &side2, scores->best1, scores->second1, s->row_seeds);
    psfm_nearest_seek(s->kernel, &side2, &side1, s->col_best, s->col_second, s->col_seeds);
    set_limits(s, scores->best1, scores->second1, s->set1->n, s->row_limit);
    set_limits(s, s->col_best, s->col_second, s->set2->n, s->col_limit);
}

/* Multiplies the panels from this one on in full. Their columns forget what they had guessed. */
static psfm_status fold_rest(psfm_context *ctx, scorer *s, size_t panel, size_t num_panels) {
    if (panel == num_panels)
        return PSFM_OK;
    psfm_status status = prepare_folding(ctx, s);
    if (status != PSFM_OK)
        return status;
    size_t j = panel * s->kernel->cols, bytes = (s->cols - j) * sizeof(int32_t);
    memset(s->col_best + j, 0, bytes);
    memset(s->col_second + j, 0, bytes);
    if (s->col_limit != NULL)
        memset(s->col_limit + j, 0, bytes);
    for (; panel < num_panels; ++panel)
        fold_rows(s, panel);
    merge_rows(s);
    return PSFM_OK;
}

static psfm_status run_scoring(psfm_context *ctx, scorer *s, const psfm_nearest_screen *screen) {
    size_t num_panels = s->cols / s->kernel->cols, panel = 0;
    if (screen != NULL) {
        start_screening(s, screen);
        panel = screen_all(s, num_panels);
    }
    psfm_status status = fold_rest(ctx, s, panel, num_panels);
    if (status == PSFM_OK && screen != NULL)
        verify_rows(s);
    memcpy(s->scores->best2, s->col_best, s->set2->n * sizeof *s->col_best);
    memcpy(s->scores->second2, s->col_second, s->set2->n * sizeof *s->col_second);
    return status;
}

psfm_status psfm_nearest_score(psfm_context *ctx, const psfm_nearest_set *set1,
                               const psfm_nearest_set *set2, const psfm_nearest_screen *screen,
                               const psfm_nearest_limits *limits, psfm_nearest_scores *scores) {
    scorer s = {.kernel = psfm_nearest_kernel_choose(),
                .set1 = set1,
                .set2 = set2,
                .scores = scores,
                .limits = limits};
    if (set1->n < PSFM_NEAREST_CODES || set2->n < PSFM_NEAREST_CODES)
        screen = NULL;
    s.rows = round_up(set1->n, s.kernel->rows);
    s.cols = round_up(set2->n, s.kernel->cols);
    psfm_status status = alloc_scorer(ctx, &s, screen != NULL);
    if (status == PSFM_OK) {
        pack_rows(&s);
        status = run_scoring(ctx, &s, screen);
    }
    free(s.memory);
    free(s.fold_memory);
    return status;
}

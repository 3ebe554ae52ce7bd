/* Which pairs of images to match: all, each with the next K in order (open or as a ring), with
 * those that look like it or were taken near it, or a list of names in a file. Pairs come sorted
 * and once each. */
#include "images/match/pair_select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/name_index.h"
#include "core/base/parallel.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/linalg/order_statistics.h"

#define MAX_FILE ((size_t)1 << 30)

void psfm_pair_list_free(psfm_pair_list *list) {
    free(list->pairs);
    *list = (psfm_pair_list){0};
}

psfm_status psfm_pair_list_add(psfm_context *ctx, psfm_pair_list *list, size_t *capacity, size_t i,
                               size_t j) {
    psfm_status status = PSFM_RESERVE(ctx, &list->pairs, capacity, list->num + 1);
    if (status != PSFM_OK)
        return status;
    list->pairs[list->num][0] = (uint32_t)(i < j ? i : j);
    list->pairs[list->num][1] = (uint32_t)(i < j ? j : i);
    ++list->num;
    return PSFM_OK;
}

void psfm_pair_list_sort(psfm_pair_list *list) {
    size_t kept = 0;
    if (list->num > 0)
        qsort(list->pairs, list->num, sizeof *list->pairs, psfm_compare_u32_pair);
    for (size_t k = 0; k < list->num; ++k)
        if (kept == 0 || psfm_compare_u32_pair(list->pairs[k], list->pairs[kept - 1]) != 0)
            memmove(list->pairs[kept++], list->pairs[k], sizeof *list->pairs);
    list->num = kept;
}

/* What pairs are selected from, and those selected so far. */
typedef struct {
    size_t num;
    psfm_pair_hints hints;
    psfm_pair_list list;
    size_t capacity;
} selection;

/* Each image with the k after it, wrapping round if `ring`. */
static psfm_status select_neighbours(psfm_context *ctx, size_t k, bool ring, selection *s) {
    size_t num = s->num;
    psfm_status status = PSFM_OK;
    for (size_t i = 0; status == PSFM_OK && i < num; ++i) {
        size_t last = ring ? i + k : i + k < num ? i + k : num - 1;
        for (size_t j = i + 1; status == PSFM_OK && j <= last && j < i + num; ++j)
            status = psfm_pair_list_add(ctx, &s->list, &s->capacity, i, j % num);
    }
    return status;
}

static bool has_place(const psfm_places *places, size_t image) {
    return places != NULL && !isnan(places->metres[image][0]);
}

/* Adds the pairs of a table of k others for each image; with `unplaced`, of images without a known
 * place only. */
static psfm_status add_others(psfm_context *ctx, const uint32_t *others, size_t k, bool unplaced,
                              selection *s) {
    psfm_status status = PSFM_OK;
    for (size_t i = 0; status == PSFM_OK && i < s->num * k; ++i)
        if (others[i] != UINT32_MAX && !(unplaced && has_place(s->hints.places, i / k)))
            status = psfm_pair_list_add(ctx, &s->list, &s->capacity, i / k, others[i]);
    return status;
}

/* Each image with the k that look most like it. */
static psfm_status retrieve_neighbours(psfm_context *ctx, size_t k, bool unplaced, selection *s) {
    uint32_t *nearest = NULL;
    const psfm_pair_hints *h = &s->hints;
    if (h->vectors == NULL)
        return PSFM_OK;
    k = k < s->num ? k : s->num;
    psfm_status status = PSFM_ALLOC(ctx, s->num * k, &nearest);
    if (status == PSFM_OK)
        status = h->sketches == NULL
                     ? psfm_retrieve_nearest(ctx, h->vectors, k, nearest)
                     : psfm_retrieve_ranked(ctx, h->vectors, h->sketches, k, nearest);
    if (status == PSFM_OK)
        status = add_others(ctx, nearest, k, unplaced, s);
    free(nearest);
    return status;
}

/* Each image with the k that were taken nearest to it. */
static psfm_status select_near(psfm_context *ctx, size_t k, selection *s) {
    uint32_t *near = NULL;
    if (s->hints.places == NULL)
        return PSFM_OK;
    k = k < s->num ? k : s->num;
    psfm_status status = PSFM_ALLOC(ctx, s->num * k, &near);
    if (status == PSFM_OK)
        status = psfm_places_nearest(ctx, s->hints.places, k, near);
    if (status == PSFM_OK)
        status = add_others(ctx, near, k, false, s);
    free(near);
    return status == PSFM_OK ? retrieve_neighbours(ctx, k, true, s) : status;
}

/* The K of "sequential:K": a whole number of at least 1. */
static psfm_status parse_count(psfm_context *ctx, const char *text, const char *digits,
                               size_t *count) {
    size_t value = 0;
    const char *p = digits;
    for (; *p >= '0' && *p <= '9' && value < 100000000; ++p)
        value = 10 * value + (size_t)(*p - '0');
    if (p == digits || *p != '\0' || value == 0)
        return psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                         "pairs '%s': after the colon comes a number of neighbours, 1 or more",
                         text);
    *count = value;
    return PSFM_OK;
}

/* ---- pair files ---- */

typedef struct {
    psfm_context *ctx;
    const char *path;
    const psfm_name_index *names;
    size_t line;
    psfm_pair_list list;
    size_t capacity;
} parser;

/* One line without the white space around it. */
static psfm_status parse_line(parser *p, const char *text, size_t length) {
    const psfm_text_line line = {p->path, p->line, text, length};
    size_t first, second;
    psfm_status status = psfm_name_index_split(p->ctx, p->names, &line, &first, &second);
    return status == PSFM_OK ? psfm_pair_list_add(p->ctx, &p->list, &p->capacity, first, second)
                             : status;
}

static psfm_status parse_lines(parser *p, const char *bytes, size_t size) {
    psfm_status status = PSFM_OK;
    for (size_t begin = 0; status == PSFM_OK && begin < size;) {
        const char *newline = memchr(bytes + begin, '\n', size - begin);
        size_t end = newline == NULL ? size : (size_t)(newline - bytes), next = end + 1;
        psfm_trim(bytes, &begin, &end);
        ++p->line;
        if (end > begin && bytes[begin] != '#')
            status = parse_line(p, bytes + begin, end - begin);
        begin = next;
    }
    return status;
}

psfm_status psfm_pair_file_parse(psfm_context *ctx, const char *bytes, size_t size,
                                 const char *path, const char *const *names, size_t num,
                                 psfm_pair_list *list) {
    psfm_name_index index;
    *list = (psfm_pair_list){0};
    if (memchr(bytes, '\0', size) != NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a text file", path);
    psfm_status status = psfm_name_index_init(ctx, names, num, &index);
    if (status == PSFM_OK) {
        parser p = {.ctx = ctx, .path = path, .names = &index};
        status = parse_lines(&p, bytes, size);
        if (status == PSFM_OK && p.list.num == 0)
            status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: there are no pairs in it", path);
        if (status == PSFM_OK)
            psfm_pair_list_sort(&p.list);
        else
            psfm_pair_list_free(&p.list);
        *list = p.list;
    }
    psfm_name_index_free(&index);
    return status;
}

static psfm_status select_from_file(psfm_context *ctx, const char *path, const char *const *names,
                                    size_t num, psfm_pair_list *list) {
    char *bytes = NULL;
    size_t size = 0;
    psfm_status status = psfm_read_file(ctx, path, MAX_FILE, &bytes, &size);
    if (status == PSFM_OK)
        status = psfm_pair_file_parse(ctx, bytes, size, path, names, num, list);
    free(bytes);
    return status;
}

/* ---- rules ---- */

const char *psfm_pair_rule(const char *text, size_t num, size_t num_placed) {
    if (text != NULL && strcmp(text, "auto") != 0)
        return text;
    if (num <= PSFM_MAX_EXHAUSTIVE)
        return "exhaustive";
    return 2 * num_placed > num ? PSFM_DEFAULT_PAIRS_PLACED : PSFM_DEFAULT_PAIRS;
}

static psfm_status select_all(psfm_context *ctx, size_t k, selection *s) {
    (void)k;
    return select_neighbours(ctx, s->num, false, s);
}

static psfm_status select_next(psfm_context *ctx, size_t k, selection *s) {
    return select_neighbours(ctx, k, false, s);
}

static psfm_status select_in_ring(psfm_context *ctx, size_t k, selection *s) {
    return select_neighbours(ctx, k, true, s);
}

static psfm_status select_retrieved(psfm_context *ctx, size_t k, selection *s) {
    return retrieve_neighbours(ctx, k, false, s);
}

/* Those that may stand beside others; a name with a colon is followed by K. */
static const struct {
    const char *name;
    psfm_status (*select)(psfm_context *ctx, size_t k, selection *s);
    bool needs_retrieval, needs_places;
} rules[] = {
    {"exhaustive", select_all, false, false}, {"sequential:", select_next, false, false},
    {"ring:", select_in_ring, false, false},  {"retrieval:", select_retrieved, true, false},
    {"gps:", select_near, false, true},
};
enum { NUM_RULES = sizeof rules / sizeof *rules };

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_file(const char *text) {
    return starts_with(text, "file:");
}

bool psfm_pair_rule_needs_retrieval(const char *text) {
    bool needs = false;
    for (int k = 0; k < NUM_RULES && !is_file(text); ++k)
        needs = needs || (rules[k].needs_retrieval && strstr(text, rules[k].name) != NULL);
    return needs;
}

bool psfm_pair_rule_needs_places(const char *text) {
    bool needs = false;
    for (int k = 0; k < NUM_RULES && !is_file(text); ++k)
        needs = needs || (rules[k].needs_places && strstr(text, rules[k].name) != NULL);
    return needs;
}

/* One rule of those that may stand beside others; `text` is all of them. */
static psfm_status apply_one(psfm_context *ctx, const char *text, const char *rule, selection *s) {
    size_t count = 0;
    for (int k = 0; k < NUM_RULES; ++k) {
        const size_t length = strlen(rules[k].name);
        const bool counts = rules[k].name[length - 1] == ':';
        if (!starts_with(rule, rules[k].name) || (!counts && rule[length] != '\0'))
            continue;
        psfm_status status = counts ? parse_count(ctx, text, rule + length, &count) : PSFM_OK;
        return status == PSFM_OK ? rules[k].select(ctx, count, s) : status;
    }
    return psfm_fail(ctx, PSFM_ERR_ARGUMENT, "pairs '%s': should be " PSFM_PAIR_RULES, text);
}

/* All rules of a text, joined by +. */
static psfm_status apply_all(psfm_context *ctx, const char *text, selection *s) {
    psfm_status status = PSFM_OK;
    for (const char *rule = text; status == PSFM_OK && rule != NULL;) {
        const char *plus = strchr(rule, '+');
        char *one = NULL;
        size_t length = plus == NULL ? strlen(rule) : (size_t)(plus - rule);
        status = PSFM_ALLOC(ctx, length + 1, &one);
        if (status == PSFM_OK) {
            snprintf(one, length + 1, "%s", rule); /* as far as the + */
            status = apply_one(ctx, text, one, s);
        }
        free(one);
        rule = plus == NULL ? NULL : plus + 1;
    }
    if (status == PSFM_OK)
        psfm_pair_list_sort(&s->list);
    return status;
}

psfm_status psfm_pair_select(psfm_context *ctx, const char *text, const char *const *names,
                             size_t num, const psfm_pair_hints *hints, psfm_pair_list *list) {
    selection s = {.num = num, .hints = hints == NULL ? (psfm_pair_hints){0} : *hints};
    *list = (psfm_pair_list){0};
    if (num < 2)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%zu image%s: pairs need at least two", num,
                         num == 1 ? "" : "s");
    const psfm_places *places = s.hints.places;
    const char *rule = psfm_pair_rule(text, num, places == NULL ? 0 : places->num_known);
    psfm_status status = is_file(rule) ? select_from_file(ctx, rule + 5, names, num, &s.list)
                                       : apply_all(ctx, rule, &s);
    if (status != PSFM_OK)
        psfm_pair_list_free(&s.list);
    *list = s.list;
    return status;
}

/* ---- places ---- */

/* Nearest photographs by comparing all with all: 20,000 take less than a second, and what follows
 * takes hours. */

void psfm_places_free(psfm_places *places) {
    free(places->metres);
    *places = (psfm_places){0};
}

static bool is_known(const psfm_geodetic *at) {
    psfm_geodetic p = *at;
    if (isnan(p.altitude_m))
        p.altitude_m = 0.0;
    return psfm_geodetic_is_valid(&p) && (p.latitude_deg != 0.0 || p.longitude_deg != 0.0);
}

psfm_status psfm_places_init(psfm_context *ctx, const psfm_geodetic *at, size_t num,
                             psfm_places *out) {
    const psfm_geodetic *origin = NULL;
    bool is_flat = false;
    *out = (psfm_places){.num = num};
    psfm_status status = PSFM_ALLOC(ctx, num, &out->metres);
    for (size_t k = 0; k < num; ++k)
        is_flat = is_flat || (is_known(&at[k]) && isnan(at[k].altitude_m));
    for (size_t k = 0; status == PSFM_OK && k < num; ++k) {
        psfm_geodetic p = at[k];
        for (int c = 0; c < 3; ++c)
            out->metres[k][c] = NAN;
        if (!is_known(&p))
            continue;
        origin = origin == NULL ? &at[k] : origin;
        psfm_geodetic from = *origin;
        if (is_flat)
            from.altitude_m = p.altitude_m = 0.0;
        psfm_geodetic_to_enu(&from, &p, out->metres[k]);
        ++out->num_known;
    }
    return status;
}

typedef struct {
    const psfm_places *places;
    size_t k;
    uint32_t *nearest;
} search;

static double squared_distance(const double a[3], const double b[3]) {
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* The k best so far are kept sorted: few are better than the last of them. */
static psfm_status search_one(psfm_context *ctx, size_t index, int worker, void *user) {
    const search *s = user;
    const double(*at)[3] = (const double(*)[3])s->places->metres;
    uint32_t *nearest = s->nearest + index * s->k;
    double *distance = NULL;
    size_t num = 0;
    (void)worker;
    psfm_status status = PSFM_ALLOC(ctx, s->k, &distance);
    for (size_t i = 0; i < s->k; ++i)
        nearest[i] = UINT32_MAX;
    for (size_t i = 0; status == PSFM_OK && i < s->places->num; ++i) {
        double d = squared_distance(at[index], at[i]);
        if (i == index || isnan(d) || (num == s->k && d >= distance[num - 1]))
            continue;
        size_t place = num < s->k ? num++ : num - 1;
        for (; place > 0 && distance[place - 1] > d; --place) {
            distance[place] = distance[place - 1];
            nearest[place] = nearest[place - 1];
        }
        distance[place] = d;
        nearest[place] = (uint32_t)i;
    }
    free(distance);
    return status;
}

psfm_status psfm_places_nearest(psfm_context *ctx, const psfm_places *places, size_t k,
                                uint32_t *nearest) {
    search s = {places, k, nearest};
    return k == 0 ? PSFM_OK : psfm_parallel_for(ctx, NULL, places->num, search_one, &s);
}

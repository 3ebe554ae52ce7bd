#include "match/pair_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"

#define MAX_FILE ((size_t)1 << 30)

void psfm_pair_list_free(psfm_pair_list *list) {
    free(list->pairs);
    *list = (psfm_pair_list){0};
}

static psfm_status append(psfm_context *ctx, psfm_pair_list *list, size_t *capacity, size_t i,
                          size_t j) {
    psfm_status status =
        psfm_reserve(ctx, (void **)&list->pairs, capacity, list->num + 1, sizeof *list->pairs);
    if (status != PSFM_OK)
        return status;
    list->pairs[list->num][0] = (uint32_t)(i < j ? i : j);
    list->pairs[list->num][1] = (uint32_t)(i < j ? j : i);
    ++list->num;
    return PSFM_OK;
}

static int by_indices(const void *a, const void *b) {
    const uint32_t *p = a, *q = b;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

static void sort_unique(psfm_pair_list *list) {
    size_t kept = 0;
    if (list->num > 0)
        qsort(list->pairs, list->num, sizeof *list->pairs, by_indices);
    for (size_t k = 0; k < list->num; ++k)
        if (kept == 0 || by_indices(list->pairs[k], list->pairs[kept - 1]) != 0)
            memmove(list->pairs[kept++], list->pairs[k], sizeof *list->pairs);
    list->num = kept;
}

/* Each image with the k after it, wrapping round if `ring`. */
static psfm_status select_neighbours(psfm_context *ctx, size_t num, size_t k, bool ring,
                                     psfm_pair_list *list) {
    size_t capacity = 0;
    psfm_status status = PSFM_OK;
    for (size_t i = 0; status == PSFM_OK && i < num; ++i) {
        size_t last = ring ? i + k : i + k < num ? i + k : num - 1;
        for (size_t j = i + 1; status == PSFM_OK && j <= last && j < i + num; ++j)
            status = append(ctx, list, &capacity, i, j % num);
    }
    if (status == PSFM_OK)
        sort_unique(list);
    return status;
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
    const char *name;
    size_t idx;
} named;

static int by_name(const void *a, const void *b) {
    const named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    if (order != 0)
        return order;
    return p->idx < q->idx ? -1 : p->idx > q->idx;
}

/* Compares a piece of text, not terminated, with a name. */
static int compare_piece(const char *piece, size_t length, const char *name) {
    int order = strncmp(piece, name, length);
    return order != 0 ? order : name[length] == '\0' ? 0 : -1;
}

static const named *find_name(const named *sorted, size_t num, const char *piece, size_t length) {
    size_t low = 0, high = num;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_piece(piece, length, sorted[middle].name);
        if (order == 0)
            return &sorted[middle];
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

typedef struct {
    psfm_context *ctx;
    const char *path;
    const named *sorted;
    size_t num;
    size_t line;
    psfm_pair_list list;
    size_t capacity;
} parser;

/* No split of the line gives two known names: say which part is unknown. */
static psfm_status fail_unknown(const parser *p, const char *text, size_t length) {
    size_t first = 0;
    while (first < length && !is_space(text[first]))
        ++first;
    if (first == length)
        return psfm_fail(p->ctx, PSFM_ERR_FORMAT,
                         "%s: line %zu: one name, '%.*s', where two are needed", p->path, p->line,
                         (int)(length > 200 ? 200 : length), text);
    size_t second = first;
    while (is_space(text[second]))
        ++second;
    bool first_known = find_name(p->sorted, p->num, text, first) != NULL;
    const char *unknown = first_known ? text + second : text;
    size_t size = first_known ? length - second : first;
    return psfm_fail(p->ctx, PSFM_ERR_FORMAT, "%s: line %zu: there is no image '%.*s'", p->path,
                     p->line, (int)(size > 200 ? 200 : size), unknown);
}

/* One line without the white space around it. */
static psfm_status parse_line(parser *p, const char *text, size_t length) {
    const named *first = NULL, *second = NULL;
    for (size_t k = 1; k < length; ++k) {
        if (!is_space(text[k]) || is_space(text[k - 1]))
            continue;
        size_t next = k;
        while (is_space(text[next]))
            ++next;
        const named *a = find_name(p->sorted, p->num, text, k);
        const named *b =
            a == NULL ? NULL : find_name(p->sorted, p->num, text + next, length - next);
        if (b != NULL && first != NULL)
            return psfm_fail(p->ctx, PSFM_ERR_FORMAT,
                             "%s: line %zu can be split into two image names in several ways",
                             p->path, p->line);
        if (b != NULL) {
            first = a;
            second = b;
        }
    }
    if (first == NULL)
        return fail_unknown(p, text, length);
    if (first == second)
        return psfm_fail(p->ctx, PSFM_ERR_FORMAT, "%s: line %zu pairs the image '%s' with itself",
                         p->path, p->line, first->name);
    return append(p->ctx, &p->list, &p->capacity, first->idx, second->idx);
}

static psfm_status parse_lines(parser *p, const char *bytes, size_t size) {
    psfm_status status = PSFM_OK;
    for (size_t begin = 0; status == PSFM_OK && begin < size;) {
        const char *newline = memchr(bytes + begin, '\n', size - begin);
        size_t end = newline == NULL ? size : (size_t)(newline - bytes), next = end + 1;
        while (begin < end && is_space(bytes[begin]))
            ++begin;
        while (end > begin && is_space(bytes[end - 1]))
            --end;
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
    named *sorted = NULL;
    *list = (psfm_pair_list){0};
    if (memchr(bytes, '\0', size) != NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a text file", path);
    psfm_status status = psfm_alloc(ctx, num, sizeof *sorted, (void **)&sorted);
    if (status == PSFM_OK) {
        for (size_t k = 0; k < num; ++k)
            sorted[k] = (named){names[k], k};
        qsort(sorted, num, sizeof *sorted, by_name);
        parser p = {.ctx = ctx, .path = path, .sorted = sorted, .num = num};
        status = parse_lines(&p, bytes, size);
        if (status == PSFM_OK && p.list.num == 0)
            status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: there are no pairs in it", path);
        if (status == PSFM_OK)
            sort_unique(&p.list);
        else
            psfm_pair_list_free(&p.list);
        *list = p.list;
    }
    free(sorted);
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

psfm_status psfm_pair_select(psfm_context *ctx, const char *text, const char *const *names,
                             size_t num, psfm_pair_list *list) {
    psfm_pair_list made = {0};
    *list = made;
    if (num < 2)
        return psfm_fail(ctx, PSFM_ERR_DATA, "%zu image%s: pairs need at least two", num,
                         num == 1 ? "" : "s");
    psfm_status status;
    size_t count = num <= PSFM_MAX_EXHAUSTIVE ? num : PSFM_DEFAULT_NEIGHBOURS;
    if (text == NULL || strcmp(text, "auto") == 0) {
        status = select_neighbours(ctx, num, count, false, &made);
    } else if (strcmp(text, "exhaustive") == 0) {
        status = select_neighbours(ctx, num, num, false, &made);
    } else if (strncmp(text, "sequential:", 11) == 0) {
        status = parse_count(ctx, text, text + 11, &count);
        if (status == PSFM_OK)
            status = select_neighbours(ctx, num, count, false, &made);
    } else if (strncmp(text, "ring:", 5) == 0) {
        status = parse_count(ctx, text, text + 5, &count);
        if (status == PSFM_OK)
            status = select_neighbours(ctx, num, count, true, &made);
    } else if (strncmp(text, "file:", 5) == 0) {
        status = select_from_file(ctx, text + 5, names, num, &made);
    } else {
        status =
            psfm_fail(ctx, PSFM_ERR_ARGUMENT,
                      "pairs '%s': should be exhaustive, sequential:K, ring:K or file:PATH", text);
    }
    if (status != PSFM_OK)
        psfm_pair_list_free(&made);
    *list = made;
    return status;
}

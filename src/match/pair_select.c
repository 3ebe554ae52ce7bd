/* Which pairs of images to match: all, each with the next K in order (open or as a ring), or a
 * list of names in a file. Pairs come sorted and once each. */
#include "match/pair_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name_index.h"
#include "base/path.h"
#include "base/text.h"

#define MAX_FILE ((size_t)1 << 30)

void psfm_pair_list_free(psfm_pair_list *list) {
    free(list->pairs);
    *list = (psfm_pair_list){0};
}

static psfm_status append(psfm_context *ctx, psfm_pair_list *list, size_t *capacity, size_t i,
                          size_t j) {
    psfm_status status = PSFM_RESERVE(ctx, &list->pairs, capacity, list->num + 1);
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
    return status == PSFM_OK ? append(p->ctx, &p->list, &p->capacity, first, second) : status;
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
            sort_unique(&p.list);
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

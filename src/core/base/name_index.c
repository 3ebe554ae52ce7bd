/* Image names by binary search, and lines with two names. Names may contain blanks, so every blank
 * is tried as the place between the two; more than one split into known names is an error. */
#include "core/base/name_index.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/text.h"

static int by_name(const void *a, const void *b) {
    const struct psfm_named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    if (order != 0)
        return order;
    return p->idx < q->idx ? -1 : p->idx > q->idx;
}

/* Text that is not terminated. */
typedef struct {
    const char *text;
    size_t length;
} piece;

static int compare_name(const void *a, const void *b) {
    const piece *p = a;
    const char *name = ((const struct psfm_named *)b)->name;
    int order = strncmp(p->text, name, p->length);
    return order != 0 ? order : name[p->length] == '\0' ? 0 : -1;
}

static const struct psfm_named *find_name(const psfm_name_index *index, const char *text,
                                          size_t length) {
    const piece key = {text, length};
    return bsearch(&key, index->sorted, index->num, sizeof *index->sorted, compare_name);
}

/* No split of the line gives two known names: say which part is unknown. */
static psfm_status fail_unknown(psfm_context *ctx, const psfm_name_index *names,
                                const psfm_text_line *line) {
    const char *text = line->text;
    size_t first = 0, length = line->length;
    while (first < length && !psfm_is_blank(text[first]))
        ++first;
    if (first == length)
        return psfm_fail(ctx, PSFM_ERR_FORMAT,
                         "%s: line %zu: one name, '%.*s', where two are needed", line->path,
                         line->number, (int)(length > 200 ? 200 : length), text);
    size_t second = first;
    while (psfm_is_blank(text[second]))
        ++second;
    bool first_known = find_name(names, text, first) != NULL;
    const char *unknown = first_known ? text + second : text;
    size_t size = first_known ? length - second : first;
    return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: line %zu: there is no image '%.*s'", line->path,
                     line->number, (int)(size > 200 ? 200 : size), unknown);
}

psfm_status psfm_name_index_split(psfm_context *ctx, const psfm_name_index *index,
                                  const psfm_text_line *line, size_t *first, size_t *second) {
    const char *text = line->text;
    const struct psfm_named *name1 = NULL, *name2 = NULL;
    for (size_t k = 1; k < line->length; ++k) {
        if (!psfm_is_blank(text[k]) || psfm_is_blank(text[k - 1]))
            continue;
        size_t next = k;
        while (psfm_is_blank(text[next]))
            ++next;
        const struct psfm_named *a = find_name(index, text, k);
        const struct psfm_named *b =
            a == NULL ? NULL : find_name(index, text + next, line->length - next);
        if (b != NULL && name1 != NULL)
            return psfm_fail(ctx, PSFM_ERR_FORMAT,
                             "%s: line %zu can be split into two image names in several ways",
                             line->path, line->number);
        if (b != NULL) {
            name1 = a;
            name2 = b;
        }
    }
    if (name1 == NULL)
        return fail_unknown(ctx, index, line);
    if (name1 == name2)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: line %zu pairs the image '%s' with itself",
                         line->path, line->number, name1->name);
    *first = name1->idx;
    *second = name2->idx;
    return PSFM_OK;
}

psfm_status psfm_name_index_init(psfm_context *ctx, const char *const *names, size_t num,
                                 psfm_name_index *out) {
    *out = (psfm_name_index){0};
    psfm_status status = PSFM_ALLOC(ctx, num, &out->sorted);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < num; ++k)
        out->sorted[k] = (struct psfm_named){names[k], k};
    out->num = num;
    qsort(out->sorted, num, sizeof *out->sorted, by_name);
    return PSFM_OK;
}

void psfm_name_index_free(psfm_name_index *index) {
    free(index->sorted);
    *index = (psfm_name_index){0};
}

bool psfm_name_index_find(const psfm_name_index *index, const char *name, size_t length,
                          size_t *idx) {
    const struct psfm_named *found = find_name(index, name, length);
    if (found != NULL)
        *idx = found->idx;
    return found != NULL;
}

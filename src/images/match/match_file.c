/* Text lists of matches, as COLMAP's matches_importer takes them: blocks of a line with two image
 * names and lines with two keypoint indices, separated by empty lines. A pair given twice is an
 * error, in either order of its images. */
#include "images/match/match_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/name_index.h"
#include "core/base/text.h"

typedef struct {
    psfm_context *ctx;
    const char *path;
    psfm_name_index names;
    size_t line;
    bool in_block; /* the names were read, indices may follow */
    size_t capacity, match_capacity;
    psfm_match_file file;
} parser;

void psfm_match_file_free(psfm_match_file *file) {
    for (size_t k = 0; k < file->num; ++k)
        psfm_match_list_free(&file->pairs[k].list);
    free(file->pairs);
    *file = (psfm_match_file){0};
}

static psfm_status begin_block(parser *p, const char *text, size_t length) {
    psfm_file_pair pair = {0};
    const psfm_text_line line = {p->path, p->line, text, length};
    psfm_status status =
        psfm_name_index_split(p->ctx, &p->names, &line, &pair.image1, &pair.image2);
    if (status == PSFM_OK)
        status = PSFM_RESERVE(p->ctx, &p->file.pairs, &p->capacity, p->file.num + 1);
    if (status != PSFM_OK)
        return status;
    p->file.pairs[p->file.num++] = pair;
    p->in_block = true;
    p->match_capacity = 0;
    return PSFM_OK;
}

/* A whole number that ends at a blank or at `end`; advances *at behind it. */
static bool parse_index(const char *text, size_t length, size_t *at, uint32_t *value) {
    uint64_t number = 0;
    size_t begin = *at;
    for (; *at < length && text[*at] >= '0' && text[*at] <= '9'; ++*at) {
        number = 10 * number + (uint64_t)(text[*at] - '0');
        if (number >= UINT32_MAX)
            return false;
    }
    *value = (uint32_t)number;
    return *at > begin;
}

static psfm_status add_match(parser *p, const char *text, size_t length) {
    psfm_match_list *list = &p->file.pairs[p->file.num - 1].list;
    uint32_t match[2];
    size_t at = 0, end = length;
    bool good = parse_index(text, length, &at, &match[0]);
    size_t gap = at;
    psfm_trim(text, &at, &end);
    good = good && at > gap && parse_index(text, length, &at, &match[1]) && at == length;
    if (!good)
        return psfm_fail(p->ctx, PSFM_ERR_FORMAT,
                         "%s: line %zu: '%.*s' where two keypoint indices are needed", p->path,
                         p->line, (int)(length > 60 ? 60 : length), text);
    psfm_status status = PSFM_RESERVE(p->ctx, &list->matches, &p->match_capacity, list->num + 1);
    if (status == PSFM_OK)
        memcpy(list->matches[list->num++], match, sizeof match);
    return status;
}

static psfm_status parse_lines(parser *p, const char *bytes, size_t size) {
    psfm_status status = PSFM_OK;
    for (size_t begin = 0; status == PSFM_OK && begin < size;) {
        const char *newline = memchr(bytes + begin, '\n', size - begin);
        size_t end = newline == NULL ? size : (size_t)(newline - bytes), next = end + 1;
        psfm_trim(bytes, &begin, &end);
        ++p->line;
        if (begin == end)
            p->in_block = false;
        else if (bytes[begin] != '#')
            status = p->in_block ? add_match(p, bytes + begin, end - begin)
                                 : begin_block(p, bytes + begin, end - begin);
        begin = next;
    }
    return status;
}

static int by_images(const void *a, const void *b) {
    const size_t *p = a, *q = b;
    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

static psfm_status check_repeats(parser *p, const char *const *names) {
    size_t(*keys)[2] = NULL;
    const psfm_match_file *file = &p->file;
    psfm_status status = PSFM_ALLOC(p->ctx, file->num, &keys);
    if (status != PSFM_OK)
        return status;
    for (size_t k = 0; k < file->num; ++k) {
        size_t a = file->pairs[k].image1, b = file->pairs[k].image2;
        keys[k][0] = a < b ? a : b;
        keys[k][1] = a < b ? b : a;
    }
    qsort(keys, file->num, sizeof *keys, by_images);
    for (size_t k = 1; status == PSFM_OK && k < file->num; ++k)
        if (by_images(keys[k], keys[k - 1]) == 0)
            status = psfm_fail(p->ctx, PSFM_ERR_FORMAT, "%s: the pair '%s', '%s' comes twice",
                               p->path, names[keys[k][0]], names[keys[k][1]]);
    free(keys);
    return status;
}

psfm_status psfm_match_file_parse(psfm_context *ctx, const char *bytes, size_t size,
                                  const char *path, const char *const *names, size_t num,
                                  psfm_match_file *out) {
    parser p = {.ctx = ctx, .path = path};
    *out = (psfm_match_file){0};
    if (memchr(bytes, '\0', size) != NULL)
        return psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not a text file", path);
    psfm_status status = psfm_name_index_init(ctx, names, num, &p.names);
    if (status == PSFM_OK)
        status = parse_lines(&p, bytes, size);
    if (status == PSFM_OK && p.file.num == 0)
        status = psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: there are no matches in it", path);
    if (status == PSFM_OK)
        status = check_repeats(&p, names);
    if (status == PSFM_OK)
        *out = p.file;
    else
        psfm_match_file_free(&p.file);
    psfm_name_index_free(&p.names);
    return status;
}

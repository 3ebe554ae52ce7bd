/* Finding images by their names, and lines of text that hold two of them. */
#ifndef PSFM_BASE_NAME_INDEX_H
#define PSFM_BASE_NAME_INDEX_H

#include <stddef.h>

#include "core/base/context.h"

/* Names with their indices, sorted. Owns its array, not the names. */
typedef struct {
    struct psfm_named {
        const char *name;
        size_t idx;
    } * sorted;
    size_t num;
} psfm_name_index;

psfm_status psfm_name_index_init(psfm_context *ctx, const char *const *names, size_t num,
                                 psfm_name_index *out);
void psfm_name_index_free(psfm_name_index *index);

/* The index of a name of `length` bytes, not terminated; false if there is none. */
bool psfm_name_index_find(const psfm_name_index *index, const char *name, size_t length,
                          size_t *idx);

/* A line of a file without the white space around it. */
typedef struct {
    const char *path;
    size_t number; /* from 1 */
    const char *text;
    size_t length; /* the text is not terminated */
} psfm_text_line;

/* Splits a line into two different names with white space between them. Names may contain spaces as
 * long as there is one way only. PSFM_ERR_FORMAT says what is wrong with the line. */
psfm_status psfm_name_index_split(psfm_context *ctx, const psfm_name_index *index,
                                  const psfm_text_line *line, size_t *first, size_t *second);

#endif

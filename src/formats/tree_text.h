/* Small texts that hold trees: YAML, TOML, XML and JSON, as far as programs that calibrate cameras
 * write them. */
#ifndef PSFM_FORMATS_TREE_TEXT_H
#define PSFM_FORMATS_TREE_TEXT_H

#include <cjson/cJSON.h>

#include "core/base/context.h"

/* The tree of a text, by its first characters: '{' JSON, '<' XML, "%YAML" or a line "key:" YAML, a
 * line "[table]" or "key = value" TOML. Objects keep the order of their keys. Values of YAML and
 * TOML are numbers where they read as such, otherwise texts. An element of XML is an object of its
 * attributes and children, a text if it has neither; what is repeated becomes a list. *tree NULL:
 * it is none of these. PSFM_ERR_FORMAT with the line where the text breaks off. Free with
 * cJSON_Delete. The text ends with text[size] = 0. */
psfm_status psfm_tree_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                            cJSON **tree);

/* The parsers of one kind each. */
psfm_status psfm_yaml_parse(psfm_context *ctx, const char *text, const char *path, cJSON **tree);
psfm_status psfm_toml_parse(psfm_context *ctx, const char *text, const char *path, cJSON **tree);
psfm_status psfm_xml_parse(psfm_context *ctx, const char *text, const char *path, cJSON **tree);

/* ---- what they share ---- */

/* A place in a text. */
typedef struct {
    psfm_context *ctx;
    const char *path;
    const char *begin, *at;
} psfm_tree_cursor;

/* Fails at the line of the cursor. */
psfm_status psfm_tree_fail(const psfm_tree_cursor *c, const char *reason);

/* Reads a value that stands in one place: a number, a text with or without quotes, or a list
 * [a, b, ...] or mapping {a: b, ...} over any number of lines. A text without quotes ends at the
 * end of the line, at " #", and within brackets at ',', ']' and '}'. `equals` is between the keys
 * and values of mappings. */
psfm_status psfm_tree_value(psfm_tree_cursor *c, char equals, int depth, cJSON **value);

/* A number or a text. NULL when memory is out. */
cJSON *psfm_tree_scalar(const char *begin, size_t length);

/* Puts an item into an object, or at the end of a list with the key NULL; it is gone on failure. */
psfm_status psfm_tree_add(psfm_context *ctx, cJSON *parent, const char *key, size_t length,
                          cJSON *item);

#endif

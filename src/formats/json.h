/* cJSON trees as text. Numbers have a decimal point in every locale, also where cJSON was built
 * without support for locales. */
#ifndef PSFM_FORMATS_JSON_H
#define PSFM_FORMATS_JSON_H

#include <cjson/cJSON.h>

#include "core/base/context.h"

/* The tree of a text, NULL if it is not JSON; free with cJSON_Delete. What follows the value is
 * not looked at. */
cJSON *psfm_json_parse(const char *text, size_t size);
/* The same for a text that ends with text[size] = 0; nothing may follow the value. */
cJSON *psfm_json_parse_whole(const char *text, size_t size);

/* The text of a tree, indented; NULL when memory is out or `tree` is NULL. Free with
 * cJSON_free. */
char *psfm_json_print(const cJSON *tree);

/* Writes the tree, indented, with a final newline; whole or absent. */
psfm_status psfm_json_write(psfm_context *ctx, const cJSON *tree, const char *path);
/* The same, and hands out the text that was written, less the newline; free with cJSON_free. NULL
 * on failure. */
psfm_status psfm_json_write_and_keep(psfm_context *ctx, const cJSON *tree, const char *path,
                                     char **text);

/* Adds a number; null if it is not finite, which JSON has no word for. False when memory is out. */
bool psfm_json_add_number(cJSON *object, const char *name, double value);

/* Reads a finite number; false if it is none. */
bool psfm_json_get_number(const cJSON *item, double *out);
/* Reads a list of exactly `num` finite numbers; false if it is none. */
bool psfm_json_get_numbers(const cJSON *list, int num, double *out);

/* A tree in the making. Memory that runs out is remembered, and what is then missing is passed
 * over, so that only the end needs to be looked at. Items go into an object under a name, or to the
 * end of a list with the name NULL. */
typedef struct {
    bool failed;
} psfm_json_maker;

cJSON *psfm_json_object(psfm_json_maker *m, cJSON *parent, const char *name);
cJSON *psfm_json_list(psfm_json_maker *m, cJSON *parent, const char *name);
void psfm_json_number(psfm_json_maker *m, cJSON *parent, const char *name, double value);
void psfm_json_numbers(psfm_json_maker *m, cJSON *parent, const char *name, const double *values,
                       size_t num);
void psfm_json_text(psfm_json_maker *m, cJSON *parent, const char *name, const char *text);
void psfm_json_flag(psfm_json_maker *m, cJSON *parent, const char *name, bool value);
/* Takes over an item; NULL: memory was out for it. */
void psfm_json_put(psfm_json_maker *m, cJSON *parent, const char *name, cJSON *item);
/* The finished tree; NULL, and it is gone, when memory was out. */
cJSON *psfm_json_finish(const psfm_json_maker *m, cJSON *root);

/* Sorts an array: numbers by value, texts by their bytes, objects by their member `key` and, where
 * that is equal, by their member `then` (NULL: none). Equal ones stay in their order. Needs no
 * memory. O(n log n). */
void psfm_json_sort(cJSON *array, const char *key, const char *then);

#endif

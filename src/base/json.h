/* cJSON trees as text. Numbers have a decimal point in every locale, also where cJSON was built
 * without support for locales. */
#ifndef PSFM_BASE_JSON_H
#define PSFM_BASE_JSON_H

#include <cjson/cJSON.h>

#include "base/context.h"

/* The tree of a text, NULL if it is not JSON; free with cJSON_Delete. What follows the value is
 * not looked at. */
cJSON *psfm_json_parse(const char *text, size_t size);
/* The same for a text that ends with text[size] = 0; nothing may follow the value. */
cJSON *psfm_json_parse_whole(const char *text, size_t size);

/* The text of a tree, indented or in one line; NULL when memory is out or `tree` is NULL. Free with
 * cJSON_free. */
char *psfm_json_print(const cJSON *tree);
char *psfm_json_print_line(const cJSON *tree);

/* Writes the tree, indented, with a final newline; whole or absent. */
psfm_status psfm_json_write(psfm_context *ctx, const cJSON *tree, const char *path);

/* Adds a number; null if it is not finite, which JSON has no word for. False when memory is out. */
bool psfm_json_add_number(cJSON *object, const char *name, double value);

/* Adds an item, NULL when memory was out for it, and takes it over. False when memory is out. */
bool psfm_json_add_item(cJSON *object, const char *name, cJSON *item);

/* Sorts an array: numbers by value, texts by their bytes, objects by their member `key` and, where
 * that is equal, by their member `then` (NULL: none). Equal ones stay in their order. Needs no
 * memory. O(n log n). */
void psfm_json_sort(cJSON *array, const char *key, const char *then);

#endif

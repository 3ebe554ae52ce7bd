/* Reading and printing cJSON trees in the C locale, and writing them whole. */
#include "formats/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/number_locale.h"
#include "core/base/output.h"

cJSON *psfm_json_parse(const char *text, size_t size) {
    locale_t before = psfm_number_locale_begin();
    cJSON *tree = cJSON_ParseWithLength(text, size);
    psfm_number_locale_end(before);
    return tree;
}

cJSON *psfm_json_parse_whole(const char *text, size_t size) {
    locale_t before = psfm_number_locale_begin();
    cJSON *tree = cJSON_ParseWithLengthOpts(text, size + 1, NULL, true);
    psfm_number_locale_end(before);
    return tree;
}

/* The same text, or a copy in which bytes that are not UTF-8 are replaced: names of files may have
 * any, JSON may not. */
static char *make_valid(char *text) {
    uint32_t code;
    int length = 1;
    for (const char *at = text; at != NULL && *at != '\0' && length > 0; at += length)
        length = psfm_utf8_decode(at, &code);
    if (text == NULL || length > 0)
        return text;
    char *copy = NULL;
    if (psfm_utf8_copy(NULL, text, &copy) != PSFM_OK)
        copy = NULL;
    cJSON_free(text);
    return copy;
}

char *psfm_json_print(const cJSON *tree) {
    if (tree == NULL)
        return NULL;
    locale_t before = psfm_number_locale_begin();
    char *text = cJSON_Print(tree);
    psfm_number_locale_end(before);
    return make_valid(text);
}

psfm_status psfm_json_write_and_keep(psfm_context *ctx, const cJSON *tree, const char *path,
                                     char **text) {
    psfm_output out = {0};
    *text = psfm_json_print(tree);
    psfm_status status = *text == NULL ? psfm_fail_memory(ctx) : psfm_output_open(ctx, path, &out);
    if (status == PSFM_OK) {
        fprintf(out.file, "%s\n", *text);
        status = psfm_output_commit(ctx, &out);
    }
    psfm_output_abort(&out);
    if (status != PSFM_OK) {
        cJSON_free(*text);
        *text = NULL;
    }
    return status;
}

psfm_status psfm_json_write(psfm_context *ctx, const cJSON *tree, const char *path) {
    char *text;
    psfm_status status = psfm_json_write_and_keep(ctx, tree, path, &text);
    cJSON_free(text);
    return status;
}

bool psfm_json_add_number(cJSON *object, const char *name, double value) {
    return isfinite(value) ? cJSON_AddNumberToObject(object, name, value) != NULL
                           : cJSON_AddNullToObject(object, name) != NULL;
}

bool psfm_json_get_number(const cJSON *item, double *out) {
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
        return false;
    *out = item->valuedouble;
    return true;
}

bool psfm_json_get_numbers(const cJSON *list, int num, double *out) {
    const cJSON *item;
    bool good = cJSON_IsArray(list) && cJSON_GetArraySize(list) == num;
    if (good)
        cJSON_ArrayForEach(item, list) good = psfm_json_get_number(item, out++) && good;
    return good;
}

/* ---- trees in the making ---- */

/* The item in its place, or NULL. */
static cJSON *place_item(psfm_json_maker *m, cJSON *parent, const char *name, cJSON *item) {
    if (item != NULL && (name == NULL ? cJSON_AddItemToArray(parent, item)
                                      : cJSON_AddItemToObject(parent, name, item)))
        return item;
    cJSON_Delete(item);
    m->failed = true;
    return NULL;
}

void psfm_json_put(psfm_json_maker *m, cJSON *parent, const char *name, cJSON *item) {
    (void)place_item(m, parent, name, item);
}

cJSON *psfm_json_object(psfm_json_maker *m, cJSON *parent, const char *name) {
    return place_item(m, parent, name, cJSON_CreateObject());
}

cJSON *psfm_json_list(psfm_json_maker *m, cJSON *parent, const char *name) {
    return place_item(m, parent, name, cJSON_CreateArray());
}

void psfm_json_number(psfm_json_maker *m, cJSON *parent, const char *name, double value) {
    psfm_json_put(m, parent, name,
                  isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

void psfm_json_numbers(psfm_json_maker *m, cJSON *parent, const char *name, const double *values,
                       size_t num) {
    cJSON *list = psfm_json_list(m, parent, name);
    for (size_t k = 0; k < num; ++k)
        psfm_json_number(m, list, NULL, values[k]);
}

void psfm_json_text(psfm_json_maker *m, cJSON *parent, const char *name, const char *text) {
    psfm_json_put(m, parent, name, cJSON_CreateString(text));
}

void psfm_json_flag(psfm_json_maker *m, cJSON *parent, const char *name, bool value) {
    psfm_json_put(m, parent, name, cJSON_CreateBool(value));
}

cJSON *psfm_json_finish(const psfm_json_maker *m, cJSON *root) {
    if (!m->failed)
        return root;
    cJSON_Delete(root);
    return NULL;
}

/* ---- sorting ---- */

static int compare_values(const cJSON *a, const cJSON *b) {
    if (cJSON_IsString(a) && cJSON_IsString(b))
        return strcmp(a->valuestring, b->valuestring);
    if (cJSON_IsNumber(a) && cJSON_IsNumber(b))
        return (a->valuedouble > b->valuedouble) - (a->valuedouble < b->valuedouble);
    return 0;
}

static int compare_elements(const cJSON *a, const cJSON *b, const char *const keys[2]) {
    int order = compare_values(a, b);
    for (int k = 0; k < 2 && order == 0 && keys[k] != NULL; ++k)
        order = compare_values(cJSON_GetObjectItemCaseSensitive(a, keys[k]),
                               cJSON_GetObjectItemCaseSensitive(b, keys[k]));
    return order;
}

/* One list of two sorted ones; the first's elements come first where both are equal. */
static cJSON *merge_lists(cJSON *a, cJSON *b, const char *const keys[2]) {
    cJSON *merged = NULL, **end = &merged;
    while (a != NULL && b != NULL) {
        cJSON **least = compare_elements(a, b, keys) <= 0 ? &a : &b;
        *end = *least;
        *least = (*least)->next;
        end = &(*end)->next;
    }
    *end = a != NULL ? a : b;
    return merged;
}

/* Sorts the first num > 0 elements of a list and cuts the others off. */
static cJSON *merge_sort(cJSON *list, size_t num, const char *const keys[2]) {
    cJSON *second = list;
    if (num == 1) {
        list->next = NULL;
        return list;
    }
    for (size_t k = 0; k < num / 2; ++k)
        second = second->next;
    list = merge_sort(list, num / 2, keys);
    return merge_lists(list, merge_sort(second, num - num / 2, keys), keys);
}

void psfm_json_sort(cJSON *array, const char *key, const char *then) {
    size_t num = (size_t)cJSON_GetArraySize(array);
    if (num < 2)
        return;
    array->child = merge_sort(array->child, num, (const char *const[2]){key, then});
    cJSON *last = array->child;
    for (; last->next != NULL; last = last->next)
        last->next->prev = last;
    array->child->prev = last; /* cJSON's way to the end of a list */
}

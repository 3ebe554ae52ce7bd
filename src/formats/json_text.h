/* JSON texts without a tree: a tree takes forty times the memory of its text. A text is checked
 * once as a whole; after that, values are places in it. Printed again, it may stand anywhere, also
 * inside an HTML page. */
#ifndef PSFM_FORMATS_JSON_TEXT_H
#define PSFM_FORMATS_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A value in a checked text, which must live on; begin is NULL if there is none. */
typedef struct {
    const char *begin, *end;
} psfm_json_value;

/* Checks a text with text[size] = 0: one value of JSON, blanks around it, at most 1000 levels. */
bool psfm_json_text_check(const char *text, size_t size, psfm_json_value *value);

bool psfm_json_is_array(psfm_json_value value);
bool psfm_json_is_object(psfm_json_value value);

/* Steps to the next member of an object or element of an array: start with `after` NULL, then give
 * the last value found. False at the end, and for other values. `name` (the quoted text) may be
 * NULL. */
bool psfm_json_next(psfm_json_value parent, const char *after, psfm_json_value *name,
                    psfm_json_value *value);

/* The first member of this name, without escapes in it; none if there is no such member or
 * `object` is no object. */
psfm_json_value psfm_json_find(psfm_json_value object, const char *name);

/* The string as it is meant; NULL if the value is none, or memory is out. Free with free. */
char *psfm_json_string(psfm_json_value value);

/* Prints the value without blanks, strings as psfm_print_json_string does, numbers with nine
 * digits, null for what is not finite, for no value, and in place of `hidden`, a value inside it or
 * none. The caller sees to the locale and to write errors. One pass. */
void psfm_json_print_value(FILE *file, psfm_json_value value, psfm_json_value hidden);

#endif

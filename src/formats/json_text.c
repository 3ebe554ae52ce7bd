/* One recursive descent checks the text; everything else relies on it and looks for the ends of
 * strings and of brackets only. */
#include "formats/json_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "formats/json.h"

enum { MAX_DEPTH = 1000 };

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static bool is_hex4(const char *at) {
    return strspn(at, "0123456789abcdefABCDEF") >= 4;
}

static unsigned parse_hex(const char *at) {
    char digits[5] = {at[0], at[1], at[2], at[3], '\0'};
    return (unsigned)strtoul(digits, NULL, 16);
}

/* ---- checking: each returns the end of what it takes, NULL if it is not there ---- */

/* \uXXXX; halves of surrogates only in pairs. */
static const char *check_unicode(const char *at) {
    if (!is_hex4(at))
        return NULL;
    unsigned code = parse_hex(at);
    if (code >= 0xdc00 && code < 0xe000)
        return NULL;
    if (code < 0xd800 || code >= 0xdc00)
        return code == 0 ? NULL : at + 4;
    if (at[4] != '\\' || at[5] != 'u' || !is_hex4(at + 6))
        return NULL;
    unsigned low = parse_hex(at + 6);
    return low >= 0xdc00 && low < 0xe000 ? at + 10 : NULL;
}

static const char *check_string(const char *at) {
    if (*at++ != '"')
        return NULL;
    while (at != NULL && *at != '"') {
        at += strcspn(at, "\"\\");
        if (*at == '\0')
            return NULL;
        if (*at == '\\')
            at = at[1] == 'u'                                           ? check_unicode(at + 2)
                 : at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL ? at + 2
                                                                        : NULL;
    }
    return at == NULL ? NULL : at + 1;
}

static const char *check_digits(const char *at) {
    size_t num = strspn(at, "0123456789");
    return num == 0 ? NULL : at + num;
}

static const char *check_number(const char *at) {
    at = check_digits(at + (*at == '-'));
    if (at != NULL && *at == '.')
        at = check_digits(at + 1);
    if (at != NULL && (*at == 'e' || *at == 'E'))
        at = check_digits(at + 1 + (at[1] == '-' || at[1] == '+'));
    return at;
}

static const char *check_word(const char *at, const char *word) {
    return strncmp(at, word, strlen(word)) == 0 ? at + strlen(word) : NULL;
}

static const char *check_value(const char *at, int depth);

static const char *check_member(const char *at, int depth) {
    at = check_string(at);
    if (at == NULL || *(at = skip_blanks(at)) != ':')
        return NULL;
    return check_value(skip_blanks(at + 1), depth);
}

static const char *check_list(const char *at, int depth) {
    char close = *at == '{' ? '}' : ']';
    if (depth == MAX_DEPTH)
        return NULL;
    at = skip_blanks(at + 1);
    if (*at == close)
        return at + 1;
    for (;;) {
        at = close == '}' ? check_member(at, depth + 1) : check_value(at, depth + 1);
        if (at == NULL)
            return NULL;
        at = skip_blanks(at);
        if (*at != ',')
            return *at == close ? at + 1 : NULL;
        at = skip_blanks(at + 1);
    }
}

static const char *check_value(const char *at, int depth) {
    switch (*at) {
    case '{':
    case '[':
        return check_list(at, depth);
    case '"':
        return check_string(at);
    case 't':
        return check_word(at, "true");
    case 'f':
        return check_word(at, "false");
    case 'n':
        return check_word(at, "null");
    default:
        return check_number(at);
    }
}

bool psfm_json_text_check(const char *text, size_t size, psfm_json_value *value) {
    const char *begin = skip_blanks(text), *end = check_value(begin, 0);
    *value = (psfm_json_value){0};
    if (end == NULL || skip_blanks(end) != text + size)
        return false;
    *value = (psfm_json_value){begin, end};
    return true;
}

/* ---- walking in a checked text ---- */

static const char *end_of_string(const char *at) {
    for (++at;;) {
        at += strcspn(at, "\"\\");
        if (*at == '"')
            return at + 1;
        at += 2;
    }
}

static const char *end_of_value(const char *at) {
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = end_of_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        ++at;
        if (depth > 0)
            at += strcspn(at, "\"{}[]");
    } while (depth > 0);
    return at[-1] == '}' || at[-1] == ']' || at[-1] == '"' ? at : at + strcspn(at, ",]} \t\r\n");
}

bool psfm_json_is_array(psfm_json_value value) {
    return value.begin != NULL && *value.begin == '[';
}

bool psfm_json_is_object(psfm_json_value value) {
    return value.begin != NULL && *value.begin == '{';
}

bool psfm_json_next(psfm_json_value parent, const char *after, psfm_json_value *name,
                    psfm_json_value *value) {
    if (!psfm_json_is_array(parent) && !psfm_json_is_object(parent))
        return false;
    const char *at = skip_blanks(after == NULL ? parent.begin + 1 : after);
    if (*at == ',')
        at = skip_blanks(at + 1);
    if (*at == ']' || *at == '}')
        return false;
    psfm_json_value key = {0};
    if (psfm_json_is_object(parent)) {
        key = (psfm_json_value){at, end_of_string(at)};
        at = skip_blanks(skip_blanks(key.end) + 1);
    }
    if (name != NULL)
        *name = key;
    *value = (psfm_json_value){at, end_of_value(at)};
    return true;
}

psfm_json_value psfm_json_find(psfm_json_value object, const char *name) {
    psfm_json_value key, value = {0};
    size_t length = strlen(name);
    while (psfm_json_is_object(object) && psfm_json_next(object, value.end, &key, &value))
        if ((size_t)(key.end - key.begin) == length + 2 && memcmp(key.begin + 1, name, length) == 0)
            return value;
    return (psfm_json_value){0};
}

char *psfm_json_string(psfm_json_value value) {
    if (value.begin == NULL || *value.begin != '"')
        return NULL;
    cJSON *item = psfm_json_parse(value.begin, (size_t)(value.end - value.begin));
    const char *text = cJSON_GetStringValue(item);
    char *copy = text == NULL ? NULL : strdup(text);
    cJSON_Delete(item);
    return copy;
}

/* ---- printing ---- */

static const char *print_string(FILE *file, const char *at) {
    psfm_json_value value = {at, end_of_string(at)};
    char *text = psfm_json_string(value);
    psfm_print_json_string(file, text == NULL ? "" : text);
    free(text);
    return value.end;
}

static const char *print_number(FILE *file, const char *at) {
    char *end;
    double number = strtod(at, &end);
    if (isfinite(number))
        fprintf(file, "%.9g", number);
    else
        fputs("null", file);
    return end;
}

void psfm_json_print_value(FILE *file, psfm_json_value value, psfm_json_value hidden) {
    if (value.begin == NULL)
        fputs("null", file);
    for (const char *at = value.begin; at < value.end;) {
        if (at == hidden.begin) {
            fputs("null", file);
            at = hidden.end;
        } else if (*at == '"') {
            at = print_string(file, at);
        } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
            at = print_number(file, at);
        } else {
            if (strchr(" \t\r\n", *at) == NULL)
                fputc(*at, file);
            ++at;
        }
    }
}

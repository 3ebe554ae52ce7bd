/* What YAML, TOML and XML have in common, and which of them a text is. Values within brackets are
 * the same in the first two. */
#include "formats/tree_text.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/number_locale.h"
#include "formats/json.h"

#define MAX_DEPTH 32

psfm_status psfm_tree_fail(const psfm_tree_cursor *c, const char *reason) {
    size_t line = 1;
    for (const char *p = c->begin; p < c->at; ++p)
        line += *p == '\n';
    return psfm_fail(c->ctx, PSFM_ERR_FORMAT, "%s: line %zu: %s", c->path, line, reason);
}

cJSON *psfm_tree_scalar(const char *begin, size_t length) {
    char *text = malloc(length + 1);
    double number;
    if (text == NULL)
        return NULL;
    memcpy(text, begin, length);
    text[length] = '\0';
    cJSON *item =
        psfm_parse_number(text, &number) ? cJSON_CreateNumber(number) : cJSON_CreateString(text);
    free(text);
    return item;
}

psfm_status psfm_tree_add(psfm_context *ctx, cJSON *parent, const char *key, size_t length,
                          cJSON *item) {
    char *name = key == NULL ? NULL : malloc(length + 1);
    bool ok = item != NULL && parent != NULL && (key == NULL || name != NULL);
    if (name != NULL) {
        memcpy(name, key, length);
        name[length] = '\0';
    }
    ok = ok && (key == NULL ? cJSON_AddItemToArray(parent, item)
                            : cJSON_AddItemToObject(parent, name, item));
    free(name);
    if (ok)
        return PSFM_OK;
    cJSON_Delete(item);
    return psfm_fail_memory(ctx);
}

/* Spaces, ends of lines and comments. */
static void skip_space(psfm_tree_cursor *c) {
    while (*c->at != '\0' && strchr(" \t\r\n#", *c->at) != NULL) {
        if (*c->at == '#')
            c->at += strcspn(c->at, "\n");
        else
            ++c->at;
    }
}

static psfm_status read_quoted(psfm_tree_cursor *c, cJSON **value) {
    const char quote = *c->at;
    const char *begin = c->at + 1, *end = begin;
    while (*end != '\0' && *end != '\n' && *end != quote)
        end += *end == '\\' && quote == '"' && end[1] != '\0' ? 2 : 1;
    if (*end != quote)
        return psfm_tree_fail(c, "a text has no end");
    c->at = end + 1;
    char *text = strndup(begin, (size_t)(end - begin));
    *value = text == NULL ? NULL : cJSON_CreateString(text);
    free(text);
    return *value == NULL ? psfm_fail_memory(c->ctx) : PSFM_OK;
}

static psfm_status read_plain(psfm_tree_cursor *c, bool in_brackets, cJSON **value) {
    const char *begin = c->at;
    size_t length = strcspn(begin, in_brackets ? ",]}\n" : "\n");
    for (size_t k = 1; k < length; ++k)
        if (begin[k] == '#' && (begin[k - 1] == ' ' || begin[k - 1] == '\t'))
            length = k;
    c->at = begin + length;
    while (length > 0 && strchr(" \t\r", begin[length - 1]) != NULL)
        --length;
    *value = psfm_tree_scalar(begin, length);
    return *value == NULL ? psfm_fail_memory(c->ctx) : PSFM_OK;
}

/* The key before a value of a mapping within brackets. */
static psfm_status read_key(psfm_tree_cursor *c, char equals, const char **key, size_t *length) {
    const char *begin = c->at, *end = strpbrk(begin, equals == ':' ? ":,}]\n" : "=,}]\n");
    if (end == NULL || *end != equals)
        return psfm_tree_fail(c, "a key without a value");
    c->at = end + 1;
    while (end > begin && strchr(" \t\"'", end[-1]) != NULL)
        --end;
    while (begin < end && strchr("\"'", *begin) != NULL)
        ++begin;
    *key = begin;
    *length = (size_t)(end - begin);
    return PSFM_OK;
}

static psfm_status read_brackets(psfm_tree_cursor *c, char equals, int depth, cJSON **value) {
    const bool is_list = *c->at == '[';
    const char close = is_list ? ']' : '}';
    const char *key = NULL;
    size_t length = 0;
    psfm_status status = PSFM_OK;
    *value = is_list ? cJSON_CreateArray() : cJSON_CreateObject();
    if (*value == NULL)
        return psfm_fail_memory(c->ctx);
    ++c->at;
    for (skip_space(c); *c->at != close; skip_space(c)) {
        cJSON *item = NULL;
        if (*c->at == '\0')
            return psfm_tree_fail(c, "a list has no end");
        if (!is_list)
            status = read_key(c, equals, &key, &length);
        if (status == PSFM_OK)
            status = psfm_tree_value(c, equals, depth + 1, &item);
        if (status == PSFM_OK)
            status = psfm_tree_add(c->ctx, *value, key, length, item);
        else
            cJSON_Delete(item);
        if (status != PSFM_OK)
            return status;
        skip_space(c);
        if (*c->at == ',')
            ++c->at;
        else if (*c->at != close)
            return psfm_tree_fail(c, "a list without a comma or its end");
    }
    ++c->at;
    return PSFM_OK;
}

psfm_status psfm_tree_value(psfm_tree_cursor *c, char equals, int depth, cJSON **value) {
    if (depth > MAX_DEPTH)
        return psfm_tree_fail(c, "too many lists within each other");
    if (depth > 0)
        skip_space(c);
    if (*c->at == '[' || *c->at == '{')
        return read_brackets(c, equals, depth, value);
    if (*c->at == '"' || *c->at == '\'')
        return read_quoted(c, value);
    return read_plain(c, depth > 0, value);
}

/* The first line that says something. */
static const char *first_line(const char *text) {
    while (true) {
        text += strspn(text, " \t\r\n");
        if (*text != '#')
            return text;
        text += strcspn(text, "\n");
    }
}

/* Whether the line is "key:" or "key: value". */
static bool is_yaml_line(const char *line) {
    size_t length = strcspn(line, ":=\n");
    return line[length] == ':' && (line[length + 1] == '\0' || strchr(" \r\n", line[length + 1]));
}

static bool is_toml_line(const char *line) {
    size_t length = strcspn(line, "=\n");
    return line[0] == '[' || (line[length] == '=' && strcspn(line, ":") > length);
}

psfm_status psfm_tree_parse(psfm_context *ctx, const char *text, size_t size, const char *path,
                            cJSON **tree) {
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* the mark of UTF-8 */
    const char *line = first_line(text);
    *tree = NULL;
    if (*line == '<')
        return psfm_xml_parse(ctx, text, path, tree);
    if (*line == '{') {
        *tree = psfm_json_parse_whole(line, strlen(line));
        return *tree != NULL ? PSFM_OK
                             : psfm_fail(ctx, PSFM_ERR_FORMAT, "%s: not sound JSON", path);
    }
    if (strncmp(line, "%YAML", 5) == 0 || strncmp(line, "---", 3) == 0 || is_yaml_line(line))
        return psfm_yaml_parse(ctx, text, path, tree);
    return is_toml_line(line) ? psfm_toml_parse(ctx, text, path, tree) : PSFM_OK;
}

/* YAML as OpenCV, ROS and Kalibr write it: mappings and lists by indentation or in brackets, with
 * tags ("!!opencv-matrix"), which are passed over. No anchors, no texts over several lines. */
#include <stdlib.h>
#include <string.h>

#include "formats/tree_text.h"

#define MAX_DEPTH 32

/* Goes to the next line that says something; returns its indentation, -1 at the end. */
static int find_line(psfm_tree_cursor *c) {
    while (*c->at != '\0') {
        size_t indent = strspn(c->at, " ");
        const char *line = c->at + indent;
        bool is_empty = *line == '\0' || strchr("#\r\n\t", *line) != NULL ||
                        strncmp(line, "---", 3) == 0 || strncmp(line, "%YAML", 5) == 0 ||
                        strncmp(line, "...", 3) == 0;
        if (!is_empty)
            return indent < 1000 ? (int)indent : 1000;
        c->at += strcspn(c->at, "\n");
        c->at += *c->at == '\n';
    }
    return -1;
}

static void skip_blanks(psfm_tree_cursor *c) {
    c->at += strspn(c->at, " \t");
    if (*c->at == '!') { /* a tag */
        c->at += strcspn(c->at, " \t\r\n");
        c->at += strspn(c->at, " \t");
    }
}

static bool is_line_end(const psfm_tree_cursor *c) {
    return *c->at == '\0' || strchr("#\r\n", *c->at) != NULL;
}

static psfm_status read_block(psfm_tree_cursor *c, int indent, int depth, cJSON **value);

/* What stands behind "key:" or "- " of a line of this indentation, or in the lines below it. */
static psfm_status read_item(psfm_tree_cursor *c, int indent, int depth, cJSON **value) {
    skip_blanks(c);
    if (!is_line_end(c)) {
        psfm_status status = psfm_tree_value(c, ':', 0, value);
        c->at += strcspn(c->at, "\n");
        return status;
    }
    c->at += strcspn(c->at, "\n");
    int below = find_line(c);
    bool is_list = below == indent && c->at[below] == '-'; /* may stand no deeper than its key */
    if (below > indent || is_list)
        return read_block(c, below, depth + 1, value);
    *value = cJSON_CreateNull();
    return *value == NULL ? psfm_fail_memory(c->ctx) : PSFM_OK;
}

static psfm_status read_key(psfm_tree_cursor *c, const char **key, size_t *length) {
    const char *begin = c->at, *end;
    if (*begin == '"' || *begin == '\'') {
        end = strchr(begin + 1, *begin);
        if (end == NULL || end[1] != ':')
            return psfm_tree_fail(c, "not \"key: value\"");
        *key = begin + 1;
        *length = (size_t)(end - begin - 1);
        c->at = end + 2;
        return PSFM_OK;
    }
    end = begin + strcspn(begin, ":\n");
    while (*end == ':' && end[1] != '\0' && strchr(" \t\r\n", end[1]) == NULL)
        end += 1 + strcspn(end + 1, ":\n");
    if (*end != ':')
        return psfm_tree_fail(c, "not \"key: value\"");
    *key = begin;
    *length = (size_t)(end - begin);
    c->at = end + 1;
    return PSFM_OK;
}

/* "- key: value" begins a mapping whose other lines are indented as far as `key`. */
static bool begins_mapping(const psfm_tree_cursor *c) {
    const char *line = c->at + strspn(c->at, " ");
    size_t length = strcspn(line, ":\n[{\"'");
    return line[length] == ':' && (line[length + 1] == ' ' || line[length + 1] == '\n');
}

static psfm_status read_dash(psfm_tree_cursor *c, int indent, int depth, cJSON **value) {
    const char *dash = c->at;
    ++c->at;
    if (!begins_mapping(c))
        return read_item(c, indent, depth, value);
    int inside = indent + 1 + (int)strspn(c->at, " ");
    c->at = dash + 1 + strspn(dash + 1, " ");
    return read_block(c, inside, depth + 1, value);
}

/* Lines of one indentation: a mapping or a list. The cursor is at the first one's begin, or behind
 * the dash before it. */
static psfm_status read_block(psfm_tree_cursor *c, int indent, int depth, cJSON **value) {
    psfm_status status = PSFM_OK;
    bool is_first = true;
    if (depth > MAX_DEPTH)
        return psfm_tree_fail(c, "too deep");
    c->at += strspn(c->at, " ");
    const bool is_list = *c->at == '-' && (c->at[1] == ' ' || c->at[1] == '\n');
    *value = is_list ? cJSON_CreateArray() : cJSON_CreateObject();
    if (*value == NULL)
        return psfm_fail_memory(c->ctx);
    while (status == PSFM_OK && (is_first || find_line(c) == indent)) {
        const char *key = NULL;
        size_t length = 0;
        cJSON *item = NULL;
        const char *line = c->at + strspn(c->at, " ");
        if (!is_first && is_list != (*line == '-' && strchr(" \n", line[1]) != NULL))
            break;
        c->at = line;
        is_first = false;
        if (!is_list)
            status = read_key(c, &key, &length);
        if (status == PSFM_OK)
            status =
                is_list ? read_dash(c, indent, depth, &item) : read_item(c, indent, depth, &item);
        if (status == PSFM_OK)
            status = psfm_tree_add(c->ctx, *value, key, length, item);
        else
            cJSON_Delete(item);
    }
    if (status == PSFM_OK && find_line(c) > indent)
        status = psfm_tree_fail(c, "its indentation is that of no line above");
    return status;
}

psfm_status psfm_yaml_parse(psfm_context *ctx, const char *text, const char *path, cJSON **tree) {
    psfm_tree_cursor c = {ctx, path, text, text};
    int indent = find_line(&c);
    psfm_status status = PSFM_OK;
    *tree = NULL;
    if (indent < 0)
        return psfm_tree_fail(&c, "there is nothing in it");
    status = read_block(&c, indent, 0, tree);
    if (status == PSFM_OK && find_line(&c) >= 0)
        status = psfm_tree_fail(&c, "its indentation is that of no line above");
    if (status != PSFM_OK) {
        cJSON_Delete(*tree);
        *tree = NULL;
    }
    return status;
}

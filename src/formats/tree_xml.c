/* XML as OpenCV and Agisoft write it: elements, attributes, text. Comments, declarations and
 * document types are passed over; entities stay as they are written. */
#include <string.h>

#include "formats/tree_text.h"

#define MAX_DEPTH 64
#define NAME_ENDS " \t\r\n/>=<"

static void skip_space(psfm_tree_cursor *c) {
    c->at += strspn(c->at, " \t\r\n");
}

/* Passes over "<?...?>", "<!--...-->" and "<!...>"; false if there is none, or no end. */
static bool skip_declaration(psfm_tree_cursor *c) {
    const char *end = strncmp(c->at, "<!--", 4) == 0 ? "-->"
                      : strncmp(c->at, "<?", 2) == 0 ? "?>"
                      : strncmp(c->at, "<!", 2) == 0 ? ">"
                                                     : NULL;
    const char *found = end == NULL ? NULL : strstr(c->at, end);
    if (found == NULL)
        return false;
    c->at = found + strlen(end);
    return true;
}

/* Adds a child; a second one of the same name makes a list of both. */
static psfm_status add_child(psfm_context *ctx, cJSON *parent, const char *name, size_t length,
                             cJSON *item) {
    cJSON *before = parent->child;
    while (before != NULL &&
           (strlen(before->string) != length || memcmp(before->string, name, length) != 0))
        before = before->next;
    if (before == NULL)
        return psfm_tree_add(ctx, parent, name, length, item);
    psfm_status status = PSFM_OK;
    if (!cJSON_IsArray(before)) {
        cJSON *first = cJSON_DetachItemViaPointer(parent, before), *list = cJSON_CreateArray();
        before = list;
        status = psfm_tree_add(ctx, list, NULL, 0, first);
        if (status == PSFM_OK)
            status = psfm_tree_add(ctx, parent, name, length, list);
        else
            cJSON_Delete(list);
    }
    if (status == PSFM_OK)
        return psfm_tree_add(ctx, before, NULL, 0, item);
    cJSON_Delete(item);
    return status;
}

static psfm_status read_attribute(psfm_tree_cursor *c, cJSON *element) {
    const char *name = c->at;
    size_t length = strcspn(name, NAME_ENDS);
    c->at += length;
    skip_space(c);
    if (length == 0 || *c->at != '=')
        return psfm_tree_fail(c, "an attribute without a value");
    ++c->at;
    skip_space(c);
    const char quote = *c->at;
    const char *end = quote == '"' || quote == '\'' ? strchr(c->at + 1, quote) : NULL;
    if (end == NULL)
        return psfm_tree_fail(c, "an attribute without quotes");
    cJSON *value = psfm_tree_scalar(c->at + 1, (size_t)(end - c->at - 1));
    c->at = end + 1;
    return add_child(c->ctx, element, name, length, value);
}

/* The text of an element without children takes the place of the element; beside attributes it is
 * their "text". */
static psfm_status keep_text(psfm_tree_cursor *c, const char *begin, const char *end,
                             cJSON **element) {
    while (begin < end && strchr(" \t\r\n", *begin) != NULL)
        ++begin;
    while (end > begin && strchr(" \t\r\n", end[-1]) != NULL)
        --end;
    if (begin == end && (*element)->child != NULL)
        return PSFM_OK;
    cJSON *text = psfm_tree_scalar(begin, (size_t)(end - begin));
    if ((*element)->child != NULL)
        return psfm_tree_add(c->ctx, *element, "text", 4, text);
    cJSON_Delete(*element);
    *element = text;
    return text == NULL ? psfm_fail_memory(c->ctx) : PSFM_OK;
}

static psfm_status read_element(psfm_tree_cursor *c, int depth, cJSON *parent);

/* What stands between the tags, and the closing one. */
static psfm_status read_content(psfm_tree_cursor *c, const char *name, size_t length, int depth,
                                cJSON **element) {
    const char *text = c->at;
    bool has_children = false;
    psfm_status status = PSFM_OK;
    while (status == PSFM_OK) {
        c->at += strcspn(c->at, "<");
        if (*c->at == '\0')
            return psfm_tree_fail(c, "an element has no end");
        if (c->at[1] == '/')
            break;
        if (skip_declaration(c))
            continue;
        has_children = true;
        status = read_element(c, depth + 1, *element);
    }
    const char *end = c->at;
    if (status == PSFM_OK &&
        (strncmp(end + 2, name, length) != 0 || strspn(end + 2 + length, " \t\r\n>") == 0))
        status = psfm_tree_fail(c, "another element ends here than began");
    if (status == PSFM_OK && !has_children)
        status = keep_text(c, text, end, element);
    c->at = end + strcspn(end, ">");
    c->at += *c->at == '>';
    return status;
}

static psfm_status read_element(psfm_tree_cursor *c, int depth, cJSON *parent) {
    if (*c->at != '<' || depth > MAX_DEPTH)
        return psfm_tree_fail(c, "not an element");
    const char *name = c->at + 1;
    size_t length = strcspn(name, NAME_ENDS);
    if (length == 0)
        return psfm_tree_fail(c, "not an element");
    cJSON *element = cJSON_CreateObject();
    psfm_status status = element == NULL ? psfm_fail_memory(c->ctx) : PSFM_OK;
    c->at = name + length;
    for (skip_space(c); status == PSFM_OK && *c->at != '>' && *c->at != '/'; skip_space(c))
        status = read_attribute(c, element);
    bool is_empty = *c->at == '/';
    c->at += is_empty;
    if (status == PSFM_OK && *c->at != '>')
        status = psfm_tree_fail(c, "a tag has no end");
    if (status == PSFM_OK) {
        ++c->at;
        status = is_empty ? PSFM_OK : read_content(c, name, length, depth, &element);
    }
    if (status == PSFM_OK)
        return add_child(c->ctx, parent, name, length, element);
    cJSON_Delete(element);
    return status;
}

psfm_status psfm_xml_parse(psfm_context *ctx, const char *text, const char *path, cJSON **tree) {
    psfm_tree_cursor c = {ctx, path, text, text};
    *tree = cJSON_CreateObject();
    psfm_status status = *tree == NULL ? psfm_fail_memory(ctx) : PSFM_OK;
    do
        skip_space(&c);
    while (skip_declaration(&c));
    if (status == PSFM_OK)
        status = read_element(&c, 0, *tree);
    if (status != PSFM_OK) {
        cJSON_Delete(*tree);
        *tree = NULL;
    }
    return status;
}

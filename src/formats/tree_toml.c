/* TOML as Pose2Sim, Caliscope and Anipose write it: tables "[a.b]", "key = value", lists over
 * several lines. No lists of tables, no texts over several lines. */
#include <string.h>

#include "formats/tree_text.h"

/* The table of this dotted name; those on the way are made. */
static psfm_status open_table(psfm_tree_cursor *c, cJSON *root, cJSON **table) {
    const char *end = c->at + strcspn(c->at, "]\n");
    if (*end != ']' || c->at[1] == '[')
        return psfm_tree_fail(c, "not \"[table]\"");
    *table = root;
    for (const char *at = c->at + 1; at < end;) {
        size_t length = strcspn(at, ".]");
        const char *name = at;
        at += length + 1;
        while (length > 0 && strchr(" \"'", *name) != NULL) {
            ++name;
            --length;
        }
        while (length > 0 && strchr(" \"'", name[length - 1]) != NULL)
            --length;
        cJSON *child = (*table)->child;
        while (child != NULL &&
               (strlen(child->string) != length || memcmp(child->string, name, length) != 0))
            child = child->next;
        if (child == NULL) {
            child = cJSON_CreateObject();
            psfm_status status = psfm_tree_add(c->ctx, *table, name, length, child);
            if (status != PSFM_OK)
                return status;
        }
        if (!cJSON_IsObject(child))
            return psfm_tree_fail(c, "a table with the name of a value");
        *table = child;
    }
    c->at = end + 1;
    return PSFM_OK;
}

static psfm_status read_assignment(psfm_tree_cursor *c, cJSON *table) {
    const char *key = c->at;
    size_t length = strcspn(key, "=\n");
    cJSON *value = NULL;
    if (key[length] != '=')
        return psfm_tree_fail(c, "not \"key = value\"");
    c->at = key + length + 1;
    c->at += strspn(c->at, " \t");
    while (length > 0 && strchr(" \t\"'", key[length - 1]) != NULL)
        --length;
    while (length > 0 && strchr("\"'", *key) != NULL) {
        ++key;
        --length;
    }
    psfm_status status = psfm_tree_value(c, '=', 0, &value);
    if (status == PSFM_OK)
        return psfm_tree_add(c->ctx, table, key, length, value);
    cJSON_Delete(value);
    return status;
}

psfm_status psfm_toml_parse(psfm_context *ctx, const char *text, const char *path, cJSON **tree) {
    psfm_tree_cursor c = {ctx, path, text, text};
    cJSON *table = *tree = cJSON_CreateObject();
    psfm_status status = table == NULL ? psfm_fail_memory(ctx) : PSFM_OK;
    while (status == PSFM_OK) {
        c.at += strspn(c.at, " \t\r\n");
        if (*c.at == '\0')
            break;
        if (*c.at == '[')
            status = open_table(&c, *tree, &table);
        else if (*c.at != '#')
            status = read_assignment(&c, table);
        c.at += strspn(c.at, " \t\r");
        if (status == PSFM_OK && *c.at != '#' && *c.at != '\n' && *c.at != '\0')
            status = psfm_tree_fail(&c, "more than one value");
        c.at += strcspn(c.at, "\n");
    }
    if (status != PSFM_OK) {
        cJSON_Delete(*tree);
        *tree = NULL;
    }
    return status;
}

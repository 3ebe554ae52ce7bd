/* JSON that can stand inside an HTML page. */
#include "io/json_text.h"

#include <math.h>

#include "base/escape.h"

static void print_members(FILE *file, const cJSON *tree, char open, char close) {
    fputc(open, file);
    for (const cJSON *item = tree->child; item != NULL; item = item->next) {
        if (item != tree->child)
            fputc(',', file);
        if (open == '{') {
            psfm_print_json_string(file, item->string == NULL ? "" : item->string);
            fputc(':', file);
        }
        psfm_json_print_tree(file, item);
    }
    fputc(close, file);
}

void psfm_json_print_tree(FILE *file, const cJSON *tree) {
    if (cJSON_IsObject(tree))
        print_members(file, tree, '{', '}');
    else if (cJSON_IsArray(tree))
        print_members(file, tree, '[', ']');
    else if (cJSON_IsString(tree))
        psfm_print_json_string(file, tree->valuestring);
    else if (cJSON_IsNumber(tree) && isfinite(tree->valuedouble))
        fprintf(file, "%.9g", tree->valuedouble);
    else if (cJSON_IsBool(tree))
        fputs(cJSON_IsTrue(tree) ? "true" : "false", file);
    else
        fputs("null", file);
}

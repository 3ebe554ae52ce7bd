/* JSON that can stand inside an HTML page. UTF-8 is decoded strictly: what is malformed, overlong
 * or a surrogate becomes U+FFFD. */
#include "io/json_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Length of the UTF-8 sequence at `text` and its code point; 0 if it is malformed, overlong, a
 * surrogate or beyond Unicode. */
static int decode(const unsigned char *text, uint32_t *code) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = text[0] < 0x80           ? 1
                 : (text[0] >> 5) == 0x06 ? 2
                 : (text[0] >> 4) == 0x0e ? 3
                 : (text[0] >> 3) == 0x1e ? 4
                                          : 0;
    if (length <= 1) {
        *code = text[0];
        return length;
    }
    *code = text[0] & (0xffU >> (length + 1));
    for (int k = 1; k < length; ++k) {
        if ((text[k] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (text[k] & 0x3fU);
    }
    bool good =
        *code >= smallest[length] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
    return good ? length : 0;
}

static bool is_plain(uint32_t code) {
    return code >= 0x20 && code != '"' && code != '\\' && code != '<' && code != '>' &&
           code != '&' && code != 0x7f && code != 0x2028 && code != 0x2029;
}

void psfm_json_print_string(FILE *file, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', file);
    while (*at != '\0') {
        uint32_t code;
        int length = decode(at, &code);
        if (length == 0)
            fputs("\\ufffd", file);
        else if (is_plain(code))
            fwrite(at, 1, (size_t)length, file);
        else
            fprintf(file, "\\u%04x", (unsigned)code);
        at += length == 0 ? 1 : length;
    }
    fputc('"', file);
}

static void print_members(FILE *file, const cJSON *tree, char open, char close) {
    fputc(open, file);
    for (const cJSON *item = tree->child; item != NULL; item = item->next) {
        if (item != tree->child)
            fputc(',', file);
        if (open == '{') {
            psfm_json_print_string(file, item->string == NULL ? "" : item->string);
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
        psfm_json_print_string(file, tree->valuestring);
    else if (cJSON_IsNumber(tree) && isfinite(tree->valuedouble))
        fprintf(file, "%.9g", tree->valuedouble);
    else if (cJSON_IsBool(tree))
        fputs(cJSON_IsTrue(tree) ? "true" : "false", file);
    else
        fputs("null", file);
}

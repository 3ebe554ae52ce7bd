/* Text of others in files and on terminals: UTF-8 decoded strictly, byte by byte what is not; each
 * form of output then escapes what its readers would take for more than text. O(length). */
#include "core/base/escape.h"

#include <string.h>

#include "core/base/alloc.h"

#define REPLACEMENT "\xef\xbf\xbd"
enum { REPLACEMENT_BYTES = 3 };

int psfm_utf8_decode(const char *text, uint32_t *code) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    int length = at[0] < 0x80           ? 1
                 : (at[0] >> 5) == 0x06 ? 2
                 : (at[0] >> 4) == 0x0e ? 3
                 : (at[0] >> 3) == 0x1e ? 4
                                        : 0;
    *code = at[0];
    if (length <= 1)
        return length;
    *code = at[0] & (0xffU >> (length + 1));
    for (int k = 1; k < length; ++k) {
        if ((at[k] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[k] & 0x3fU);
    }
    bool good =
        *code >= smallest[length] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
    return good ? length : 0;
}

psfm_status psfm_utf8_copy(psfm_context *ctx, const char *text, char **out) {
    psfm_status status = PSFM_ALLOC(ctx, REPLACEMENT_BYTES * strlen(text) + 1, out);
    for (char *end = *out; status == PSFM_OK && *text != '\0';) {
        uint32_t code;
        int length = psfm_utf8_decode(text, &code);
        memcpy(end, length == 0 ? REPLACEMENT : text,
               length == 0 ? REPLACEMENT_BYTES : (size_t)length);
        end += length == 0 ? REPLACEMENT_BYTES : length;
        text += length == 0 ? 1 : length;
    }
    return status;
}

static bool is_separator(uint32_t code) {
    return code == 0x2028 || code == 0x2029;
}

static bool is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

int psfm_print_plain(FILE *file, const char *text) {
    int columns = 0;
    while (*text != '\0') {
        uint32_t code;
        int length = psfm_utf8_decode(text, &code), size = length == 0 ? 1 : length;
        bool is_harmless = length > 0 && !is_control(code) && !is_separator(code);
        if (is_harmless)
            fwrite(text, 1, (size_t)size, file);
        for (int k = 0; !is_harmless && k < size; ++k)
            fprintf(file, "\\x%02X", (unsigned)(unsigned char)text[k]);
        columns += is_harmless ? 1 : 4 * size;
        text += size;
    }
    return columns;
}

void psfm_print_xml(FILE *file, const char *text) {
    while (*text != '\0') {
        uint32_t code;
        int length = psfm_utf8_decode(text, &code);
        if (length == 0 || is_control(code) || code == 0xfffe || code == 0xffff)
            fputs(REPLACEMENT, file);
        else if (strchr("&<>\"", *text) != NULL)
            fprintf(file, "&#%u;", (unsigned)code);
        else
            fwrite(text, 1, (size_t)length, file);
        text += length == 0 ? 1 : length;
    }
}

static bool is_plain_json(uint32_t code) {
    return code >= 0x20 && code != '"' && code != '\\' && code != '<' && code != '>' &&
           code != '&' && code != 0x7f && !is_separator(code);
}

void psfm_print_json_string(FILE *file, const char *text) {
    fputc('"', file);
    while (*text != '\0') {
        uint32_t code;
        int length = psfm_utf8_decode(text, &code);
        if (length == 0)
            fputs("\\ufffd", file);
        else if (is_plain_json(code))
            fwrite(text, 1, (size_t)length, file);
        else
            fprintf(file, "\\u%04x", (unsigned)code);
        text += length == 0 ? 1 : length;
    }
    fputc('"', file);
}

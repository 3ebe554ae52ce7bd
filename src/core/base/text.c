#include "core/base/text.h"

#include <string.h>

bool psfm_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

void psfm_trim(const char *bytes, size_t *begin, size_t *end) {
    while (*begin < *end && psfm_is_blank(bytes[*begin]))
        ++*begin;
    while (*end > *begin && psfm_is_blank(bytes[*end - 1]))
        --*end;
}

bool psfm_name_fits_line(const char *name) {
    size_t length = strlen(name);
    return length > 0 && strpbrk(name, "\r\n") == NULL && !psfm_is_blank(name[0]) &&
           !psfm_is_blank(name[length - 1]);
}

int psfm_compare_strings(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

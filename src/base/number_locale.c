/* Numbers as text with a decimal point, whatever the host's locale: the calling thread is switched
 * to the C locale and back, which touches no other thread. */
#include "base/number_locale.h"

#include <math.h>
#include <stdlib.h>

locale_t psfm_number_locale_begin(void) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c_locale == (locale_t)0 ? (locale_t)0 : uselocale(c_locale);
}

void psfm_number_locale_end(locale_t before) {
    if (before == (locale_t)0)
        return;
    locale_t c_locale = uselocale(before);
    freelocale(c_locale);
}

double psfm_strtod(const char *text, char **end) {
    locale_t before = psfm_number_locale_begin();
    double value = strtod(text, end);
    psfm_number_locale_end(before);
    return value;
}

bool psfm_parse_number(const char *text, double *value) {
    char *end;
    double x = psfm_strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(x))
        return false;
    *value = x;
    return true;
}

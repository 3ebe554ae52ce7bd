/* Numbers as text with a decimal point, whatever the host's locale: the calling thread is switched
 * to the C locale and back, which touches no other thread. */
#include "core/base/number_locale.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Of the whole process, made once and never freed. */
static locale_t c_locale;

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool psfm_number_locale_make(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, make_locale) == 0 && c_locale != (locale_t)0;
}

locale_t psfm_number_locale_begin(void) {
    return psfm_number_locale_make() ? uselocale(c_locale) : (locale_t)0;
}

void psfm_number_locale_end(locale_t before) {
    uselocale(before); /* 0 changes nothing */
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

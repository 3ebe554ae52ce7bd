#include "io/number_locale.h"

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

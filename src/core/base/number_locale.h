/* Numbers as text have a decimal point, whatever the caller's locale says. */
#ifndef PSFM_BASE_NUMBER_LOCALE_H
#define PSFM_BASE_NUMBER_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* Makes the "C" locale unless it is there. False if the system has no room for it: no context is
 * made then, so that nobody who has one need ask. */
bool psfm_number_locale_make(void);

/* Makes strtod and printf of this thread follow the "C" locale until psfm_number_locale_end, which
 * wants the value returned here. Other threads are not affected. Calls may nest. */
locale_t psfm_number_locale_begin(void);
void psfm_number_locale_end(locale_t before);

/* strtod in that locale. */
double psfm_strtod(const char *text, char **end);

/* A finite number that fills the whole text; *value is left alone otherwise. */
bool psfm_parse_number(const char *text, double *value);

#endif

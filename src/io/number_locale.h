/* Numbers in files have a decimal point whatever the caller's locale says. */
#ifndef PSFM_IO_NUMBER_LOCALE_H
#define PSFM_IO_NUMBER_LOCALE_H

#include <locale.h>

/* Makes strtod and printf of this thread follow the "C" locale until psfm_number_locale_end, which
 * wants the value returned here. Other threads are not affected. */
locale_t psfm_number_locale_begin(void);
void psfm_number_locale_end(locale_t before);

#endif

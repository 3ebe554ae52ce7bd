/* Version of the library. */
#ifndef PLANARSFM_VERSION_H
#define PLANARSFM_VERSION_H

#include "planarsfm/status.h"

/* Of the headers. */
#define PSFM_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library that is linked, e.g. "0.1.0". */
PSFM_API const char *psfm_version(void);

#ifdef __cplusplus
}
#endif

#endif

/* Version of the library. */
#ifndef PLANARSFM_VERSION_H
#define PLANARSFM_VERSION_H

#define PSFM_VERSION "0.1.0"

#endif

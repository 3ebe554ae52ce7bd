/* Everything the library offers. */
#ifndef PLANARSFM_H
#define PLANARSFM_H

#include "planarsfm/core.h"
#include "planarsfm/court.h"
#include "planarsfm/model.h"
#include "planarsfm/reconstruct.h"
#include "planarsfm/run.h"
#include "planarsfm/solve.h"
#include "planarsfm/stages.h"

#endif

/* All headers of libplanarsfm-core. */
#ifndef PLANARSFM_CORE_H
#define PLANARSFM_CORE_H

#include "planarsfm/bundle.h"
#include "planarsfm/calibration.h"
#include "planarsfm/camera.h"
#include "planarsfm/context.h"
#include "planarsfm/graph.h"
#include "planarsfm/homography.h"
#include "planarsfm/posegraph.h"
#include "planarsfm/position.h"
#include "planarsfm/rotation.h"
#include "planarsfm/sim3.h"
#include "planarsfm/status.h"
#include "planarsfm/structure.h"
#include "planarsfm/version.h"

#endif

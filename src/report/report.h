/* OUT/report.html: a run to look at, one file that needs nothing else. */
#ifndef PSFM_REPORT_REPORT_H
#define PSFM_REPORT_REPORT_H

#include <stdbool.h>

#include "base/context.h"

/* Makes out_folder/report.html from the files beside it: summary.json, graph.json, planes.json (may
 * be missing) and model/0, 1, ... (none if nothing was posed). Thumbnails are of the photographs
 * below photo_folder, or, if that is NULL, where graph.json says they were; photographs that are
 * not there are left out with a warning. The page loads nothing over the network. Its size is kept
 * within some 15 MB: with many images thumbnails get smaller, points and pairs fewer. The same
 * files give the same bytes. Whole or absent. */
psfm_status psfm_report_write(psfm_context *ctx, const char *out_folder, const char *photo_folder);

/* Whether pages of this build show the model in 3D (three.js was there when it was built). */
bool psfm_report_has_3d(void);

#endif

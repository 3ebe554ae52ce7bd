/* OUT/report.html: a run to look at, one file that needs nothing else. */
#ifndef PSFM_REPORT_REPORT_H
#define PSFM_REPORT_REPORT_H

#include <stdbool.h>

#include "core/base/context.h"
#include "planarsfm/model.h"
#include "report/report_input.h"
#include "report/thumbnails.h"

/* Makes folder/report.html from the files beside it: of a run summary.json, graph.json, planes.json
 * (may be missing) and model/0, 1, ... (none if nothing was posed); of align its model,
 * alignment.json and the run it names, if that is still there; otherwise of a COLMAP model alone.
 * Thumbnails are of the photographs below photo_folder, or, if that is NULL, where graph.json says
 * they were; photographs that are not there are left out with a warning. The page loads nothing
 * over the network. Its size is kept within some 20 MB: with many images thumbnails get smaller,
 * points and pairs fewer. The same files give the same bytes. Whole or absent. */
psfm_status psfm_report_write(psfm_context *ctx, const char *folder, const char *photo_folder);
/* The same of a run whose results are in memory still, and maybe some thumbnails of its images in
 * the order of their names (NULL: none): the page that psfm_report_write would make of its files.
 * Takes over what psfm_report_input_of_run does. */
psfm_status psfm_report_write_run(psfm_context *ctx, const char *folder, psfm_run_record *record,
                                  psfm_thumbnails *thumbnails);
/* Room for the thumbnails of a page of so many images. */
psfm_status psfm_report_begin_thumbnails(psfm_context *ctx, size_t num_images,
                                         psfm_thumbnails *out);

/* Writes a page of the first folder's run with that of the second beside it: differences of counts,
 * errors, intrinsics and, after alignment, poses, and both in the 3D view. Each folder is one that
 * psfm_report_write takes. The page names the folders as they are given. PSFM_ERR_DATA if they have
 * no image in common. */
psfm_status psfm_report_compare(psfm_context *ctx, const char *folder_a, const char *folder_b,
                                const char *photo_folder, const char *path);

/* Whether pages of this build show the model in 3D (three.js was there when it was built). */
bool psfm_report_has_3d(void);

#endif

/* A model without the files of a run. */
#ifndef PSFM_REPORT_REPORT_BARE_H
#define PSFM_REPORT_REPORT_BARE_H

#include "report/report_input.h"

/* Fills the graph (images in the order of their names, no pairs) and the text of a summary, which
 * says no more of them than the model does. */
psfm_status psfm_report_make_bare(psfm_context *ctx, const psfm_model *model,
                                  psfm_report_input *input);

#endif

/* What people say is on the floor: courts by name, or a file. */
#ifndef PSFM_IO_COURT_REQUEST_H
#define PSFM_IO_COURT_REQUEST_H

#include "court/target.h"

typedef struct {
    const char *courts;  /* a court, or several with commas between them, all about one middle */
    const char *size;    /* "LENGTH,WIDTH" of a single court; NULL: the usual one */
    const char *drawing; /* a drawing's file instead */
    double unit;         /* metres a unit of the file has; 0: what it says */
} psfm_court_request;

/* Opens it. PSFM_ERR_ARGUMENT if it is neither a court nor a drawing, or both. Free *target in any
 * case. */
psfm_status psfm_court_request_open(psfm_context *ctx, const psfm_court_request *request,
                                    psfm_court_target *target);

#endif

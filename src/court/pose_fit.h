/* A camera pose fitted to the line pixels along a drawing, and the evidence for it. */
#ifndef PSFM_COURT_POSE_FIT_H
#define PSFM_COURT_POSE_FIT_H

#include "court/pose_search.h"

typedef struct {
    double R[9];            /* cam_from_world */
    double center[3];       /* metres */
    double focal;           /* factor on the camera's focal lengths */
    double grow[2];         /* metres by which the drawing is longer and wider */
    uint32_t dark;          /* a bit per layer of the drawing: its lines are dark, not light */
    double score;           /* evidence, at full resolution */
    double visible;         /* pixels of the drawing's lines in the image */
    double hit;             /* share of them with evidence for a line */
    double rms;             /* pixels, of the line pixels that were fitted to */
    double sigma_turn[3];   /* radians, about the camera's axes */
    double sigma_center[3]; /* metres */
    double sigma_focal;     /* relative; 0 if it was known */
    double sigma_grow[2];   /* metres; 0 if the size was known */
    double noise; /* standard deviation of a pixel of line, as the segments of lines show it */
} psfm_court_fit;

/* A place of the drawing and where its line was found: across the line only, of course. */
typedef struct {
    double on[2];     /* on the drawing, metres */
    double move[2];   /* of that, with a metre of the drawing's length (x) and width (y) */
    double at[2];     /* pixel of the plane of the evidence */
    double normal[2]; /* across the line, unit vector */
    double weight;    /* pixels of line that it stands for, less if it is far off */
} psfm_fitted_line;

/* Which part of the drawing a line pixel is evidence for while a pose is judged. Where the drawing
 * is seen so flat that its lines run into one, one line of the photograph would confirm all of
 * them.
 */
typedef struct {
    uint64_t *owner; /* per line pixel */
    uint64_t round;
} psfm_court_claims;

psfm_status psfm_court_claims_init(psfm_context *ctx, const psfm_line_evidence *evidence,
                                   psfm_court_claims *claims);
void psfm_court_claims_free(psfm_court_claims *claims);

/* What is fitted to what. */
typedef struct {
    const psfm_search_plan *plan;
    const psfm_line_evidence *evidence;
    const psfm_camera *camera; /* PINHOLE, the one of the evidence */
    bool free_focal;
    psfm_court_claims *claims;
} psfm_court_job;

/* For a drawing of free size: the size with which a guess explains most, if one end of the drawing,
 * or its middle, stays where the guess sees it. */
void psfm_court_guess_size(const psfm_court_job *job, psfm_court_guess *guess);

/* Fits the pose of a guess, and its focal length and the drawing's size if these are free, to the
 * line pixels nearest to the drawing, from farther to nearer ones; then judges it. False if too
 * little of the drawing is in the image, or the camera ends up below it. */
bool psfm_court_fit_guess(const psfm_court_job *job, const psfm_court_guess *guess,
                          psfm_court_fit *fit);

/* The places that a fit rests on; `out` has room for plan->num_fine of them. Returns how many. */
size_t psfm_court_fit_lines(const psfm_court_job *job, const psfm_court_fit *fit,
                            psfm_fitted_line *out);

/* Mean distance in pixels between where two fits see the drawing, over what the first sees. */
double psfm_court_fit_offset(const psfm_court_job *job, const psfm_court_fit *first,
                             const psfm_court_fit *second);

/* Per part of the drawing: pixels in the image, and pixels with evidence for a line. Arrays of as
 * many entries as the drawing has parts. */
void psfm_court_fit_parts(const psfm_court_job *job, const psfm_court_fit *fit, double *visible,
                          double *hit);

#endif

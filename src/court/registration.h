/* One photograph registered to one drawing, without a single label.
 *
 *     psfm_court_view view;
 *     psfm_court_pose pose;
 *     status = psfm_court_view_init(ctx, &image, &camera, PSFM_FOCAL_FIXED, NULL, &view);
 *     if (status == PSFM_OK)
 *         status = psfm_court_register(ctx, &view, &drawing, NULL, &pose);
 *     if (status == PSFM_OK && pose.verdict == PSFM_COURT_ACCEPTED)
 *         ... pose.R, pose.t ...
 *     psfm_court_pose_free(&pose);
 *     psfm_court_view_free(&view);
 */
#ifndef PSFM_COURT_REGISTRATION_H
#define PSFM_COURT_REGISTRATION_H

#include "court/line_evidence.h"
#include "court/line_points.h"
#include "court/manhattan_frames.h"
#include "court/pose_fit.h"

typedef struct {
    psfm_line_options line;
    int max_image_size;   /* longer side to which photographs are shrunk, pixels */
    double min_height;    /* of the camera above the drawing, metres; 0: a twentieth of its size */
    double max_height;    /* 0: its size */
    double min_score;     /* of an accepted pose */
    int min_lines;        /* distinct lines that are confirmed, or most of those there are */
    double min_hit;       /* share of the visible drawing that line pixels confirm */
    double max_runner_up; /* score of the best other pose as a share of the best */
    double max_sigma;     /* of the camera's place, as a share of the drawing's size */
    bool distortion;      /* refine that of lenses */
    double tolerance;     /* of the drawing's length and width in joint solutions, metres */
} psfm_court_options;

/* Fills all of it with the defaults. */
void psfm_court_options_init(psfm_court_options *options);

extern const psfm_option_table psfm_court_option_table;

/* What is done about the focal length of a photograph. */
typedef enum {
    PSFM_FOCAL_FIXED,  /* it is known */
    PSFM_FOCAL_REFINE, /* it is known to some per cent */
    PSFM_FOCAL_SEARCH, /* it is unknown; the principal point and distortion are known */
} psfm_focal_use;

/* A photograph made ready for any number of drawings. Owns its parts. */
typedef struct {
    psfm_camera camera; /* of the photograph as it was given */
    psfm_camera ideal;  /* PINHOLE of the plane on which everything below is */
    psfm_focal_use focal;
    psfm_line_pixels pixels;
    psfm_segments segments;
    psfm_line_evidence evidence;
    psfm_court_frame *frames;
    size_t num_frames;
} psfm_court_view;

/* Finds lines and frames. camera NULL: nothing is known, the focal length is searched with the
 * principal point in the middle and no distortion. Options NULL are the defaults. Free in any
 * case. Cost: about 0.3 s for 1600 x 900 pixels. */
psfm_status psfm_court_view_init(psfm_context *ctx, const psfm_image *image,
                                 const psfm_camera *camera, psfm_focal_use focal,
                                 const psfm_court_options *options, psfm_court_view *view);
void psfm_court_view_free(psfm_court_view *view);

/* Exchanges two views; a plain copy would refer to the other's parts. */
void psfm_court_view_swap(psfm_court_view *a, psfm_court_view *b);

/* Gives a view a focal length that is so many times its camera's and known to some per cent. Only
 * the frames are found anew: lines and segments stay as they are. */
psfm_status psfm_court_view_scale_focal(psfm_context *ctx, double factor, psfm_court_view *view);

typedef enum {
    PSFM_COURT_ACCEPTED,
    PSFM_COURT_NO_LINES,  /* too few straight lines for a frame */
    PSFM_COURT_NO_FIT,    /* no pose fits at all */
    PSFM_COURT_WEAK,      /* the best score is too low, or rests on too few lines */
    PSFM_COURT_SPARSE,    /* too little of the drawing is confirmed */
    PSFM_COURT_AMBIGUOUS, /* another pose is nearly as good */
    PSFM_COURT_LOOSE,     /* the lines leave the pose too free */
    PSFM_COURT_RIVAL,     /* a similar drawing fits better */
    PSFM_COURT_FOCAL,     /* another focal length than the given one fits much better */
    PSFM_COURT_POSED,     /* not found by lines, which then confirm the pose that matches gave */
} psfm_court_verdict;

/* The best pose, accepted or not (verdict NO_LINES and NO_FIT: none). Owns its arrays. */
typedef struct {
    psfm_court_verdict verdict;
    double R[9], t[3];       /* cam_from_world: world is the drawing's frame, z = 0 its plane */
    double center[3];        /* of the camera, metres */
    psfm_camera camera;      /* of the photograph; with the focal length found if it was unknown */
    double score, runner_up; /* evidence of the pose and of the best other one */
    double hit;              /* share of the visible drawing that line pixels confirm */
    int num_lines;           /* distinct lines of the drawing of which at least half is confirmed */
    double visible_px;       /* length of the drawing in the photograph */
    double rms_px;           /* distances of the line pixels from the drawing */
    bool is_dark;            /* the lines are darker than the floor */
    double sigma_rotation_deg;
    double sigma_center[3];
    double sigma_focal;      /* relative; 0 if it was known */
    double sigma_distortion; /* of its first coefficient; 0 if it was not refined */
    double size[2];          /* length and width of the drawing, metres */
    double sigma_size[2];    /* 0 if they were known */
    int turns[4]; /* quarter turns about the drawing's middle that fit as well; the first is 0 */
    int num_turns;
    double *part_visible, *part_hit; /* per part of the drawing, pixels */
    psfm_line_points lines;          /* what it rests on */
} psfm_court_pose;

/* Options NULL are the defaults. The drawing has passed psfm_drawing_check. One thread; random
 * draws from the context's seed. Free *pose in any case. */
psfm_status psfm_court_register(psfm_context *ctx, const psfm_court_view *view,
                                const psfm_drawing *drawing, const psfm_court_options *options,
                                psfm_court_pose *pose);
void psfm_court_pose_free(psfm_court_pose *pose);

/* Fits a pose once more, in a view of the same photograph, from `start`, whose score for the best
 * other pose counts on. *pose stays empty if nothing fits there. Options as before. Free *pose in
 * any case. */
psfm_status psfm_court_refit(psfm_context *ctx, const psfm_court_view *view,
                             const psfm_drawing *drawing, const psfm_court_options *options,
                             const psfm_court_pose *start, psfm_court_pose *pose);

/* Holds an accepted pose against a similar drawing, such as another federation's: if that one fits
 * the same place clearly better, the verdict becomes PSFM_COURT_RIVAL. Options as before. */
psfm_status psfm_court_challenge(psfm_context *ctx, const psfm_court_view *view,
                                 const psfm_drawing *rival, const psfm_court_options *options,
                                 psfm_court_pose *pose);

/* A few words for a verdict. */
const char *psfm_court_verdict_text(psfm_court_verdict verdict);

#endif

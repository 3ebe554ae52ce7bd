/* The state of a reconstruction: what is asked for, and what its stages have found so far. Every
 * stage (sfm/stages.h) takes it, reads some members and writes others; sfm/run.c calls them in
 * their order. */
#ifndef PSFM_SFM_STATE_H
#define PSFM_SFM_STATE_H

#include <cjson/cJSON.h>

#include "core/twoview/noise_level.h"
#include "core/verdict/verdict.h"
#include "court/court_evidence.h"
#include "frontend/extract_and_match.h"
#include "planarsfm/model.h"
#include "sfm/outcome.h"
#include "sfm/prefetch.h"
#include "sfm/results.h"
#include "sfm/settings.h"
#include "store/colmap_database.h"

/* How far it has come: everything up to there is valid. */
typedef enum {
    PSFM_AT_START,
    PSFM_AT_MATCHES,   /* features and matches are in the database */
    PSFM_AT_SET,       /* they are in memory */
    PSFM_AT_CAMERAS,   /* every camera has intrinsics */
    PSFM_AT_TWO_VIEWS, /* pairs are verified */
    PSFM_AT_ALIGNED,   /* their planes are aligned in the photographs */
    PSFM_AT_GRAPH,
    PSFM_AT_POSES,
    PSFM_AT_REFINED,
    PSFM_AT_MODELS,
} psfm_stage;

/* What extraction and matching came to, and what may still be asked of them. Owns `taken`. */
typedef struct {
    bool is_used;                /* photographs were extracted and matched */
    psfm_folder_options extract; /* as asked for, with the effort that the later stages allow */
    psfm_match_options match;
    uint64_t patches_key; /* see psfm_photos_to_take */
    psfm_taken_photos taken;
} psfm_front;

#define PSFM_HEADLINE_SIZE 1024

/* What the stages counted, and where the time went. */
typedef struct {
    psfm_database_stats input;         /* if there was a database */
    psfm_calibrate_stats calibration;  /* if there was a camera to calibrate */
    psfm_refine_matches_stats matches; /* if there were photographs */
    psfm_track_align_stats tracks;     /* the same */
    psfm_timings timings;
} psfm_sfm_stats;

typedef struct psfm_sfm psfm_sfm;

struct psfm_sfm {
    psfm_stage stage;

    /* What is asked for: no stage changes it. Texts are not owned. */
    psfm_run_options asked;
    const char *photo_folder; /* NULL: none */
    const char *database;     /* NULL: entered later */
    const char *out_folder;   /* NULL: nothing is written */

    psfm_court_target target; /* the drawing on the floor; empty: none */
    psfm_front front;

    /* Evidence. */
    psfm_match_set set;              /* cameras, keypoints with rays, pairs with matches */
    psfm_court_evidence *court;      /* what the drawing says; NULL: there is none */
    psfm_noise_level noise;          /* of the keypoints */
    psfm_reconstruct_options scaled; /* asked.settings.options, thresholds times noise */
    psfm_two_view *two_views;        /* per pair of the set */
    size_t num_two_views;
    psfm_photo_cache *photos; /* NULL: none */
    psfm_kept_pairs *kept;    /* alignments, as long as they may be wanted again; NULL: never */

    /* What was found. */
    psfm_pose_graph graph;
    psfm_pose_solution solution;
    psfm_robust_edges edges; /* robust mode */
    psfm_refined refined;    /* robust mode with refinement */
    bool *undetermined;      /* per view: it lost its pose since its distance is unknown */
    uint32_t drawn;          /* component that the drawing holds; PSFM_NO_COMPONENT: none */
    psfm_verdicts verdicts;  /* robust mode with refinement */
    psfm_outcome *outcome;   /* per view */
    psfm_model *models;      /* one per component, largest first */
    size_t num_models;
    char headline[PSFM_HEADLINE_SIZE]; /* see psfm_headline_make */

    /* Beside it. */
    psfm_prefetch *prefetch; /* photographs, read ahead for what is shown of them; NULL: none */
    psfm_results results;    /* the folder that is written to */
    cJSON *summary;          /* as it was written; NULL: not yet */
    psfm_sfm_stats stats;
};

/* A step on the way to a stage. */
typedef struct {
    psfm_status (*take)(psfm_context *ctx, psfm_sfm *s);
    psfm_stage to;
} psfm_step;

/* The start, with what is asked for, NULL = defaults; the texts in it outlive the state. The caller
 * sets the folders and the database, and, to enter later, `stage` and what is valid there. Close in
 * any case. The state must not move while it is open. */
void psfm_sfm_open(const psfm_run_options *asked, psfm_sfm *s);

/* Goes back: frees what stages after `to` wrote. Times, kept alignments, photographs that are
 * read ahead and the folder of results stay. What calibration, alignment and refinement changed
 * in `set` and `two_views` themselves is not undone, so the stages that make these must be run
 * again: `to` is PSFM_AT_MATCHES or before it, or PSFM_AT_ALIGNED or after it. */
void psfm_sfm_rewind(psfm_sfm *s, psfm_stage to);

/* Goes on: takes steps, ended by take == NULL, in their order, but those that lead no further than
 * where the state is now. Those to one stage follow each other; when the last of them has
 * succeeded, and only then, the state is there. */
psfm_status psfm_sfm_advance(psfm_context *ctx, const psfm_step *steps, psfm_sfm *s);

void psfm_sfm_close(psfm_sfm *s);

#endif

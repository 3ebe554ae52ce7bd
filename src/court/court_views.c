/* Photographs are looked at one by one, in parallel; what stays of each is its pose, the lines it
 * rests on, and its floor from above. When all are there, what the floors have in common with
 * themselves turned is taken away, and pairs of them are compared under each turn. */
#include "court/court_views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/parallel.h"
#include "core/base/path.h"
#include "core/camera/camera_model.h"
#include "core/linalg/vec3.h"
#include "core/matches/camera_groups.h"
#include "court/court_evidence.h"
#include "court/top_view.h"
#include "court/upright.h"

#define MAX_PARTNERS 40 /* views that a view is compared with */
#define MIN_ACCEPTED 3  /* photographs that show that the drawing is there */
#define WIDER 0.14      /* beyond the focal lengths of the others; of logarithms, as the next two */
#define FOCAL_STEP 0.05 /* between focal lengths that are tried */
#define FOCAL_SPREAD 0.1 /* of similar lenses */
#define MAX_FOCALS 20    /* that are tried at most */
#define FEWER_LINES 2    /* that are enough then */

typedef struct {
    const psfm_match_set *set;
    const char *folder;
    const psfm_court_target *target;
    const psfm_court_options *options;
    psfm_court_evidence *evidence;
    psfm_top_raster raster;
    psfm_top_view *tops;       /* per view */
    psfm_court_pose *retried;  /* per view, while refused ones are tried again */
    double focals[MAX_FOCALS]; /* that they are tried with, pixels */
    int num_focals;
    uint32_t (*pairs)[2];
    size_t num_pairs;
} work;

/* ---- one photograph ---- */

static psfm_photo_camera known_camera(const psfm_match_set *set, uint32_t view) {
    uint32_t camera = set->views[view].camera_idx;
    psfm_focal_source source =
        set->origins == NULL ? PSFM_FOCAL_GIVEN : set->origins[camera].source;
    psfm_focal_use use = source == PSFM_FOCAL_EXIF        ? PSFM_FOCAL_REFINE
                         : psfm_focal_is_doubtful(source) ? PSFM_FOCAL_SEARCH
                                                          : PSFM_FOCAL_FIXED;
    return (psfm_photo_camera){&set->cameras[camera], use};
}

static psfm_status read_photograph(psfm_context *ctx, const work *w, uint32_t view,
                                   psfm_image *image) {
    const psfm_camera *camera = &w->set->cameras[w->set->views[view].camera_idx];
    char *path = NULL;
    psfm_status status = psfm_photo_path(ctx, w->folder, w->set->views[view].name, &path);
    if (status == PSFM_OK)
        status = psfm_image_read(ctx, path, PSFM_IMAGE_GRAY_AND_RGB, image);
    if (status == PSFM_OK &&
        ((uint64_t)image->width != camera->width || (uint64_t)image->height != camera->height))
        status = psfm_fail(ctx, PSFM_ERR_DATA, "%s: it has %d x %d pixels, its camera %llu x %llu",
                           path, image->width, image->height, (unsigned long long)camera->width,
                           (unsigned long long)camera->height);
    free(path);
    return status;
}

static psfm_status register_view(psfm_context *ctx, size_t v, int worker, void *user) {
    work *w = user;
    psfm_court_pose *pose = &w->evidence->poses[v];
    psfm_image image = {0};
    (void)worker;
    psfm_status status = read_photograph(ctx, w, (uint32_t)v, &image);
    if (psfm_is_bad_file(status)) {
        psfm_log(ctx, PSFM_LOG_WARNING, "no lines: %s", psfm_context_message(ctx));
        psfm_image_free(&image);
        return PSFM_OK;
    }
    if (status == PSFM_OK)
        status = psfm_court_target_register(ctx, w->target, &image,
                                            known_camera(w->set, (uint32_t)v), w->options, pose);
    if (status == PSFM_OK && pose->part_hit != NULL)
        status = psfm_top_view_make(ctx, &w->raster, &image, pose, &w->tops[v]);
    psfm_image_free(&image);
    return status;
}

/* Whether a pose is good enough where other photographs show that the drawing is on the floor: with
 * two lines less than else. */
static bool is_good(const work *w, const psfm_court_pose *p) {
    const psfm_court_options *o = w->options;
    if (p->verdict != PSFM_COURT_WEAK)
        return p->verdict == PSFM_COURT_ACCEPTED;
    return p->num_lines + FEWER_LINES >= o->min_lines && p->score >= o->min_score &&
           p->hit >= o->min_hit && p->runner_up <= o->max_runner_up * p->score &&
           psfm_norm3(p->sigma_center) <= o->max_sigma * psfm_drawing_size(w->evidence->drawing);
}

static void reconsider_views(const work *w) {
    psfm_court_evidence *e = w->evidence;
    uint32_t num = 0;
    for (uint32_t v = 0; v < e->num_views; ++v)
        num += psfm_court_accepts(e, v);
    for (uint32_t v = 0; v < e->num_views && num >= MIN_ACCEPTED; ++v)
        if (is_good(w, &e->poses[v]))
            e->poses[v].verdict = PSFM_COURT_ACCEPTED;
}

/* ---- those that were refused ---- */

typedef struct {
    double log_focal, density;
} focal_try;

static int likeliest_first(const void *a, const void *b) {
    const focal_try *p = a, *q = b;
    if (p->density != q->density)
        return p->density > q->density ? -1 : 1;
    return (p->log_focal > q->log_focal) - (p->log_focal < q->log_focal);
}

/* How usual a focal length is among those of the accepted photographs. */
static double focal_density(const double *found, size_t num, double log_focal) {
    double sum = 0.0;
    for (size_t k = 0; k < num; ++k) {
        double off = (log_focal - found[k]) / FOCAL_SPREAD;
        sum += exp(-0.5 * off * off);
    }
    return sum;
}

/* Logarithms of the focal lengths of the accepted photographs; returns how many. */
static size_t list_found(const psfm_court_evidence *e, double *found) {
    size_t num = 0;
    for (uint32_t v = 0; v < e->num_views; ++v) {
        const psfm_camera *camera = &e->poses[v].camera;
        if (psfm_court_accepts(e, v))
            found[num++] = log(camera->params[psfm_camera_model_get(camera->model)->focal[0]]);
    }
    return num;
}

/* The focal lengths that the others' lenses make likely, a few per cent apart, likeliest first:
 * w->focals. None if there are too few others. */
static psfm_status list_focals(psfm_context *ctx, work *w) {
    enum { STEPS = 128 };
    focal_try tries[STEPS];
    double *found = NULL, low = INFINITY, high = -INFINITY;
    psfm_status status = PSFM_ALLOC(ctx, w->evidence->num_views, &found);
    size_t num = status == PSFM_OK ? list_found(w->evidence, found) : 0;
    int steps = 0;
    for (size_t k = 0; k < num; ++k) {
        low = fmin(low, found[k] - WIDER);
        high = fmax(high, found[k] + WIDER);
    }
    for (; num >= MIN_ACCEPTED && steps < STEPS && low + steps * FOCAL_STEP <= high; ++steps) {
        double at = low + steps * FOCAL_STEP;
        tries[steps] = (focal_try){at, focal_density(found, num, at)};
    }
    if (steps > 0)
        qsort(tries, (size_t)steps, sizeof *tries, likeliest_first);
    w->num_focals = steps < MAX_FOCALS ? steps : MAX_FOCALS;
    for (int k = 0; k < w->num_focals; ++k)
        w->focals[k] = exp(tries[k].log_focal);
    free(found);
    return status;
}

/* Takes a better pose over. */
static void take_better(psfm_court_pose *candidate, psfm_court_pose *pose) {
    if (candidate->part_hit != NULL && (pose->part_hit == NULL || candidate->score > pose->score)) {
        psfm_court_pose swap = *pose;
        *pose = *candidate;
        *candidate = swap;
    }
}

/* Tries the likely focal lengths until one gives a good pose. Lines are looked for once. */
static psfm_status try_focals(psfm_context *ctx, const work *w, const psfm_image *image,
                              const psfm_camera *camera, psfm_court_pose *best) {
    psfm_court_view view;
    psfm_status status =
        psfm_court_view_init(ctx, image, camera, PSFM_FOCAL_REFINE, w->options, &view);
    int focal = psfm_camera_model_get(camera->model)->focal[0];
    for (int k = 0; k < w->num_focals && status == PSFM_OK && !is_good(w, best); ++k) {
        psfm_court_pose pose = {0};
        double factor = w->focals[k] / view.camera.params[focal];
        status = psfm_court_view_scale_focal(ctx, factor, &view);
        if (status == PSFM_OK)
            status = psfm_court_target_register_view(ctx, w->target, &view, w->options, &pose);
        take_better(&pose, best);
        psfm_court_pose_free(&pose);
    }
    psfm_court_view_free(&view);
    return status;
}

/* A photograph of unknown focal length that was refused: frames are found surer with one. */
static psfm_status retry_view(psfm_context *ctx, size_t v, int worker, void *user) {
    work *w = user;
    psfm_court_pose *pose = &w->evidence->poses[v], *again = &w->retried[v];
    psfm_photo_camera known = known_camera(w->set, (uint32_t)v);
    psfm_image image = {0};
    (void)worker;
    *again = (psfm_court_pose){.verdict = PSFM_COURT_NO_LINES};
    if (pose->part_hit == NULL || known.focal != PSFM_FOCAL_SEARCH || is_good(w, pose))
        return PSFM_OK;
    psfm_upright upright = {0};
    psfm_status status = read_photograph(ctx, w, (uint32_t)v, &image);
    if (status == PSFM_OK)
        status = psfm_upright_init(ctx, &image, known.camera, &upright);
    if (status == PSFM_OK)
        status = try_focals(ctx, w, upright.image, upright.camera, again);
    if (status == PSFM_OK)
        psfm_upright_undo(&upright, again);
    psfm_upright_free(&upright);
    if (status == PSFM_OK && again->part_hit != NULL && again->score > pose->score) {
        psfm_top_view_free(&w->tops[v]);
        status = psfm_top_view_make(ctx, &w->raster, &image, again, &w->tops[v]);
    }
    psfm_image_free(&image);
    return status;
}

/* Tries refused photographs again; poses change when all are done, so that none depends on the
 * order. */
static psfm_status retry_views(psfm_context *ctx, work *w) {
    uint32_t n = w->evidence->num_views;
    psfm_status status = list_focals(ctx, w);
    if (status != PSFM_OK || w->num_focals == 0)
        return status;
    status = PSFM_ALLOC(ctx, n, &w->retried);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "court again", n, retry_view, w);
    for (uint32_t v = 0; w->retried != NULL && v < n; ++v) {
        if (status == PSFM_OK)
            take_better(&w->retried[v], &w->evidence->poses[v]);
        psfm_court_pose_free(&w->retried[v]);
    }
    free(w->retried);
    w->retried = NULL;
    return status;
}

/* ---- their floors ---- */

/* The step to the k-th partner among num views: the next ones first, then ever further ones. */
static uint32_t partner_step(uint32_t k, uint32_t num) {
    uint32_t near = MAX_PARTNERS / 2;
    if (num <= 2 * MAX_PARTNERS || k < near)
        return k + 1;
    return near + (uint32_t)((uint64_t)(num / 2 - near) * (k - near + 1) / (MAX_PARTNERS - near));
}

static psfm_status list_pairs(psfm_context *ctx, const uint32_t *views, uint32_t num, work *w) {
    uint32_t most = num <= MAX_PARTNERS ? num : MAX_PARTNERS;
    psfm_status status = PSFM_ALLOC(ctx, (size_t)num * most, &w->pairs);
    for (uint32_t k = 0; k < most && status == PSFM_OK; ++k) {
        for (uint32_t i = 0; i + partner_step(k, num) < num; ++i) {
            w->pairs[w->num_pairs][0] = views[i];
            w->pairs[w->num_pairs++][1] = views[i + partner_step(k, num)];
        }
    }
    return status;
}

static psfm_status compare_pair(psfm_context *ctx, size_t k, int worker, void *user) {
    work *w = user;
    const psfm_court_evidence *e = w->evidence;
    psfm_turn_link *link = &w->evidence->links[k];
    double second = -1.0;
    (void)ctx;
    (void)worker;
    *link = (psfm_turn_link){.view1 = w->pairs[k][0], .view2 = w->pairs[k][1], .correlation = -1.0};
    for (int t = 0; t < e->num_turns; ++t) {
        double correlation = psfm_top_view_correlation(&w->raster, &w->tops[link->view1],
                                                       &w->tops[link->view2], e->turns[t]);
        correlation = isnan(correlation) ? 0.0 : correlation;
        if (correlation > link->correlation) {
            second = link->correlation;
            link->correlation = correlation;
            link->quarters = e->turns[t];
        } else {
            second = fmax(second, correlation);
        }
    }
    link->margin = link->correlation - second;
    return PSFM_OK;
}

static psfm_status compare_floors(psfm_context *ctx, work *w) {
    psfm_court_evidence *e = w->evidence;
    uint32_t *views = NULL, num = 0;
    psfm_status status = PSFM_ALLOC(ctx, e->num_views, &views);
    if (status == PSFM_OK)
        status = psfm_top_views_take_symmetric(ctx, &w->raster, e->turns, e->num_turns, w->tops,
                                               e->num_views);
    for (uint32_t v = 0; v < e->num_views && status == PSFM_OK; ++v)
        if (w->tops[v].detail != NULL)
            views[num++] = v;
    if (status == PSFM_OK)
        status = list_pairs(ctx, views, num, w);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, w->num_pairs, &e->links);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "floors", w->num_pairs, compare_pair, w);
    if (status == PSFM_OK)
        e->num_links = w->num_pairs;
    free(views);
    return status;
}

/* ---- sizes ---- */

typedef struct {
    double size, weight;
} size_vote;

static int smallest_first(const void *a, const void *b) {
    const size_vote *p = a, *q = b;
    if (p->size != q->size)
        return p->size < q->size ? -1 : 1;
    return (p->weight > q->weight) - (p->weight < q->weight);
}

/* The weighted median of what accepted photographs say of the length (d = 0) or width. */
static double vote_size(const psfm_court_evidence *e, int d, size_vote *votes, double *sigma) {
    size_t num = 0, k = 0;
    double sum = 0.0, half = 0.0;
    for (uint32_t v = 0; v < e->num_views; ++v) {
        const psfm_court_pose *pose = &e->poses[v];
        if (!psfm_court_accepts(e, v) || !(pose->sigma_size[d] > 0.0))
            continue;
        double weight = 1.0 / (pose->sigma_size[d] * pose->sigma_size[d]);
        votes[num++] = (size_vote){pose->size[d], weight};
        sum += weight;
    }
    if (num == 0)
        return e->drawing->size[d];
    qsort(votes, num, sizeof *votes, smallest_first);
    while (k + 1 < num && (half += votes[k].weight) < 0.5 * sum)
        ++k;
    *sigma = 1.0 / sqrt(sum);
    return votes[k].size;
}

/* Gives the drawing the size that its photographs agree on. */
static psfm_status find_size(psfm_context *ctx, const work *w, psfm_drawing *drawing,
                             double sigma[2]) {
    size_vote *votes = NULL;
    psfm_status status = PSFM_ALLOC(ctx, w->evidence->num_views, &votes);
    if (status == PSFM_OK) {
        double size[2];
        for (int d = 0; d < 2; ++d)
            size[d] = vote_size(w->evidence, d, votes, &sigma[d]);
        psfm_drawing_resize(drawing, size);
        psfm_drawing_fix_size(drawing);
        psfm_log(ctx, PSFM_LOG_INFO, "%s: %.2f x %.2f m by its lines", drawing->name, size[0],
                 size[1]);
    }
    free(votes);
    return status;
}

/* ---- all of it ---- */

static void forget_tops(work *w) {
    for (size_t v = 0; w->tops != NULL && v < w->set->num_views; ++v)
        psfm_top_view_free(&w->tops[v]);
    free(w->tops);
    w->tops = NULL;
}

static psfm_status register_all(psfm_context *ctx, psfm_drawing *drawing, work *w) {
    psfm_status status =
        psfm_court_evidence_init(ctx, drawing, (uint32_t)w->set->num_views, w->evidence);
    w->raster = psfm_top_raster_make(drawing);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, w->set->num_views, &w->tops);
    if (status == PSFM_OK)
        status = psfm_parallel_for(ctx, "court", w->set->num_views, register_view, w);
    return status;
}

psfm_status psfm_court_views_register(psfm_context *ctx, const psfm_match_set *set,
                                      const char *folder, psfm_court_target *target,
                                      const psfm_court_options *options,
                                      psfm_court_evidence *evidence) {
    work w = {
        .set = set, .folder = folder, .target = target, .options = options, .evidence = evidence};
    psfm_status status = register_all(ctx, &target->drawing, &w);
    if (status == PSFM_OK && psfm_drawing_is_free(&target->drawing)) {
        double sigma[2] = {0.0, 0.0};
        status = find_size(ctx, &w, &target->drawing, sigma);
        psfm_court_evidence_free(evidence);
        forget_tops(&w);
        if (status == PSFM_OK)
            status = register_all(ctx, &target->drawing, &w);
        memcpy(evidence->sigma_size, sigma, sizeof sigma);
    }
    evidence->options = *options;
    evidence->photo_folder = folder;
    memcpy(evidence->expected_size, target->drawing.size, sizeof evidence->expected_size);
    if (status == PSFM_OK)
        status = retry_views(ctx, &w);
    if (status == PSFM_OK)
        reconsider_views(&w);
    if (status == PSFM_OK && evidence->num_turns > 1)
        status = compare_floors(ctx, &w);
    forget_tops(&w);
    free(w.pairs);
    return status;
}

/* ---- focal lengths ---- */

static bool is_open(const psfm_match_set *set, size_t camera) {
    return set->origins != NULL && psfm_focal_is_doubtful(set->origins[camera].source);
}

/* Gives a camera the distortion that the lines of its photographs show, if they were asked. */
static void take_distortion(const psfm_court_evidence *evidence, size_t c, psfm_match_set *set) {
    psfm_camera *camera = &set->cameras[c];
    int k = psfm_camera_first_coefficient(camera->model);
    double sum = 0.0, weight = 0.0;
    for (uint32_t v = 0; k > 0 && v < evidence->num_views; ++v) {
        const psfm_court_pose *pose = &evidence->poses[v];
        if (set->views[v].camera_idx != c || !psfm_court_accepts(evidence, v) ||
            !(pose->sigma_distortion > 0.0) || pose->camera.model != camera->model)
            continue;
        double w = 1.0 / (pose->sigma_distortion * pose->sigma_distortion);
        sum += w * pose->camera.params[k];
        weight += w;
    }
    if (weight > 0.0)
        camera->params[k] = sum / weight;
}

psfm_status psfm_court_views_split(psfm_context *ctx, const psfm_court_evidence *evidence,
                                   psfm_match_set *set) {
    const double least = 0.005, factor = 2.0; /* lines share errors of the lens and the drawing */
    double *log_focal = NULL, *sigma = NULL;
    size_t num;
    psfm_status status = PSFM_ALLOC(ctx, set->num_views, &log_focal);
    if (status == PSFM_OK)
        status = PSFM_ALLOC(ctx, set->num_views, &sigma);
    for (uint32_t v = 0; status == PSFM_OK && v < set->num_views; ++v) {
        uint32_t c = set->views[v].camera_idx;
        int focal = psfm_camera_model_get(set->cameras[c].model)->focal[0];
        const psfm_court_pose *pose = &evidence->poses[v];
        sigma[v] = INFINITY;
        if (!is_open(set, c) || !psfm_court_accepts(evidence, v))
            continue;
        log_focal[v] = log(pose->camera.params[focal] / set->cameras[c].params[focal]);
        sigma[v] = hypot(factor * pose->sigma_focal, least);
    }
    if (status == PSFM_OK)
        status = psfm_camera_groups_split(ctx, set, log_focal, sigma, &num);
    free(log_focal);
    free(sigma);
    return status;
}

size_t psfm_court_views_calibrate(const psfm_court_evidence *evidence, psfm_match_set *set) {
    const double least = 0.002; /* relative; lines are curved a little, floors are not quite flat */
    size_t num = 0;
    for (size_t c = 0; c < set->num_cameras; ++c) {
        const psfm_camera_model_info *info = psfm_camera_model_get(set->cameras[c].model);
        double sum = 0.0, weight = 0.0, now = set->cameras[c].params[info->focal[0]];
        for (uint32_t v = 0; is_open(set, c) && v < evidence->num_views; ++v) {
            const psfm_court_pose *pose = &evidence->poses[v];
            if (set->views[v].camera_idx != c || !psfm_court_accepts(evidence, v))
                continue;
            double sigma = fmax(pose->sigma_focal, least), w = 1.0 / (sigma * sigma);
            sum += w * log(pose->camera.params[info->focal[0]] / now);
            weight += w;
        }
        if (!(weight > 0.0))
            continue;
        double factor = exp(sum / weight);
        set->cameras[c].params[info->focal[0]] *= factor;
        if (info->focal[1] != info->focal[0])
            set->cameras[c].params[info->focal[1]] *= factor;
        take_distortion(evidence, c, set);
        set->origins[c].source = PSFM_FOCAL_LINES;
        set->origins[c].sigma = fmax(sqrt(1.0 / weight), least);
        ++num;
    }
    return num;
}
